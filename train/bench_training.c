#include "bench_training.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "attn/clip.h"
#include "attn/cross_entropy.h"
#include "attn/kernels.h"
#include "attn/threads.h"
#include "attn/trainer.h"
#include "bench_worker.h"

const char *const bench_training_part_names[BENCH_TRAINING_PARTS] = {
    [BENCH_BATCH] = "batch",          [BENCH_FORWARD] = "forward", [BENCH_LOSS] = "loss",
    [BENCH_BACKWARD] = "backward",    [BENCH_CLIP] = "clip",       [BENCH_OPTIMIZER] = "optimizer",
    [BENCH_EVALUATION] = "evaluation"};

static const char *open_trainer(struct attn_trainer *t, struct attn_threads *pool,
                                struct attn_error *e)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find("recall"));
    return attn_trainer_open(t, &s, NULL, pool, e);
}

static void fill_batch(struct attn_trainer *t, long step)
{
    attn_dataset_fill(&t->data, &t->batch, (uint64_t)t->settings.seed, ATTN_STREAM_TRAIN,
                      (uint32_t)step);
}

static char *put(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

const char *bench_training_work(struct bench_work *work, struct attn_error *e)
{
    struct attn_trainer t;

    *work = (struct bench_work){0};
    if (open_trainer(&t, NULL, e)) return e->text;
    fill_batch(&t, 1);
    const struct attn_batch *b = &t.batch;
    const size_t tokens = (size_t)b->B * (size_t)b->T, weights = t.model.count * sizeof *t.model.w;
    const size_t ids = tokens * (size_t)b->fields * sizeof *b->tokens;
    *work = (struct bench_work){.input_bytes = weights + ids + tokens * sizeof *b->targets +
                                               (size_t)b->B * sizeof *b->lengths,
                                .results = t.model.count,
                                .part = {{"gradient", t.model.count}}};
    work->input = attn_alloc(work->input_bytes, 1);
    if (work->input) {
        char *to = put(work->input, t.model.w, weights);
        to = put(to, b->tokens, ids);
        to = put(to, b->targets, tokens * sizeof *b->targets);
        put(to, b->lengths, (size_t)b->B * sizeof *b->lengths);
    }
    attn_trainer_close(&t);
    return work->input ? NULL : attn_fail_memory(e, "recall");
}

const char *bench_training_words(char words[BENCH_WORDS], struct attn_error *e)
{
    char lr[ATTN_NUMBER_SIZE], beta1[ATTN_NUMBER_SIZE], beta2[ATTN_NUMBER_SIZE];
    char epsilon[ATTN_NUMBER_SIZE];
    struct attn_trainer t;

    if (open_trainer(&t, NULL, e)) return e->text;
    const struct attn_settings *s = &t.settings;
    snprintf(words, BENCH_WORDS,
             "B=%d T=%d fields=%d vocabulary=%d C=%d H=%d outputs=%d lr=%s beta1=%s beta2=%s "
             "epsilon=%s",
             t.batch.B, t.batch.T, t.batch.fields, s->model.vocabulary, s->model.width,
             s->model.heads, s->model.outputs, attn_number_format(lr, s->lr, 9),
             attn_number_format(beta1, s->optimize.beta1, 9),
             attn_number_format(beta2, s->optimize.beta2, 9),
             attn_number_format(epsilon, s->optimize.epsilon, 9));
    attn_trainer_close(&t);
    return NULL;
}

/* Our own part: the trainer as `train` uses it. */
struct own {
    struct attn_trainer trainer;
    struct attn_threads *pool;
    attn_real *result;
};

static const char *open_own(void **state, const struct bench_plan *plan, char words[BENCH_WORDS],
                            struct attn_error *e)
{
    struct own *o = attn_alloc(1, sizeof *o);

    *state = o;
    if (!o) return attn_fail_memory(e, "recall");
    o->pool = plan->pool;
    strcpy(words, attn_kernels_name());
    return NULL;
}

static const char *begin(void *state, void *input, attn_real *result, struct attn_error *e)
{
    struct own *o = state;

    (void)input; /* it draws the same by itself */
    o->result = result;
    return open_trainer(&o->trainer, o->pool, e);
}

static void step(void *state, double seconds[2])
{
    struct own *o = state;
    const double start = bench_now();

    attn_trainer_step(&o->trainer);
    seconds[0] = bench_now() - start;
    seconds[1] = 0;
}

static void finish(void *state)
{
    struct own *o = state;

    memcpy(o->result, o->trainer.model.g, o->trainer.model.count * sizeof *o->result);
}

static void close_own(void *state)
{
    struct own *o = state;

    if (o->result) attn_trainer_close(&o->trainer);
    attn_free(o);
}

const struct bench_peer bench_own_training = {.name = "attn",
                                              .summary = "this library",
                                              .open = open_own,
                                              .begin = begin,
                                              .step = step,
                                              .finish = finish,
                                              .close = close_own};

/* The parts of attn_trainer_step, one by one: the least of each. The loss is computed within
 * the model's passes; it is timed once more alone, and its time taken off theirs in the end. */
enum { LOSS_BACKWARD = BENCH_TRAINING_PARTS, LAPS };

struct stopwatch {
    struct attn_trainer *t;
    attn_real *p, *dlogits; /* (B, T, outputs) */
    bool warm;
    double last, part[LAPS];
};

static void lap(struct stopwatch *w, int part)
{
    const double took = bench_now() - w->last;

    if (w->warm && (w->part[part] == 0 || took < w->part[part])) w->part[part] = took;
    w->last = bench_now();
}

static void step_in_parts(struct stopwatch *w)
{
    struct attn_trainer *t = w->t;
    struct attn_model *m = &t->model;
    const struct attn_settings *s = &t->settings;
    const int rows = t->batch.B * t->batch.T, outputs = s->model.outputs;

    w->last = bench_now();
    fill_batch(t, t->step + 1);
    lap(w, BENCH_BATCH);
    m->no_weights = true;
    const struct attn_loss loss = attn_model_forward(m, &t->batch);
    lap(w, BENCH_FORWARD);
    const attn_real scale = (attn_real)(1 / (double)loss.count);
    attn_model_zero(m);
    attn_model_backward(m, &t->batch, scale);
    lap(w, BENCH_BACKWARD);
    attn_clip(m->g, m->count, s->clip);
    lap(w, BENCH_CLIP);
    t->optimizer->step(m->w, m->g, t->moment, m->count, s->lr, t->step + 1, &s->optimize);
    lap(w, BENCH_OPTIMIZER);
    attn_cross_entropy_forward(w->p, attn_model_output(m), t->batch.targets, rows, outputs);
    lap(w, BENCH_LOSS);
    memset(w->dlogits, 0, (size_t)rows * (size_t)outputs * sizeof *w->dlogits);
    attn_cross_entropy_backward(w->dlogits, w->p, t->batch.targets, scale, rows, outputs);
    lap(w, LOSS_BACKWARD);
    if (++t->step % s->log_every) return;
    w->last = bench_now();
    attn_trainer_evaluate(t);
    lap(w, BENCH_EVALUATION);
}

static void split_apart(void *context, void *result)
{
    const struct bench_plan *plan = context;
    struct bench_split *split = result;
    struct attn_threads *pool;
    struct attn_trainer t;
    struct attn_error e;

    if (attn_threads_new(&pool, plan->threads, &e) || open_trainer(&t, pool, &e)) return;
    const size_t n = (size_t)t.batch.B * (size_t)t.batch.T * (size_t)t.settings.model.outputs;
    struct stopwatch w = {.t = &t, .p = attn_alloc(2 * n, sizeof *w.p)};
    if (!w.p) return;
    w.dlogits = w.p + n;
    const double end = bench_now() + plan->seconds;
    for (int i = 0; i <= 2 * t.settings.log_every || bench_now() < end; i++) {
        w.warm = i >= t.settings.log_every;
        step_in_parts(&w);
    }
    memcpy(split->part, w.part, sizeof split->part);
    split->part[BENCH_FORWARD] -= w.part[BENCH_LOSS];
    split->part[BENCH_BACKWARD] -= w.part[LOSS_BACKWARD];
    split->part[BENCH_LOSS] += w.part[LOSS_BACKWARD];
    split->log_every = t.settings.log_every;
}

const char *bench_training_split(struct bench_split *split, const struct bench_plan *plan,
                                 struct attn_error *e)
{
    struct bench_plan copy = *plan;

    *split = (struct bench_split){0};
    if (!bench_apart(split_apart, &copy, split, sizeof *split) || split->log_every == 0)
        return attn_fail(e, ATTN_CHECK_FAILED, "recall: the measuring process ended early");
    split->part[BENCH_EVALUATION] /= split->log_every;
    for (int i = 0; i < BENCH_TRAINING_PARTS; i++) split->sum += split->part[i];
    return NULL;
}

double bench_split_model(const struct bench_split *split)
{
    return (split->part[BENCH_FORWARD] + split->part[BENCH_BACKWARD]) / split->sum;
}
