#include "planted_run.h"

#include <unistd.h>

#include "learn/run_files.h"
#include "run_trial.h"
#include "test.h"

struct attn_settings planted_settings(const struct planted_settings *p)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find(p->task ? p->task : "recall"));
    if (p->data) snprintf(s.data, sizeof s.data, "%s", p->data);
    if (p->length) s.options.length = p->length;
    if (p->symbols) s.options.symbols = p->symbols;
    if (p->pairs) s.options.pairs = p->pairs;
    if (p->dimension) s.options.dimension = p->dimension;
    if (p->width) s.model.width = p->width;
    if (p->heads) s.model.heads = p->heads;
    if (p->steps) s.steps = p->steps;
    s.log_every = 10;
    s.eval_size = 64;
    return s;
}

/* What was recorded at step 0 is recorded anew, of the run as it is now. */
static void record_again(struct attn_run *run)
{
    struct attn_error e;

    attn_run_close_frames(run);
    close(run->frames);
    run->frames = -1;
    ck_assert_ptr_null(attn_run_open_frames(run, &e));
    ck_assert_ptr_null(attn_run_record_frame(run, &e));
}

static void train(const char *directory, const struct attn_settings *s,
                  void (*plant)(struct attn_run *))
{
    const char *wrong = NULL;
    struct attn_error e;
    struct attn_run run;

    run_trial_open(&run, directory, s);
    if (plant) {
        plant(&run);
        record_again(&run);
    }
    while (attn_run_more(&run) && !wrong) wrong = attn_run_step(&run, &e);
    if (wrong) ck_assert_int_eq(e.fault, ATTN_DIVERGED);
    wrong = attn_run_finish(&run, 1, wrong ? ATTN_DIVERGED : ATTN_FINE, &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    attn_run_close(&run);
}

void planted_run_open(struct planted_run *r, const char *name, const struct attn_settings *s,
                      void (*plant)(struct attn_run *))
{
    const char *directory = run_trial_directory(name), *wrong;
    struct attn_error e;

    train(directory, s, plant);
    wrong = study_open(&r->study, directory, &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    wrong = study_diagnose(&r->diagnosis, &r->study, &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

void planted_run_close(struct planted_run *r)
{
    study_diagnosis_free(&r->diagnosis);
    study_close(&r->study);
}

void planted_run_expect(const struct planted_run *r, const char *const *names, int n)
{
    int found = 0;

    for (int i = 0; i < r->diagnosis.count; i++) {
        const struct attn_finding *f = &r->diagnosis.finding[i];
        if (f->severity == ATTN_REMARK) continue;
        ck_assert_msg(found < n && strcmp(f->kind->name, names[found]) == 0,
                      "expected %s, found %s: %s", found < n ? names[found] : "no illness",
                      f->kind->name, f->text);
        found++;
    }
    ck_assert_msg(found == n, "expected %s, found no more", names[found < n ? found : 0]);
}

/* A task whose sequences are those of the run's own, changed by `change`. */
static struct attn_task changed;
static const struct attn_task *own;
static void (*change)(const struct attn_dataset *d, struct attn_batch *one, struct attn_rng *rng);

static void fill_changed(const struct attn_dataset *d, struct attn_batch *b,
                         enum attn_stream stream, int index, int count, struct attn_rng *rng)
{
    own->fill(d, b, stream, index, count, rng);
    change(d, b, rng);
}

static void change_task(struct attn_run *run)
{
    struct attn_trainer *t = &run->trainer;
    const uint64_t seed = (uint64_t)t->settings.seed;

    own = t->data.task;
    changed = *own;
    changed.fill = fill_changed;
    t->data.task = &changed;
    attn_dataset_fill(&t->data, &t->evaluation, seed, ATTN_STREAM_EVAL, 0);
    attn_dataset_fill(&t->data, &t->probe, seed, ATTN_STREAM_PROBE, 0);
}

/* As if each were exchanged with one of any other sequence. */
static void draw_targets(const struct attn_dataset *d, struct attn_batch *b, struct attn_rng *rng)
{
    for (int i = 0; i < b->T; i++)
        if (b->targets[i] >= 0) b->targets[i] = (int)attn_rng_below(rng, (uint32_t)d->outputs);
}

void plant_shuffled_targets(struct attn_run *run)
{
    change = draw_targets;
    change_task(run);
}

/* As the first that is a key, and the first that is a query. */
static void level_tokens(const struct attn_dataset *d, struct attn_batch *b, struct attn_rng *rng)
{
    const int keys = b->lengths[0];

    (void)rng;
    for (int i = 0; i < b->T * d->fields; i++)
        b->tokens[i] = b->tokens[i % d->fields + (i < keys * d->fields ? 0 : keys * d->fields)];
}

void plant_tokens_alike(struct attn_run *run)
{
    change = level_tokens;
    change_task(run);
}

static attn_real *parameter(struct attn_model *m, const char *name, int *rows, int *columns)
{
    for (int i = 0; i < m->parameters; i++)
        if (strcmp(m->parameter[i].name, name) == 0) {
            *rows = (int)m->parameter[i].shape[0];
            *columns = (int)m->parameter[i].shape[1];
            return m->w + m->parameter[i].offset;
        }
    ck_abort_msg("no parameter %s", name);
    return NULL;
}

void plant_same_heads(struct attn_run *run)
{
    static const char *const names[] = {"layer0.wq", "layer0.wk", "layer0.wv"};
    struct attn_model *m = &run->trainer.model;
    const int D = m->settings.width / m->settings.heads;
    int rows, columns;
    attn_real *w;

    for (int i = 0; i < 3; i++) {
        w = parameter(m, names[i], &rows, &columns);
        for (int r = 0; r < rows; r++, w += columns) memcpy(w + D, w, (size_t)D * sizeof *w);
    }
}

/* Its W_V gives nothing, and nothing of it is taken by W_O. */
void plant_dead_head(struct attn_run *run)
{
    struct attn_model *m = &run->trainer.model;
    const int D = m->settings.width / m->settings.heads;
    int rows, columns;
    attn_real *w = parameter(m, "layer0.wv", &rows, &columns);

    for (int r = 0; r < rows; r++, w += columns) memset(w, 0, (size_t)D * sizeof *w);
    w = parameter(m, "layer0.wo", &rows, &columns);
    memset(w, 0, (size_t)D * (size_t)columns * sizeof *w);
}
