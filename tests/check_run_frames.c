/* Maps recorded in training: which steps, which maps, and that nothing else changes. */
#include "test.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/memory.h"
#include "attn/recording.h"
#include "attn/safetensors.h"
#include "learn/run_files.h"
#include "run_trial.h"
#include "scratch.h"

static void expect_fine(const char *wrong)
{
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

static const struct {
    int steps, map_every, most, frames;
    long tenth; /* the step of frame 9 */
} plans[] = {
    {9, -1, 100, 10, 9},           {300, -1, 100, 99, 9},   {99, -1, 100, 100, 9},
    {100, -1, 100, 100, 9},        {5000, -1, 100, 95, 9},  {1000000, -1, 100, 88, 9},
    {1000, -1, 1, 2, 1000},        {1000, -1, 12, 12, 256}, {1, -1, 100, 2, LONG_MAX},
    {300, 0, 100, 1, LONG_MAX},    {300, 7, 100, 44, 63},   {300, 300, 100, 2, LONG_MAX},
    {300, 1000, 100, 2, LONG_MAX}, {300, 1, 100, 301, 9},
};

START_TEST(frames_are_dense_at_first_and_few)
{
    const int steps = plans[_i].steps, every = plans[_i].map_every;
    const int density = attn_run_frame_density(steps, plans[_i].most);
    long before = -1, tenth = LONG_MAX, width = 0;
    int n = 0;

    for (long s = -1; (s = attn_run_frame_after(s, every, density, steps)) != LONG_MAX; n++) {
        ck_assert_int_gt(s, before);
        if (n > 0 && s < steps) ck_assert_int_ge(s - before, width); /* never denser again */
        width = n > 0 ? s - before : 0;
        before = s;
        if (n == 9) tenth = s;
        if (every > 0 && s < steps) ck_assert_int_eq(s % every, 0);
        if (n == 0) ck_assert_int_eq(s, every == 0 ? steps : 0);
    }
    ck_assert_int_eq(before, steps);
    if (every < 0) ck_assert_int_le(n, plans[_i].most < 2 ? 2 : plans[_i].most);
    ck_assert_msg(n == plans[_i].frames && (n < 10 || tenth == plans[_i].tenth),
                  "steps %d: %d frames, the tenth at %ld", steps, n, tenth);
}
END_TEST

/* Large maps: fewer frames, so that the file stays below 256 MB. */
START_TEST(large_maps_are_recorded_rarely)
{
    struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;

    s.options.pairs = s.options.keys = 128; /* 256 tokens */
    s.model.heads = 4;
    s.model.width = 8;
    s.probes = 16; /* 16.8 MB a frame */
    s.batch = s.eval_size = 1;
    s.steps = 10000;
    run_trial_open(&r, where, &s);
    ck_assert_int_ge(r.density, 0);
    ck_assert_int_le(r.density, 1);
    ck_assert_uint_eq(r.maps.shape[0], 1);
    attn_run_close(&r);
}
END_TEST

/* Each frame is what the trainer says at its step, and training goes on as if not asked. */
START_TEST(frames_are_the_maps_of_their_steps)
{
    struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_recording r;
    struct attn_trainer t;
    struct attn_error e;
    float *map;
    size_t n;

    s.map_every = 2;
    s.model.heads = 3;
    s.model.layers = 2;
    run_trial_must_train(where, &s, s.steps);
    expect_fine(attn_recording_read(&r, where, &e));
    ck_assert_int_eq(r.frames, 6); /* 0, 2, 4, 6, 8, 9 */
    run_trial_trainer(&t, &s);
    n = attn_trainer_attention_count(&t);
    map = attn_alloc(n, sizeof *map);
    for (int i = 0; i < r.frames; i++) {
        ck_assert_int_eq(r.step[i], i < 5 ? 2 * i : 9);
        while (t.step < r.step[i]) ck_assert(attn_trainer_step(&t));
        attn_trainer_attention(&t, map);
        ck_assert_mem_eq(map, r.maps + (size_t)i * n, n * sizeof *map);
    }
    attn_free(map);
    attn_trainer_close(&t);
    attn_recording_free(&r);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* The settings in a checkpoint tell how often maps were recorded; all the rest is the same. */
static void expect_same_state(const char *a, const char *b)
{
    struct attn_safetensors x, y;
    struct attn_error e;
    char path[512];

    snprintf(path, sizeof path, "%s/checkpoint.safetensors", a);
    expect_fine(attn_safetensors_read(&x, path, &e));
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", b);
    expect_fine(attn_safetensors_read(&y, path, &e));
    ck_assert_int_eq(x.tensors, y.tensors);
    for (int i = 0; i < x.tensors; i++) {
        ck_assert_str_eq(x.tensor[i].name, y.tensor[i].name);
        ck_assert_uint_eq(x.tensor[i].bytes, y.tensor[i].bytes);
        ck_assert_mem_eq(x.tensor[i].data, y.tensor[i].data, x.tensor[i].bytes);
    }
    ck_assert_str_eq(attn_safetensors_metadata(&x, "loss"), attn_safetensors_metadata(&y, "loss"));
    attn_safetensors_free(&x);
    attn_safetensors_free(&y);
}

START_TEST(recording_changes_nothing_else)
{
    static const int every[] = {-1, 1, 4};
    static const char *const files[] = {"metrics.tsv", "heads.tsv", "probe.tsv"};
    struct attn_settings s = run_trial_settings();
    char *off = run_trial_directory("off"), *on = run_trial_directory("on");

    s.model.position = "learned"; /* tables that a forward pass of another size may touch */
    s.steps = 30;
    s.map_every = 0;
    run_trial_must_train(off, &s, s.steps);
    s.map_every = every[_i];
    run_trial_must_train(on, &s, s.steps);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(run("cmp '%s/%s' '%s/%s'", off, files[i], on, files[i]) == 0, "%s",
                      run_output);
    expect_same_state(off, on);
}
END_TEST

START_TEST(stopping_leaves_no_trace_in_the_frames)
{
    static const int every[] = {-1, 0, 1, 4, 100};
    struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *stopped = run_trial_directory("stopped");

    s.map_every = every[_i];
    s.model.heads = 2;
    s.model.kv_heads = 1;
    run_trial_must_train(straight, &s, s.steps);
    for (long at = 1; at < s.steps; at++) {
        ck_assert_int_eq(run("rm -rf '%s'", stopped), 0);
        run_trial_must_train(stopped, &s, at);
        run_trial_must_train(stopped, &s, at + 1);
        run_trial_must_train(stopped, &s, s.steps);
        run_trial_expect_same(straight, stopped);
    }
}
END_TEST

/* Whole maps, each row that sees keys a distribution, at the steps that are due. */
static int expect_prefix(const char *where, const struct attn_recording *straight)
{
    struct attn_recording r;
    struct attn_error e;

    if (access(where, F_OK) || run("test -e '%s/config.json'", where)) return 0;
    expect_fine(attn_recording_read(&r, where, &e));
    ck_assert_int_le(r.frames, straight->frames);
    const size_t n = (size_t)straight->B * (size_t)straight->L * (size_t)straight->H *
                     (size_t)straight->T * (size_t)straight->T * (size_t)r.frames;
    if (r.frames) ck_assert_mem_eq(r.maps, straight->maps, n * sizeof *r.maps);
    if (r.frames) ck_assert_mem_eq(r.step, straight->step, (size_t)r.frames * sizeof *r.step);
    for (size_t i = 0; i < n; i += (size_t)r.T) {
        double sum = 0;
        for (int j = 0; j < r.T; j++) sum += (double)r.maps[i + (size_t)j];
        if (fabs(sum - 1) > 1e-5) ck_abort_msg("row %zu sums to %g", i / (size_t)r.T, sum);
    }
    const int frames = r.frames;
    attn_recording_free(&r);
    return frames;
}

static void expect_numpy(const char *where)
{
    if (run("/usr/bin/python3 -c 'import numpy' && test -e '%s/attention.npy'", where)) return;
    ck_assert_msg(run("/usr/bin/python3 -c 'import numpy; a = numpy.load(\"%s/attention.npy\"); "
                      "assert a.ndim == 6 and (abs(a.sum(-1) - 1) < 1e-5).all()'",
                      where) == 0,
                  "%s", run_output);
}

/* Killed by force at any moment, again and again, read each time, then run to its end. */
START_TEST(a_killed_run_can_be_read_and_goes_on)
{
    struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *killed = run_trial_directory("killed");
    struct attn_recording whole;
    struct attn_error e;
    int most = 0;

    s.steps = 600;
    s.map_every = 1;
    s.log_every = 1;
    run_trial_must_train(straight, &s, s.steps);
    expect_fine(attn_recording_read(&whole, straight, &e));
    for (int round = 0; round < 15 || most <= 20; round++) { /* longer on a slow machine */
        const pid_t child = fork();
        if (child == 0) {
            for (long at = 20;; at += 20)
                if (run_trial_train(killed, &s, at, &e) || at >= s.steps) _exit(1);
        }
        usleep((useconds_t)(3000 + 7000 * round));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        const int frames = expect_prefix(killed, &whole);
        if (round % 5 == 0) expect_numpy(killed);
        most = frames > most ? frames : most;
    }
    run_trial_must_train(killed, &s, s.steps);
    run_trial_expect_same(straight, killed);
    attn_recording_free(&whole);
}
END_TEST

/* A disk that is full at any point: told, with the name of a file, and gone on with. */
START_TEST(a_full_disk_is_told_and_survived)
{
    struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *full = run_trial_directory("full");
    long failed = 0;

    s.map_every = 1;
    s.log_every = 1;
    s.steps = 40;
    run_trial_must_train(straight, &s, s.steps);
    for (rlim_t bytes = 4500; bytes < 30000; bytes += 2100) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            const struct rlimit limit = {bytes, bytes};
            struct attn_error e;
            signal(SIGXFSZ, SIG_IGN);
            if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(1);
            for (long at = 5; at <= s.steps; at += 5)
                if (run_trial_train(full, &s, at, &e))
                    _exit(strstr(e.text, full) && strstr(e.text, "File too large") ? (int)e.fault
                                                                                   : 1);
            _exit(0);
        }
        waitpid(child, &status, 0);
        ck_assert_msg(WIFEXITED(status) &&
                          (WEXITSTATUS(status) == ATTN_CANNOT_WRITE || WEXITSTATUS(status) == 0),
                      "%d bytes: status %d", (int)bytes, status);
        failed += WEXITSTATUS(status) != 0;
    }
    ck_assert_int_gt(failed, 5);
    run_trial_must_train(full, &s, s.steps);
    run_trial_expect_same(straight, full);
}
END_TEST

/* What is gone cannot be recorded again: a run without it does not go on. */
START_TEST(lost_frames_are_told)
{
    static const struct {
        const char *command, *says;
    } damage[] = {
        {"rm '%s/attention.npy'", "attention.npy"},
        {"truncate -s 200 '%s/attention.npy'", "attention.npy"},
        {"sed -i 's/(6, 5, 1/(2, 5, 1/' '%s/attention.npy'", "2 items, expected at least 6"},
        {"sed -i 's/, 6, 6)/, 9, 4)/' '%s/attention.npy'", "attention.npy"},
        {"rm '%s/frames.tsv'", "frames.tsv"},
        {"sed -i '$d' '%s/frames.tsv'", "frames.tsv: 5 rows up to step 5, expected 6"},
        {"sed -i 1d '%s/frames.tsv'", "frames.tsv: line 1"},
        {"rm '%s/heads.tsv'", "heads.tsv"},
        {"sed -i 3d '%s/heads.tsv'", "heads.tsv: 2 rows up to step 5, expected 3"},
        {"sed -i '$d' '%s/metrics.tsv'", "metrics.tsv: 2 rows up to step 5, expected 3"},
    };
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run"), command[512];
    struct attn_error e;

    run_trial_must_train(where, &s, 5);
    snprintf(command, sizeof command, damage[_i].command, where);
    ck_assert_int_eq(run("%s", command), 0);
    ck_assert_ptr_nonnull(run_trial_train(where, &s, s.steps, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, damage[_i].says), "%s", e.text);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* It can be written again from the settings alone. */
START_TEST(a_lost_probe_is_made_again)
{
    const struct attn_settings s = run_trial_settings();
    char *straight = run_trial_directory("straight"), *where = run_trial_directory("run");

    run_trial_must_train(straight, &s, s.steps);
    run_trial_must_train(where, &s, 5);
    ck_assert_int_eq(run("rm '%s/probe.tsv'", where), 0);
    run_trial_must_train(where, &s, s.steps);
    run_trial_expect_same(straight, where);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "plan", frames_are_dense_at_first_and_few, sizeof plans / sizeof *plans);
    add_test(suite, "large maps", large_maps_are_recorded_rarely);
    add_test(suite, "maps", frames_are_the_maps_of_their_steps);
    add_loop_test(suite, "on or off", recording_changes_nothing_else, 3);
    add_loop_test(suite, "stopped", stopping_leaves_no_trace_in_the_frames, 5);
    add_test(suite, "killed", a_killed_run_can_be_read_and_goes_on);
    add_test(suite, "full disk", a_full_disk_is_told_and_survived);
    add_loop_test(suite, "lost", lost_frames_are_told, 10);
    add_test(suite, "lost probe", a_lost_probe_is_made_again);
}
