/* Models as a whole: sizes, gradients, and what must not depend on what. */
#include "test.h"

#include <math.h>

#include "attn/differences.h"
#include "attn/embedding.h"
#include "attn/model.h"
#include "attn/rng.h"

enum { B = 2, T = 5, VOCABULARY = 7, OUTPUTS = 4, FEATURES = 3 };

static const struct attn_model_settings plain = {.vocabulary = VOCABULARY,
                                                 .fields = 2,
                                                 .outputs = OUTPUTS,
                                                 .layers = 1,
                                                 .width = 6,
                                                 .heads = 2,
                                                 .kind = "dot",
                                                 .position = "none",
                                                 .activation = "gelu",
                                                 .output = true,
                                                 .init = 1};

static struct attn_model_settings given(const char *kind, bool regression)
{
    struct attn_model_settings s = plain;

    s.given = true;
    s.vocabulary = s.output = 0;
    s.heads = 1;
    s.features = 2 * s.width + OUTPUTS;
    s.kind = kind;
    s.regression = s.causal = regression;
    return s;
}

enum { MADE = 10 };

/* One settings struct for each thing a model can have. */
static struct attn_model_settings variant(int i)
{
    struct attn_model_settings s = plain;

    switch (i) {
    case 1:
        s.residual = s.norm = s.bias = true;
        s.mlp = 5;
        break;
    case 2:
        s.layers = 2;
        s.residual = true;
        s.position = "learned";
        break;
    case 3:
        s.position = "learned";
        s.position_in_qk = true;
        s.causal = true;
        break;
    case 4:
        s.tied = true;
        s.bias = true;
        s.kind = "bilinear";
        s.qk_norm = true;
        break;
    case 5:
        s.kv_heads = 1;
        s.head_width = 4;
        s.position = "rope";
        s.qk_norm = true;
        break;
    case 6:
        s.output = false;
        s.position = "sinusoidal";
        s.kind = "additive";
        break;
    case 7:
        s.pool = true;
        s.norm = true;
        s.position = "alibi";
        break;
    case 8:
        s.vocabulary = 0;
        s.features = FEATURES;
        s.regression = true;
        s.softcap = 3;
        break;
    case 9:
        s.regression = s.pool = true;
        s.scale = 0.5;
        s.position = "rope-half";
        s.head_width = 2;
        break;
    default:
        break;
    }
    return s;
}

/* What a layer would have says nothing, whatever it is. */
static struct attn_model_settings table(void)
{
    struct attn_model_settings s = variant(1);

    s.layers = 0;
    s.fields = 1;
    return s;
}

static struct attn_model_settings case_at(int i)
{
    if (i == MADE) return given("gauss", false);
    if (i == MADE + 1) return given("bilinear", true);
    return i > MADE ? table() : variant(i);
}

enum { VARIANTS = MADE + 3 };

static void *batch_block;

static struct attn_batch make_batch(const struct attn_model_settings *s, int sequences, int length)
{
    const int outputs = s->regression ? s->outputs : 0;
    struct attn_arena arena = {0};
    struct attn_rng rng = attn_rng_at(3, ATTN_STREAM_TEST, 0, 0);

    attn_batch_take(&arena, sequences, length, s->vocabulary ? s->fields : 0,
                    s->vocabulary ? 0 : s->features, outputs);
    batch_block = attn_alloc(arena.used, 1);
    arena = (struct attn_arena){.base = batch_block};
    struct attn_batch b = attn_batch_take(&arena, sequences, length, s->vocabulary ? s->fields : 0,
                                          s->vocabulary ? 0 : s->features, outputs);
    const int rows = sequences * length;

    for (int i = 0; b.tokens && i < rows * b.fields; i++)
        b.tokens[i] = (int)attn_rng_below(&rng, VOCABULARY + 1) - 1;
    if (b.inputs) attn_rng_fill_normal(&rng, b.inputs, (size_t)(rows * b.features), 1);
    for (int i = 0; b.targets && i < rows; i++)
        b.targets[i] = i % 4 == 3 ? ATTN_NO_ID : (int)attn_rng_below(&rng, OUTPUTS);
    if (b.values) attn_rng_fill_normal(&rng, b.values, (size_t)(rows * outputs), 1);
    for (int i = 0; b.counted && i < rows; i++) b.counted[i] = i % 4 != 3;
    for (int i = 0; i < sequences; i++) b.lengths[i] = i ? length - 2 : length;
    return b;
}

static void open_model(struct attn_model *m, const struct attn_model_settings *s, int sequences,
                       int length)
{
    struct attn_error e;

    ck_assert_msg(!attn_model_new(m, s, NULL, sequences, length, &e), "%s", e.text);
    attn_model_start(m, 5);
}

struct subject {
    struct attn_model *m;
    const struct attn_batch *b;
};

static double loss_sum(void *context)
{
    const struct subject *s = context;

    return attn_model_forward(s->m, s->b).sum;
}

/* Every weight in the double build: the program gradcheck does more than this,
 * but a suite must stand alone. */
START_TEST(gradients_agree_with_differences)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T);
    struct attn_model m;
    double off = 0, norm = 0;

    open_model(&m, &s, B, T);
    attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    struct subject subject = {&m, &b};
    for (size_t i = 0; i < m.count; i++) {
        const double d = attn_differentiate(loss_sum, &subject, &m.w[i]).value;
        off += (d - (double)m.g[i]) * (d - (double)m.g[i]);
        norm += d * d;
    }
    ck_assert_double_gt(norm, 1e-6);
    ck_assert_msg(sqrt(off / norm) < TOLERANCE(1e-9, 0.2), "relative error %g", sqrt(off / norm));
    attn_model_free(&m);
    attn_free(batch_block);
}
END_TEST

START_TEST(measured_size_is_the_size_taken)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_arena measured = {0}, placed = {0};
    struct attn_model m;

    attn_model_place(&m, &measured, &s, NULL, B, T);
    placed.base = attn_alloc(measured.used, 1);
    ck_assert_ptr_nonnull(placed.base);
    attn_model_place(&m, &placed, &s, NULL, B, T);
    ck_assert_uint_eq(measured.used, placed.used);
    size_t count = 0;
    for (int i = 0; i < m.parameters; i++) {
        ck_assert_uint_eq(m.parameter[i].offset, count);
        count += m.parameter[i].count;
        for (int j = 0; j < i; j++) ck_assert_str_ne(m.parameter[i].name, m.parameter[j].name);
    }
    ck_assert_uint_eq(count, m.count);
    attn_free(placed.base);
}
END_TEST

START_TEST(backward_adds)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T);
    struct attn_model m;

    open_model(&m, &s, B, T);
    attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    attn_real *once = malloc(m.count * sizeof *once);
    double *twice = malloc(m.count * sizeof *twice);
    memcpy(once, m.g, m.count * sizeof *once);
    for (size_t i = 0; i < m.count; i++) twice[i] = 2 * (double)m.g[i];
    attn_model_backward(&m, &b, 1);
    expect_near(m.g, twice, m.count, TOLERANCE(1e-15, 1e-6), TOLERANCE(1e-13, 1e-4), "gradient");
    free(twice);
    attn_model_zero(&m);
    attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    ck_assert_int_eq(memcmp(once, m.g, m.count * sizeof *once), 0);
    free(once);
    attn_model_free(&m);
    attn_free(batch_block);
}
END_TEST

START_TEST(a_sequence_does_not_depend_on_its_batch)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T);
    const struct attn_batch second = attn_batch_part(&b, 1, 1);
    struct attn_model large, small;
    const size_t reals = (size_t)(s.pool ? 1 : T) * OUTPUTS;

    open_model(&large, &s, B + 3, T);
    open_model(&small, &s, 1, T);
    attn_model_forward(&large, &b);
    attn_model_forward(&small, &second);
    ck_assert_int_eq(memcmp(attn_model_output(&large) + reals, attn_model_output(&small),
                            reals * sizeof(attn_real)),
                     0);
    attn_model_free(&large);
    attn_model_free(&small);
    attn_free(batch_block);
}
END_TEST

/* A model made for longer sequences gives shorter ones the same bits. */
START_TEST(a_sequence_does_not_depend_on_the_longest)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T - 1);
    struct attn_model large, small;

    open_model(&large, &s, B, T + 2);
    open_model(&small, &s, B, T - 1);
    attn_model_forward(&large, &b);
    attn_model_forward(&small, &b);
    ck_assert_int_eq(memcmp(attn_model_output(&large), attn_model_output(&small),
                            (size_t)(s.pool ? B : B * (T - 1)) * OUTPUTS * sizeof(attn_real)),
                     0);
    attn_model_free(&large);
    attn_model_free(&small);
    attn_free(batch_block);
}
END_TEST

/* Sums and counts of parts add up to those of the whole: no mean of means. */
START_TEST(parts_of_a_batch_add_up)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T);
    const struct attn_batch part[] = {attn_batch_part(&b, 0, 1), attn_batch_part(&b, 1, 1)};
    struct attn_model m;
    struct attn_loss sum = {0};

    open_model(&m, &s, B, T);
    const struct attn_loss whole = attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    double *want = malloc(m.count * sizeof *want);
    for (size_t i = 0; i < m.count; i++) want[i] = (double)m.g[i];
    attn_model_zero(&m);
    for (int i = 0; i < 2; i++) {
        const struct attn_loss l = attn_model_forward(&m, &part[i]);
        attn_model_backward(&m, &part[i], 1);
        sum.sum += l.sum;
        sum.count += l.count;
    }
    ck_assert_int_eq(sum.count, whole.count);
    ck_assert(is_near(sum.sum, whole.sum, 0, TOLERANCE(1e-13, 1e-5)));
    expect_near(m.g, want, m.count, TOLERANCE(1e-14, 1e-5), TOLERANCE(1e-12, 1e-4), "gradient");
    free(want);
    attn_model_free(&m);
    attn_free(batch_block);
}
END_TEST

START_TEST(nothing_is_allocated_after_the_build)
{
    const struct attn_model_settings s = case_at(_i);
    struct attn_batch b = make_batch(&s, B, T);
    struct attn_model m;

    open_model(&m, &s, B, T);
    const long live = attn_alloc_live();
    attn_alloc_fail_from(1);
    attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    attn_alloc_fail_from(0);
    ck_assert_int_eq(attn_alloc_live(), live);
    attn_model_free(&m);
    attn_free(batch_block);
}
END_TEST

START_TEST(no_memory_is_told)
{
    struct attn_model m;
    struct attn_error e;
    const long live = attn_alloc_live();

    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_model_new(&m, &plain, NULL, B, T, &e));
    attn_alloc_fail_from(0);
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(attn_model_new(&m, &plain, NULL, 1 << 30, 1 << 30, &e));
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_int_eq(attn_alloc_live(), live);
}
END_TEST

/* A batch in which nothing counts: loss 0, gradients 0, weights as they were. */
START_TEST(no_target_changes_nothing)
{
    const struct attn_model_settings s = variant(1);
    struct attn_batch b = make_batch(&s, B, T);
    struct attn_model m;

    for (int i = 0; i < B * T; i++) b.targets[i] = ATTN_NO_ID;
    open_model(&m, &s, B, T);
    const struct attn_loss l = attn_model_forward(&m, &b);
    attn_model_backward(&m, &b, 1);
    ck_assert_int_eq(l.count, 0);
    ck_assert(attn_loss_mean(l) == 0);
    for (size_t i = 0; i < m.count; i++) ck_assert(m.g[i] == 0);
    attn_model_free(&m);
    attn_free(batch_block);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "gradients", gradients_agree_with_differences, VARIANTS);
    add_loop_test(suite, "measured size", measured_size_is_the_size_taken, VARIANTS);
    add_loop_test(suite, "backward adds", backward_adds, VARIANTS);
    add_loop_test(suite, "sequence and batch", a_sequence_does_not_depend_on_its_batch, VARIANTS);
    add_loop_test(suite, "longest sequence", a_sequence_does_not_depend_on_the_longest, VARIANTS);
    add_loop_test(suite, "parts add up", parts_of_a_batch_add_up, VARIANTS);
    add_loop_test(suite, "no allocation", nothing_is_allocated_after_the_build, VARIANTS);
    add_test(suite, "no memory", no_memory_is_told);
    add_test(suite, "no target", no_target_changes_nothing);
}
