#include "run_trial.h"

#include "test.h"

const char *const run_trial_files[] = {"config.json",
                                       "metrics.tsv",
                                       "heads.tsv",
                                       "frames.tsv",
                                       "probe.tsv",
                                       "attention.npy",
                                       "checkpoint.safetensors",
                                       NULL};

struct attn_settings run_trial_settings(void)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find("recall"));
    s.options.pairs = 3;
    s.options.keys = 5;
    s.options.values = 4;
    s.model.width = 6;
    s.batch = 4;
    s.eval_size = 6;
    s.probes = 5;
    s.steps = 9;
    s.log_every = 2;
    s.warmup = 4;
    s.schedule = "cosine";
    return s;
}

char *run_trial_directory(const char *name)
{
    static char path[8][256];
    static int next;
    char *p = path[next++ % 8];

    snprintf(p, sizeof path[0], "%s/%s", scratch_directory(), name);
    return p;
}

static const char *open_run(struct attn_run *run, const char *directory,
                            const struct attn_settings *s, struct attn_error *e)
{
    return attn_run_open(run, directory, s, NULL, false, NULL, e);
}

static void expect_fine(const char *wrong)
{
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

void run_trial_open(struct attn_run *run, const char *directory, const struct attn_settings *s)
{
    struct attn_error e;

    expect_fine(open_run(run, directory, s, &e));
}

void run_trial_trainer(struct attn_trainer *t, const struct attn_settings *s)
{
    struct attn_error e;

    expect_fine(attn_trainer_open(t, s, NULL, NULL, &e));
}

const char *run_trial_train(const char *directory, const struct attn_settings *s, long until,
                            struct attn_error *e)
{
    struct attn_run run;
    const char *wrong = open_run(&run, directory, s, e);

    if (wrong) return wrong;
    while (!wrong && attn_run_more(&run) && run.trainer.step < until)
        wrong = attn_run_step(&run, e);
    if (!wrong && attn_run_more(&run))
        wrong = attn_run_save(&run, e);
    else if (!wrong && !run.finished)
        wrong = attn_run_finish(&run, 1, ATTN_FINE, e);
    attn_run_close(&run);
    return wrong;
}

void run_trial_must_train(const char *directory, const struct attn_settings *s, long until)
{
    struct attn_error e;

    expect_fine(run_trial_train(directory, s, until, &e));
}

void run_trial_expect_same(const char *a, const char *b)
{
    for (int i = 0; run_trial_files[i]; i++)
        ck_assert_msg(run("cmp '%s/%s' '%s/%s'", a, run_trial_files[i], b, run_trial_files[i]) == 0,
                      "%s", run_output);
}
