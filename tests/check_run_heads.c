/* heads.tsv against the same numbers worked out from weights and tokens. */
#include "test.h"

#include <math.h>

#include "attn/embedding.h"
#include "attn/memory.h"
#include "attn/recording.h"
#include "run_trial.h"

enum { MOST_T = 6, MATRICES = 3 };
static const double NEAR = TOLERANCE(1e-9, 2e-3);

static const struct {
    int heads, kv_heads;
    bool tied;
    const char *kind;
} cases[] = {{1, 0, false, "dot"},      {2, 0, false, "dot"},
             {4, 2, false, "dot"},      {2, 0, true, "dot"},
             {2, 0, false, "bilinear"}, {2, 1, false, "bilinear"},
             {2, 0, false, "additive"}, {2, 0, false, "linear-identity"}};

static struct attn_settings settings_of(int i)
{
    struct attn_settings s = run_trial_settings();

    s.model.heads = cases[i].heads;
    s.model.kv_heads = cases[i].kv_heads;
    s.model.tied = cases[i].tied;
    s.model.kind = cases[i].kind;
    s.model.width = 8;
    s.clip = 0.01; /* gradients are told as they were before */
    s.lr = 0.1;
    return s;
}

static int head_width(const struct attn_trainer *t)
{
    return t->settings.model.width / t->settings.model.heads;
}

static const struct attn_parameter *parameter(const struct attn_trainer *t, const char *name)
{
    for (int i = 0; i < t->model.parameters; i++)
        if (strcmp(t->model.parameter[i].name, name) == 0) return &t->model.parameter[i];
    return NULL;
}

/* Element (c, d) of one head's columns in W_Q, W_K or W_V, of x: weights or gradients. */
static double element(const struct attn_trainer *t, const attn_real *x, int which, int head, int c,
                      int d)
{
    static const char *const names[MATRICES] = {"layer0.wq", "layer0.wk", "layer0.wv"};
    const struct attn_model_settings *s = &t->settings.model;
    const struct attn_parameter *p = parameter(t, names[s->tied && which == 1 ? 0 : which]);
    const int kv = s->kv_heads ? s->kv_heads : s->heads;
    const int own = which ? head / (s->heads / kv) : head;

    return (double)x[p->offset + (size_t)c * p->shape[1] + (size_t)(own * head_width(t) + d)];
}

static double norm(const struct attn_trainer *t, const attn_real *x, const attn_real *minus,
                   int which, int head)
{
    double squares = 0;

    for (int c = 0; c < t->settings.model.width; c++)
        for (int d = 0; d < head_width(t); d++) {
            const double a = element(t, x, which, head, c, d);
            const double b = minus ? element(t, minus, which, head, c, d) : 0;
            squares += (a - b) * (a - b);
        }
    return sqrt(squares);
}

/* W_Q M W_K^T (C, C). */
static void product(double *a, const struct attn_trainer *t, int head)
{
    const int C = t->settings.model.width, D = head_width(t);
    const struct attn_parameter *kind = parameter(t, "layer0.kind");
    const attn_real *w = t->model.w;

    for (int i = 0; i < C; i++)
        for (int j = 0; j < C; j++) {
            a[i * C + j] = 0;
            for (int d = 0; d < D; d++)
                for (int e = 0; e < D; e++) {
                    const double m =
                        kind ? (double)w[kind->offset + (size_t)((head * D + d) * D + e)] : d == e;
                    a[i * C + j] += element(t, w, 0, head, i, d) * m * element(t, w, 1, head, j, e);
                }
        }
}

/* The largest singular value by the power method on A^T A. */
static double largest(const double *a, int n)
{
    double x[16], y[16], z[16], length = 0;

    for (int i = 0; i < n; i++) x[i] = cos(2.3 * i) + 0.2;
    for (int round = 0; round < 5000; round++) {
        length = 0;
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
        }
        for (int j = 0; j < n; j++) {
            z[j] = 0;
            for (int i = 0; i < n; i++) z[j] += a[i * n + j] * y[i];
            length += z[j] * z[j];
        }
        length = sqrt(length);
        for (int j = 0; j < n; j++) x[j] = z[j] / length;
    }
    return sqrt(length);
}

struct table {
    struct attn_recording r;
    double *x; /* one column, of one head */
};

static void expect_cell(const struct table *t, const char *name, int head, int row, double want)
{
    ck_assert_msg(attn_recording_head(t->x, &t->r, name, 0, head), "no column %s", name);
    if (isnan(want) ? !isnan(t->x[row]) : !is_near(t->x[row], want, NEAR * 1e-3, NEAR))
        ck_abort_msg("%s, head %d, row %d: %.17g, expected %.17g", name, head, row, t->x[row],
                     want);
}

static void expect_spectrum(const struct table *table, const struct attn_trainer *t, int head,
                            int row)
{
    const int C = t->settings.model.width;
    const bool has = strcmp(t->settings.model.kind, "additive") != 0;
    double a[16 * 16], squares = 0;

    product(a, t, head);
    for (int i = 0; i < C * C; i++) squares += a[i] * a[i];
    const double most = largest(a, C);
    expect_cell(table, "sigma_max", head, row, has ? most : (double)NAN);
    expect_cell(table, "stable_rank", head, row, has ? squares / (most * most) : (double)NAN);
    ck_assert(attn_recording_head(table->x, &table->r, "effective_rank", 0, head));
    ck_assert(has ? table->x[row] >= 1 && table->x[row] <= head_width(t) + 1e-6
                  : isnan(table->x[row]));
}

/* The gradient of the step to come, before anything is done to it. */
static void fill_gradient(struct attn_trainer *t)
{
    attn_dataset_fill(&t->data, &t->batch, (uint64_t)t->settings.seed, ATTN_STREAM_TRAIN,
                      (uint32_t)t->step + 1);
    const struct attn_loss loss = attn_model_forward(&t->model, &t->batch);
    attn_model_zero(&t->model);
    attn_model_backward(&t->model, &t->batch, (attn_real)(1 / (double)loss.count));
}

START_TEST(weights_are_measured)
{
    static const char *const names[MATRICES][3] = {{"wq_norm", "wq_grad_norm", "wq_update"},
                                                   {"wk_norm", "wk_grad_norm", "wk_update"},
                                                   {"wv_norm", "wv_grad_norm", "wv_update"}};
    const struct attn_settings s = settings_of(_i);
    char *where = run_trial_directory("run");
    struct table table = {.x = malloc(100 * sizeof(double))};
    struct attn_trainer t;
    struct attn_error e;
    attn_real *was;
    double gradient[8][MATRICES];

    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&table.r, where, &e));
    ck_assert_int_eq(table.r.heads.rows, 6 * s.model.heads);
    run_trial_trainer(&t, &s);
    was = malloc(t.model.count * sizeof *was);
    for (int row = 0; t.step < s.steps;) {
        memcpy(was, t.model.w, t.model.count * sizeof *was);
        fill_gradient(&t);
        for (int h = 0; h < s.model.heads; h++)
            for (int k = 0; k < MATRICES; k++) gradient[h][k] = norm(&t, t.model.g, NULL, k, h);
        ck_assert(attn_trainer_step(&t));
        if (!attn_trainer_logs(&t, t.step)) continue;
        for (int h = 0; h < s.model.heads; h++) {
            expect_cell(&table, "step", h, row, (double)t.step);
            for (int k = 0; k < MATRICES; k++) {
                expect_cell(&table, names[k][0], h, row, norm(&t, t.model.w, NULL, k, h));
                expect_cell(&table, names[k][1], h, row, gradient[h][k]);
                expect_cell(&table, names[k][2], h, row,
                            norm(&t, t.model.w, was, k, h) / norm(&t, was, NULL, k, h));
            }
            expect_spectrum(&table, &t, h, row);
        }
        row++;
    }
    free(was);
    free(table.x);
    attn_trainer_close(&t);
    attn_recording_free(&table.r);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* q_i . k_j / sqrt(D) for one sequence, from tokens and weights. */
static void scores(double s[MOST_T][MOST_T], const struct attn_trainer *t, const int *tokens, int T,
                   int head)
{
    const struct attn_parameter *table = parameter(t, "embedding");
    const int C = t->settings.model.width, fields = t->data.fields;
    double x[MOST_T][16] = {{0}}, a[16 * 16];

    for (int i = 0; i < T; i++)
        for (int f = 0; f < fields; f++)
            for (int c = 0; c < C && tokens[i * fields + f] != ATTN_NO_ID; c++)
                x[i][c] +=
                    (double)t->model.w[table->offset + (size_t)(tokens[i * fields + f] * C + c)];
    product(a, t, head);
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
            s[i][j] = 0;
            for (int c = 0; c < C; c++)
                for (int d = 0; d < C; d++) s[i][j] += x[i][c] * a[c * C + d] * x[j][d];
            s[i][j] /= sqrt(head_width(t));
        }
}

struct sums {
    double entropy, keys, most, mass, variance, largest;
    int rows;
};

static void add_row(struct sums *x, const double *s, const unsigned char *right, int keys)
{
    double z = 0, entropy = 0, most = 0, mean = 0, variance = 0, mass = 0;

    for (int j = 0; j < keys; j++) z += exp(s[j]);
    for (int j = 0; j < keys; j++) {
        const double p = exp(s[j]) / z;
        entropy -= p * log(p);
        most = fmax(most, p);
        mean += s[j] / keys;
        mass += right[j] ? p : 0;
        x->largest = fmax(x->largest, fabs(s[j]));
    }
    for (int j = 0; j < keys; j++) variance += (s[j] - mean) * (s[j] - mean) / keys;
    x->entropy += entropy;
    x->keys += exp(entropy);
    x->most += most;
    x->mass += mass;
    x->variance += variance;
    x->rows++;
}

START_TEST(maps_are_measured_on_the_evaluation_set)
{
    const struct attn_settings s = settings_of(_i);
    char *where = run_trial_directory("run");
    struct table table = {.x = malloc(100 * sizeof(double))};
    struct attn_trainer t;
    struct attn_error e;
    double score[MOST_T][MOST_T];

    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&table.r, where, &e));
    run_trial_trainer(&t, &s);
    while (t.step < s.steps) ck_assert(attn_trainer_step(&t));
    const struct attn_batch *b = &t.evaluation;
    for (int h = 0; h < s.model.heads; h++) {
        struct sums x = {0};
        for (int i = 0; i < b->B; i++) {
            scores(score, &t, b->tokens + i * b->T * b->fields, b->T, h);
            for (int q = 0; q < b->T; q++)
                if (b->targets[i * b->T + q] != ATTN_NO_ID)
                    add_row(&x, score[q], b->right + (i * b->T + q) * b->T, b->lengths[i]);
        }
        ck_assert_int_eq(x.rows, 6 * 3);
        expect_cell(&table, "entropy", h, 5, x.entropy / x.rows);
        expect_cell(&table, "normalized_entropy", h, 5, x.entropy / x.rows / log(3));
        expect_cell(&table, "effective_keys", h, 5, x.keys / x.rows);
        expect_cell(&table, "max_weight", h, 5, x.most / x.rows);
        expect_cell(&table, "target_mass", h, 5, x.mass / x.rows);
        expect_cell(&table, "score_variance", h, 5, x.variance / x.rows);
        expect_cell(&table, "score_max", h, 5, x.largest);
    }
    free(table.x);
    attn_trainer_close(&t);
    attn_recording_free(&table.r);
}
END_TEST

/* metrics.tsv tells the best head's mass, and the entropy over all of them. */
START_TEST(the_two_tables_agree)
{
    struct attn_settings s = settings_of(2);
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;

    s.model.layers = 2;
    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    const double *mass = attn_columns_find(&r.metrics, "target_mass");
    const double *entropy = attn_columns_find(&r.metrics, "entropy");
    const double *masses = attn_columns_find(&r.heads, "target_mass");
    const double *entropies = attn_columns_find(&r.heads, "normalized_entropy");
    ck_assert(mass && entropy && masses && entropies);
    ck_assert_int_eq(r.heads.rows, r.metrics.rows * 8);
    for (int i = 0; i < r.metrics.rows; i++) {
        double best = 0, sum = 0;
        for (int k = 0; k < 8; k++) {
            best = fmax(best, masses[8 * i + k]);
            sum += entropies[8 * i + k];
        }
        ck_assert_double_eq(mass[i], best);
        ck_assert(is_near(entropy[i], sum / 8, 0, TOLERANCE(1e-14, 1e-7)));
    }
    attn_recording_free(&r);
}
END_TEST

/* A kind whose maps are no weights: what a mass or an entropy would say is not told, in the
 * tables and from the maps alike. */
START_TEST(coefficients_are_told_as_such)
{
    static const char *const none[] = {"entropy",    "normalized_entropy", "effective_keys",
                                       "max_weight", "target_mass",        "jacobian_norm"};
    const struct attn_settings s = settings_of(7);
    char *where = run_trial_directory("run");
    struct table table = {.x = malloc(100 * sizeof(double))};
    struct attn_error e;

    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&table.r, where, &e));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_cell(&table, none[i], 1, 5, (double)NAN);
    ck_assert(attn_recording_head(table.x, &table.r, "progress", 0, 1));
    ck_assert(table.x[5] > 0 && table.x[5] < 1);
    const struct attn_maps maps = attn_recording_maps(&table.r, table.r.frames - 1, 0);
    ck_assert(maps.coefficients);
    ck_assert(isnan(attn_head_metrics(&maps, 1).entropy));
    ck_assert(isfinite(attn_head_metrics(&maps, 1).progress));
    free(table.x);
    attn_recording_free(&table.r);
}
END_TEST

/* Without a known target, and where a head is too large to take apart at every row. */
START_TEST(what_cannot_be_told_is_nan)
{
    struct attn_settings s = settings_of(0);
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;

    s.model.width = 257;
    s.batch = s.eval_size = s.probes = 1;
    s.steps = 1;
    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    ck_assert(isnan(attn_columns_find(&r.heads, "sigma_max")[0]));
    ck_assert(isnan(attn_columns_find(&r.heads, "effective_rank")[0]));
    ck_assert(isfinite(attn_columns_find(&r.heads, "wq_norm")[0]));
    attn_recording_free(&r);
    attn_settings_default(&s, attn_task_find("histogram"));
    s.batch = s.eval_size = s.probes = 2;
    s.steps = 1;
    where = run_trial_directory("histogram");
    run_trial_must_train(where, &s, s.steps);
    ck_assert_ptr_null(attn_recording_read(&r, where, &e));
    ck_assert(isfinite(attn_columns_find(&r.heads, "entropy")[0]));
    attn_recording_free(&r);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "weights", weights_are_measured, sizeof cases / sizeof *cases);
    add_loop_test(suite, "maps", maps_are_measured_on_the_evaluation_set, 6);
    add_test(suite, "tables agree", the_two_tables_agree);
    add_test(suite, "coefficients", coefficients_are_told_as_such);
    add_test(suite, "nan", what_cannot_be_told_is_nan);
}
