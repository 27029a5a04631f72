#include "attn/trainer.h"

#include <math.h>
#include <string.h>

#include "attn/clip.h"
#include "attn/embedding.h"
#include "attn/file.h"
#include "attn/position.h"
#include "trainer_answers.h"
#include "trainer_heads.h"
#include "trainer_sinks.h"
#include "weights.h"

enum { LARGEST_FILE = 1 << 30 };

/* Reads a file whose contents decide the numbers. Fills in its digest; where that is known
 * already, it must be the same. */
static const char *read_file(char **bytes, size_t *size, char known[ATTN_SHA256_HEX],
                             const char *path, struct attn_error *e)
{
    char found[ATTN_SHA256_HEX];
    const char *wrong = attn_file_read(bytes, size, path, LARGEST_FILE, e);

    if (wrong) return wrong;
    attn_sha256_of(found, *bytes, *size);
    if (known[0] && strcmp(known, found)) {
        attn_free(*bytes);
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.350s: has changed: SHA-256 %.12s..., the settings say %.12s...", path,
                         found, known);
    }
    memcpy(known, found, sizeof found);
    return NULL;
}

static const char *check_data(struct attn_settings *s, const char *path, struct attn_error *e)
{
    char *bytes;
    size_t size;
    const char *wrong = read_file(&bytes, &size, s->data_sha256, path, e);

    if (!wrong) attn_free(bytes);
    return wrong;
}

static const char *read_weights(struct attn_trainer *t, struct attn_error *e)
{
    const char *path = t->settings.weights;
    char *bytes;
    size_t size;
    const char *wrong = read_file(&bytes, &size, t->settings.weights_sha256, path, e);

    if (wrong) return wrong;
    wrong = attn_weights_take(&t->model, bytes, size, path, e);
    attn_free(bytes);
    return wrong;
}

static const char *open_task(struct attn_trainer *t, const char *data_path, struct attn_error *e)
{
    struct attn_settings *s = &t->settings;
    const char *wrong = NULL;

    s->options.data = NULL;
    s->options.width = s->model.width;
    if (s->data[0]) {
        s->options.data = data_path ? data_path : s->data;
        wrong = check_data(s, s->options.data, e);
    }
    if (wrong) return wrong;
    wrong = attn_dataset_open(&t->data, attn_task_find(s->task), &s->options, e);
    s->options.data = NULL;
    if (wrong) return wrong;
    s->model.vocabulary = t->data.vocabulary;
    s->model.fields = t->data.fields;
    s->model.features = t->data.features;
    s->model.given = t->data.given;
    s->model.outputs = t->data.outputs;
    s->model.regression = t->data.regression;
    return NULL;
}

/* Evaluation takes so many sequences at once that they have no more weights than a step has. */
static int longer_batch(const struct attn_trainer *t)
{
    const double T = t->data.T, eval_T = t->data.eval_T;
    const double most = t->settings.batch * (T * T) / (eval_T * eval_T);

    return most < 1 ? 1 : most < t->settings.eval_size ? (int)most : t->settings.eval_size;
}

/* Everything in one block: measured first, then placed. */
static void place(struct attn_trainer *t, struct attn_arena *arena, struct attn_threads *threads)
{
    const struct attn_settings *s = &t->settings;
    const int T = t->data.T, eval_T = t->data.eval_T;

    attn_model_place(&t->model, arena, &s->model, threads, s->batch, T);
    if (eval_T != T)
        attn_model_place(&t->longer, arena, &s->model, threads, longer_batch(t), eval_T);
    for (int i = 0; i < t->optimizer->moments; i++)
        t->moment[i] = attn_arena_reals(arena, t->model.count);
    t->batch = attn_dataset_batch(&t->data, arena, s->batch, ATTN_STREAM_TRAIN);
    t->evaluation = attn_dataset_batch(&t->data, arena, s->eval_size, ATTN_STREAM_EVAL);
    t->probe = attn_dataset_batch(&t->data, arena, s->probes, ATTN_STREAM_PROBE);
    attn_heads_place(t, arena);
}

/* Asked of attention itself: a kind without a softmax has no temperature. */
static const char *check_adaptive(const struct attn_settings *s, struct attn_error *e)
{
    const struct attn_attention a = {.n = {.H = 1, .Hkv = 1, .D = 1, .Dv = 1},
                                     .kind = attn_kind_find(s->model.kind),
                                     .adaptive = s->adaptive};

    return s->adaptive ? attn_attention_check(&a, e) : NULL;
}

static const char *build(struct attn_trainer *t, struct attn_threads *threads, struct attn_error *e)
{
    struct attn_arena arena = {0};
    const char *wrong = attn_model_check(&t->settings.model, e);

    if (!wrong) wrong = check_adaptive(&t->settings, e);
    if (wrong) return wrong;
    if (t->data.causal && !t->settings.model.causal)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "task %s: expected --causal yes: it predicts the next token",
                         t->settings.task);
    if (t->settings.model.layers && t->data.eval_T != t->data.T &&
        attn_position_find(t->settings.model.position)->learned)
        return attn_fail(e, ATTN_BAD_USAGE,
                         "--position %s: has learned nothing about places beyond --length",
                         t->settings.model.position);
    place(t, &arena, threads);
    t->block = attn_alloc(arena.used, 1);
    if (!t->block) return attn_fail_memory(e, "model and batches");
    arena = (struct attn_arena){.base = t->block};
    place(t, &arena, threads);
    return NULL;
}

const char *attn_trainer_open(struct attn_trainer *t, const struct attn_settings *settings,
                              const char *data_path, struct attn_threads *threads,
                              struct attn_error *e)
{
    const uint64_t seed = (uint64_t)settings->seed;
    const double none = (double)NAN;
    const char *wrong;

    *t = (struct attn_trainer){.settings = *settings, .loss = none, .grad_norm = none, .lr = none};
    t->optimizer = attn_optimizer_find(settings->optimizer);
    t->schedule = attn_schedule_find(settings->schedule);
    wrong = open_task(t, data_path, e);
    if (!wrong) wrong = build(t, threads, e);
    if (!wrong) attn_model_start(&t->model, seed);
    if (!wrong && settings->weights[0]) wrong = read_weights(t, e);
    if (wrong) {
        attn_trainer_close(t);
        return wrong;
    }
    attn_heads_start(t);
    attn_dataset_fill(&t->data, &t->evaluation, seed, ATTN_STREAM_EVAL, 0);
    attn_dataset_fill(&t->data, &t->probe, seed, ATTN_STREAM_PROBE, 0);
    return NULL;
}

void attn_trainer_close(struct attn_trainer *t)
{
    if (t->data.task) attn_dataset_close(&t->data);
    attn_free(t->block);
    *t = (struct attn_trainer){0};
}

bool attn_trainer_logs(const struct attn_trainer *t, long step)
{
    return step == 1 || step == t->settings.steps || step % t->settings.log_every == 0;
}

bool attn_trainer_step(struct attn_trainer *t)
{
    const struct attn_settings *s = &t->settings;
    struct attn_model *m = &t->model;
    const long step = t->step + 1;
    const bool logs = attn_trainer_logs(t, step);
    struct attn_loss loss;

    attn_dataset_fill(&t->data, &t->batch, (uint64_t)s->seed, ATTN_STREAM_TRAIN, (uint32_t)step);
    m->no_weights = true;
    m->adaptive = false;
    loss = attn_model_forward(m, &t->batch);
    attn_model_zero(m);
    attn_model_backward(m, &t->batch, loss.count ? (attn_real)(1 / (double)loss.count) : 0);
    t->loss = attn_loss_mean(loss);
    if (logs) attn_heads_before_step(t);
    t->grad_norm = attn_clip(m->g, m->count, s->clip);
    t->lr = s->lr * attn_schedule_share(t->schedule, step, s->warmup, s->steps);
    if (!isfinite(t->loss) || !isfinite(t->grad_norm)) return false;
    t->optimizer->step(m->w, m->g, t->moment, m->count, t->lr, step, &s->optimize);
    if (logs) attn_heads_after_step(t);
    t->step = step;
    return true;
}

/* The sequences first .. of a set that fit the model at once. */
static struct attn_batch chunk(const struct attn_model *m, const struct attn_batch *set, int first)
{
    const int left = set->B - first;

    return attn_batch_part(set, first, left < m->B ? left : m->B);
}

/* What is not training: weights are looked at, and adapt where the settings say so. */
static void set_evaluating(const struct attn_trainer *t, struct attn_model *m)
{
    m->no_weights = false;
    m->adaptive = t->settings.adaptive;
}

/* The model that takes the evaluation set, with the weights of now. */
static struct attn_model *evaluator(struct attn_trainer *t)
{
    struct attn_model *const m = t->longer.count ? &t->longer : &t->model;

    if (m != &t->model) memcpy(m->w, t->model.w, m->count * sizeof *m->w);
    set_evaluating(t, m);
    return m;
}

struct attn_scores attn_trainer_evaluate(struct attn_trainer *t)
{
    const size_t heads = (size_t)t->settings.model.layers * (size_t)t->settings.model.heads;
    struct attn_model *const m = evaluator(t);
    struct attn_scores scores = {0};
    struct attn_loss loss = {0};
    struct attn_answers answers = {0};
    const int sequences = attn_heads_measured(t);

    memset(t->maps, 0, heads * sizeof *t->maps);
    memset(t->sinks, 0, heads * sizeof *t->sinks);
    for (int first = 0; first < t->evaluation.B; first += m->B) {
        const struct attn_batch b = chunk(m, &t->evaluation, first);
        const struct attn_loss part = attn_model_forward(m, &b);
        loss.sum += part.sum;
        loss.count += part.count;
        attn_answers_add(&answers, m, &b, t->room->hidden);
        const int measured = sequences - first;
        if (measured > 0) {
            const struct attn_batch some = attn_batch_part(&b, 0, measured < b.B ? measured : b.B);
            attn_heads_add_maps(t, m, &some);
        }
    }
    scores.loss = attn_loss_mean(loss);
    attn_answers_score(&answers, &scores);
    attn_heads_score(t, &scores);
    return scores;
}

size_t attn_trainer_attention_count(const struct attn_trainer *t)
{
    const size_t T = (size_t)t->data.T;

    return (size_t)t->probe.B * (size_t)t->settings.model.layers * (size_t)t->settings.model.heads *
           T * T;
}

void attn_trainer_attention(struct attn_trainer *t, float *p)
{
    const int L = t->settings.model.layers, H = t->settings.model.heads;
    const size_t T = (size_t)t->data.T, maps = (size_t)H * T * T;

    set_evaluating(t, &t->model);
    for (int first = 0; first < t->probe.B; first += t->model.B) {
        const struct attn_batch b = chunk(&t->model, &t->probe, first);
        attn_model_forward(&t->model, &b);
        for (int i = 0; i < b.B; i++)
            for (int l = 0; l < L; l++) {
                const attn_real *from = attn_model_weights(&t->model, l) + (size_t)i * maps;
                for (size_t j = 0; j < maps; j++) *p++ = (float)from[j];
            }
    }
}

/* Inverse of the cumulative softmax of x / temperature at a uniform u. */
static int draw(const attn_real *x, int n, double temperature, double u)
{
    const double max = (double)x[attn_strongest(x, n)];
    double sum = 0, below = 0;

    for (int i = 0; i < n; i++) sum += exp(((double)x[i] - max) / temperature);
    for (int i = 0; i < n; i++) {
        below += exp(((double)x[i] - max) / temperature);
        if (u * sum < below) return i;
    }
    return attn_strongest(x, n);
}

/* The context is the batch's first sequence; it grows to T tokens, then moves on. */
void attn_trainer_sample(struct attn_trainer *t, int tokens, double temperature,
                         struct attn_text *out)
{
    struct attn_batch b = attn_batch_part(&t->batch, 0, 1);
    const int T = b.T, outputs = t->settings.model.outputs;
    char label[256]; /* longer words are cut */

    set_evaluating(t, &t->model);
    b.tokens[0] = t->evaluation.tokens[0];
    b.T = 1;
    for (int i = 0; i < tokens; i++) {
        struct attn_rng rng =
            attn_rng_at((uint64_t)t->settings.seed, ATTN_STREAM_SAMPLE, 0, (uint32_t)i);
        b.lengths[0] = b.T;
        for (int j = 0; j < b.T; j++) b.targets[j] = ATTN_NO_ID;
        attn_model_forward(&t->model, &b);
        const attn_real *last = attn_model_output(&t->model) + (size_t)(b.T - 1) * (size_t)outputs;
        const int next = draw(last, outputs, temperature, attn_rng_uniform(&rng));
        if (b.T == T)
            memmove(b.tokens, b.tokens + 1, (size_t)(T - 1) * sizeof *b.tokens);
        else
            b.T++;
        b.tokens[b.T - 1] = next;
        attn_dataset_label(&t->data, &next, label, sizeof label);
        attn_text_print(out, "%s", label);
    }
}
