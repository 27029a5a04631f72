/* metrics.tsv: a row per logged step; heads.tsv: one per layer and head of it. */
#include "run_files.h"
#include "trainer_sinks.h"

static const char METRICS[] = "metrics.tsv", HEADS[] = "heads.tsv";

static const char metrics_header[] =
    "step\tloss\teval_loss\taccuracy\ttarget_mass\tlr\tgrad_norm\ttokens\tentropy\t"
    "first_accuracy\thidden_cosine\trepetition\n";
static const char heads_header[] =
    "step\tlayer\thead\tentropy\teffective_keys\tmax_weight\ttarget_mass\tscore_variance\t"
    "score_max\twq_norm\twk_norm\twv_norm\twq_grad_norm\twk_grad_norm\twv_grad_norm\twq_update\t"
    "wk_update\twv_update\tsigma_max\tstable_rank\teffective_rank\tnormalized_entropy\t"
    "argmax_accuracy\tjacobian_norm\tprogress\tprevious_mass\tinduction_mass\t"
    "first_mass_target\tfirst_mass_other\tvalue_norm_first\t"
    "participation\n";

/* How many logged steps there are up to the trainer's. */
static long logged_steps(const struct attn_trainer *t)
{
    const long every = t->settings.log_every;
    const bool first = t->step >= 1 && every > 1;
    const bool last = t->step == t->settings.steps && t->step > 1 && t->step % every;

    return t->step / every + first + last;
}

const char *attn_run_open_metrics(struct attn_run *run, struct attn_error *e)
{
    const struct attn_model_settings *s = &run->trainer.settings.model;
    const long steps = logged_steps(&run->trainer);
    const struct attn_run_rows metrics = {METRICS, metrics_header, 0, steps};
    const struct attn_run_rows heads = {HEADS, heads_header, 0, steps * s->layers * s->heads};
    const char *wrong = attn_run_open_rows(&run->metrics, run, &metrics, e);

    return wrong ? wrong : attn_run_open_rows(&run->heads, run, &heads, e);
}

static void add_numbers(struct attn_text *row, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        attn_text_print(row, "\t");
        attn_text_number(row, x[i], ATTN_REAL_DIGITS);
    }
}

static void add_head(struct attn_text *text, const struct attn_trainer *t, int layer, int head)
{
    const int i = layer * t->settings.model.heads + head;
    const struct attn_head_metrics m = attn_head_mean(&t->maps[i]);
    const struct attn_head_state *s = &t->state[i];
    const double map[] = {m.entropy,     m.effective_keys, m.max_weight,
                          m.target_mass, m.score_variance, m.score_max};
    const double spectrum[] = {s->spectrum.largest, s->spectrum.stable_rank,
                               s->spectrum.effective_rank};
    const double rest[] = {m.normalized_entropy,
                           m.argmax_accuracy,
                           m.jacobian_norm,
                           m.progress,
                           m.previous_mass,
                           m.induction_mass,
                           attn_sinks_mass(&t->sinks[i], ATTN_SINK_TARGET),
                           attn_sinks_mass(&t->sinks[i], ATTN_SINK_OTHER),
                           attn_sinks_ratio(&t->sinks[i]),
                           m.participation};

    attn_text_print(text, "%ld\t%d\t%d", t->step, layer, head);
    add_numbers(text, map, sizeof map / sizeof *map);
    add_numbers(text, s->norm, ATTN_HEAD_MATRICES);
    add_numbers(text, s->grad_norm, ATTN_HEAD_MATRICES);
    add_numbers(text, s->update, ATTN_HEAD_MATRICES);
    add_numbers(text, spectrum, sizeof spectrum / sizeof *spectrum);
    add_numbers(text, rest, sizeof rest / sizeof *rest);
    attn_text_print(text, "\n");
}

/* All heads in one write: a reader seldom sees a part of them. */
static const char *append_heads(struct attn_run *run, struct attn_error *e)
{
    const struct attn_model_settings *s = &run->trainer.settings.model;
    struct attn_text rows = {0};

    attn_trainer_weigh(&run->trainer);
    for (int l = 0; l < s->layers; l++)
        for (int h = 0; h < s->heads; h++) add_head(&rows, &run->trainer, l, h);
    return attn_run_append_rows(run->heads, run, HEADS, &rows, e);
}

const char *attn_run_append_metrics(struct attn_run *run, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    const double column[] = {
        t->loss, run->scores.loss, run->scores.accuracy, run->scores.target_mass,
        t->lr,   t->grad_norm};
    const double rest[] = {run->scores.entropy, run->scores.first_accuracy,
                           run->scores.hidden_cosine, run->scores.repetition};
    const long long tokens = (long long)t->step * t->batch.B * t->batch.T;
    struct attn_text row = {0};
    const char *wrong = append_heads(run, e);

    if (wrong) return wrong;
    attn_text_print(&row, "%ld", t->step);
    add_numbers(&row, column, sizeof column / sizeof *column);
    attn_text_print(&row, "\t%lld", tokens);
    add_numbers(&row, rest, sizeof rest / sizeof *rest);
    attn_text_print(&row, "\n");
    return attn_run_append_rows(run->metrics, run, METRICS, &row, e);
}

const char *attn_run_sync_metrics(const struct attn_run *run, struct attn_error *e)
{
    const char *wrong = attn_run_sync_rows(run->metrics, run, METRICS, e);

    return wrong ? wrong : attn_run_sync_rows(run->heads, run, HEADS, e);
}
