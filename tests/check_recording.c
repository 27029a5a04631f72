/* A run's directory read back: whole, going on, cut anywhere, and broken. */
#include "test.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/recording.h"
#include "run_trial.h"

static struct attn_settings settings(void)
{
    struct attn_settings s = run_trial_settings();

    s.model.heads = 2;
    s.model.layers = 2;
    s.map_every = 3;
    return s;
}

static void must_read(struct attn_recording *r, const char *where)
{
    struct attn_error e;
    const char *wrong = attn_recording_read(r, where, &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

START_TEST(a_finished_run_is_read_whole)
{
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_trainer t;
    double step[10];

    run_trial_must_train(where, &s, s.steps);
    must_read(&r, where);
    run_trial_trainer(&t, &s);
    ck_assert(r.L == 2 && r.H == 2 && r.B == 5 && r.T == 6);
    ck_assert(r.frames == 4 && r.step[0] == 0 && r.step[3] == 9);
    ck_assert(r.metrics.rows == 6 && r.heads.rows == 24);
    ck_assert_double_eq(attn_columns_find(&r.metrics, "step")[5], 9);
    ck_assert(!attn_columns_find(&r.metrics, "nothing"));
    ck_assert(attn_recording_head(step, &r, "step", 1, 0) && step[0] == 1 && step[5] == 9);
    ck_assert(attn_recording_head(step, &r, "layer", 1, 0) && step[2] == 1);
    ck_assert(attn_recording_head(step, &r, "head", 1, 1) && step[3] == 1);
    ck_assert(!attn_recording_head(step, &r, "nothing", 0, 0));
    ck_assert(r.has_right);
    ck_assert_mem_eq(r.right, t.probe.right, 5 * 6 * 6);
    for (int i = 0; i < 30; i++) {
        char label[64];
        attn_dataset_label(&t.data, t.probe.tokens + 2 * i, label, sizeof label);
        ck_assert_str_eq(r.token[i], label);
        ck_assert_int_eq(r.counted[i], i % 6 >= 3); /* the queries stand behind the pairs */
        ck_assert(r.span[i].lo == 0 && r.span[i].hi == 3);
        for (int j = 0; j < i; j++)
            ck_assert_int_eq(r.ids[i] == r.ids[j], strcmp(r.token[i], r.token[j]) == 0);
    }
    ck_assert_str_eq(attn_json_member(r.config, "task")->text, "recall");
    ck_assert_str_eq(attn_json_member(r.result, "status")->text, "done");
    attn_trainer_close(&t);
    attn_recording_free(&r);
    attn_recording_free(&r);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Measured from the files, a head is what it is measured to be from the trainer's own P. */
START_TEST(its_maps_are_measured_as_they_were)
{
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_trainer t;

    run_trial_must_train(where, &s, s.steps);
    must_read(&r, where);
    run_trial_trainer(&t, &s);
    while (t.step < s.steps) ck_assert(attn_trainer_step(&t));
    for (int l = 0; l < 2; l++)
        for (int h = 0; h < 2; h++) {
            struct attn_head_sums sums = {0};
            for (int first = 0; first < 5; first += 4) {
                const struct attn_batch b = attn_batch_part(&t.probe, first, first ? 1 : 4);
                t.model.no_weights = false;
                attn_model_forward(&t.model, &b);
                const struct attn_maps m = {.B = b.B,
                                            .H = 2,
                                            .Tq = 6,
                                            .Tk = 6,
                                            .p = attn_model_weights(&t.model, l),
                                            .span = r.span,
                                            .counted = r.counted,
                                            .right = b.right,
                                            .tokens = r.ids + first * 6};
                attn_head_add(&sums, &m, h);
            }
            const struct attn_head_metrics want = attn_head_mean(&sums);
            const struct attn_maps maps = attn_recording_maps(&r, 3, l);
            const struct attn_head_metrics got = attn_head_metrics(&maps, h);
            for (const struct attn_metric *m = attn_metric_table; m->name; m++) {
                const double x = attn_metric_value(&got, m), y = attn_metric_value(&want, m);
                ck_assert_msg(isnan(y) ? isnan(x) : is_near(x, y, 1e-6, 1e-6), "%s: %g, %g",
                              m->name, x, y);
            }
            ck_assert(isfinite(got.entropy) && isfinite(got.target_mass));
        }
    attn_trainer_close(&t);
    attn_recording_free(&r);
}
END_TEST

/* Any of its files may not be there yet, or end anywhere. */
START_TEST(a_run_that_goes_on_is_read_as_far_as_it_is)
{
    static const char *const files[] = {"metrics.tsv", "heads.tsv", "frames.tsv"};
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;

    run_trial_must_train(where, &s, s.steps);
    ck_assert_int_eq(run("cp -r '%s' '%s.whole' && rm '%s/result.json'", where, where, where), 0);
    for (int i = 0; i < 3; i++) {
        int rows = 100;
        for (int n = 1000; n >= 0; n -= 7) {
            ck_assert_int_eq(
                run("cd '%s' && head -c %d ../run.whole/%s > %s", where, n, files[i], files[i]), 0);
            must_read(&r, where);
            const int now = i == 0 ? r.metrics.rows : i == 1 ? r.heads.rows : r.frames;
            ck_assert_int_le(now, rows);
            ck_assert(i != 1 || now % 4 == 0);
            rows = now;
            ck_assert_ptr_null(r.result);
            attn_recording_free(&r);
        }
        ck_assert_int_eq(rows, 0);
        ck_assert_int_eq(run("rm '%s/%s'", where, files[i]), 0);
        must_read(&r, where);
        attn_recording_free(&r);
    }
    ck_assert_int_eq(
        run("cp '%s.whole/frames.tsv' '%s' && rm '%s/attention.npy'", where, where, where), 0);
    must_read(&r, where);
    ck_assert_int_eq(r.frames, 0);
    attn_recording_free(&r);
}
END_TEST

/* Read again and again while another process trains. */
START_TEST(it_can_be_read_while_it_is_written)
{
    struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;
    int status, reads = 0, most = 0;
    const int frames = 200, times = 6; /* until both, however fast either goes */

    s.steps = 100000;
    s.map_every = s.log_every = 1;
    const pid_t child = fork();
    if (child == 0) _exit(run_trial_train(where, &s, s.steps, &e) ? 1 : 0);
    while (run("test -e '%s/frames.tsv'", where)) usleep(1000);
    for (; (most < frames || reads < times) && waitpid(child, &status, WNOHANG) == 0; reads++) {
        const char *wrong = attn_recording_read(&r, where, &e);
        if (wrong) ck_abort_msg("%s", wrong); /* Check logs each assertion */
        if (r.frames < most) ck_abort_msg("%d frames, %d before", r.frames, most);
        most = r.frames;
        attn_recording_free(&r);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_assert_int_ge(most, frames);
    ck_assert_int_ge(reads, times);
}
END_TEST

static const struct {
    const char *command, *says;
} broken[] = {
    {"rm config.json", "config.json: not there: expected the directory of a run"},
    {"echo '{' > config.json", "config.json:2:1: expected"},
    {"sed -i s/layers/lay/ config.json", "config.json: expected \"layers\""},
    {"sed -i 's/s\": 2,/s\": 2000,/' config.json", "config.json: 2000 layers of 2000 heads"},
    {"sed -i 's/\"heads\": 2/\"heads\": 0/' config.json", "config.json: expected \"heads\""},
    {"sed -i 's/\"heads\": 2/\"heads\": 1/' config.json", "heads.tsv: line 3: expected layer 1"},
    {"sed -i 's/loss/lass/g' metrics.tsv", "metrics.tsv: line 1: expected a column 'loss'"},
    {"sed -i '3s/[0-9]\\./x./' metrics.tsv", "metrics.tsv: line 3, column loss: 'x."},
    {"sed -i '4s/^[0-9]*/1/' metrics.tsv", "metrics.tsv: line 4: expected a later step"},
    {"sed -i '5s/$/\\t1/' metrics.tsv", "metrics.tsv: line 5: 13 columns, expected 12"},
    {"sed -i 4d heads.tsv", "heads.tsv: line 4: expected layer 1, head 0"},
    {"sed -i '7s/^2/3/' heads.tsv", "heads.tsv: line 7: expected the same step"},
    {"sed -i 's/token/word/' probe.tsv", "probe.tsv: line 1: expected a column 'token'"},
    {"sed -i 4d probe.tsv", "probe.tsv: line 4: expected sequence 0, position 2"},
    {"sed -i '$d' probe.tsv", "probe.tsv: line 30: expected more rows: 6 to a sequence"},
    {"awk -F'\\t' -vOFS='\\t' 'NR==6{$4=\"9\"}1' probe.tsv > x; mv x probe.tsv",
     "probe.tsv: line 6, column right: '9', expected keys from 0 to 5"},
    {"awk -F'\\t' -vOFS='\\t' 'NR==6{$4=\"1,,2\"}1' probe.tsv > x; mv x probe.tsv",
     "probe.tsv: line 6, column right: '1,,2'"},
    {"awk -F'\\t' -vOFS='\\t' 'NR==6{$6=7}1' probe.tsv > x; mv x probe.tsv",
     "probe.tsv: line 6, column hi: '7', expected a whole number from 0 to 6"},
    {"awk -F'\\t' -vOFS='\\t' 'NR==6{$5=4}1' probe.tsv > x; mv x probe.tsv",
     "probe.tsv: line 6, column lo: '4', expected a whole number from 0 to 3"},
    {"awk -F'\\t' -vOFS='\\t' 'NR==6{$7=2}1' probe.tsv > x; mv x probe.tsv", "column counted: '2'"},
    {"rm probe.tsv", "attention.npy: expected shape (frames, 0, 2, 2, 0, 0)"},
    {"sed -i 's/2, 2, 6, 6)/4, 1, 6, 6)/' attention.npy",
     "attention.npy: expected shape (frames, 5, 2, 2, 6, 6)"},
    {"truncate -s 300 attention.npy", "attention.npy: 172 bytes behind the header"},
    {"sed -i 's/step/stop/' frames.tsv", "frames.tsv: line 1: expected a column 'step'"},
    {"sed -i '3s/^1/2/' frames.tsv", "frames.tsv: line 3, column frame: '2'"},
    {"sed -i '4s/6$/3/' frames.tsv", "frames.tsv: line 4, column step: '3', expected a whole"},
    {"echo x > result.json", "result.json:1:1: expected"},
};

START_TEST(what_is_broken_is_told)
{
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_error e;

    run_trial_must_train(where, &s, s.steps);
    ck_assert_int_eq(run("cd '%s' && %s", where, broken[_i].command), 0);
    ck_assert_msg(attn_recording_read(&r, where, &e) != NULL, "%s was read", broken[_i].command);
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, broken[_i].says), "%s: %s", broken[_i].command, e.text);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* A probe that says nothing of spans: all keys, all rows. */
START_TEST(columns_may_be_missing)
{
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;

    run_trial_must_train(where, &s, s.steps);
    ck_assert_int_eq(run("cd '%s' && cut -f 1-4 probe.tsv > x && mv x probe.tsv", where), 0);
    must_read(&r, where);
    ck_assert(r.span[0].lo == 0 && r.span[0].hi == 6 && r.counted[0] == 1);
    attn_recording_free(&r);
}
END_TEST

START_TEST(no_memory_is_told_and_nothing_leaks)
{
    const struct attn_settings s = settings();
    char *where = run_trial_directory("run");
    const char *wrong = "not yet";
    struct attn_recording r;
    struct attn_error e;

    run_trial_must_train(where, &s, s.steps);
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = attn_recording_read(&r, where, &e);
        attn_alloc_fail_from(0);
        if (wrong)
            ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        else
            attn_recording_free(&r);
        ck_assert_int_eq(attn_alloc_live(), 0);
        ck_assert_int_lt(n, 1000);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "finished", a_finished_run_is_read_whole);
    add_test(suite, "measured", its_maps_are_measured_as_they_were);
    add_test(suite, "going on", a_run_that_goes_on_is_read_as_far_as_it_is);
    add_test(suite, "while written", it_can_be_read_while_it_is_written);
    add_loop_test(suite, "broken", what_is_broken_is_told, sizeof broken / sizeof *broken);
    add_test(suite, "missing columns", columns_may_be_missing);
    add_test(suite, "no memory", no_memory_is_told_and_nothing_leaks);
}
