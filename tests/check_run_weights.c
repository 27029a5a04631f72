/* Runs that start from the weights of another, and runs of no steps. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "attn/checkpoint.h"
#include "attn/memory.h"
#include "attn/recording.h"
#include "attn/safetensors.h"
#include "fake_run.h"
#include "run_trial.h"

/* The settings of a run that starts from where the run in `from` is. */
static struct attn_settings settings_from(const char *from)
{
    struct attn_settings s = run_trial_settings();

    snprintf(s.weights, sizeof s.weights, "%s/checkpoint.safetensors", from);
    return s;
}

static char *trained(const char *name)
{
    const struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory(name);

    run_trial_must_train(where, &s, s.steps);
    return where;
}

static void expect_refused(const struct attn_settings *s, enum attn_fault fault, const char *says)
{
    struct attn_trainer t;
    struct attn_error e;

    ck_assert_msg(attn_trainer_open(&t, s, NULL, NULL, &e) != NULL, "not refused: %s", says);
    ck_assert_msg(e.fault == fault && strstr(e.text, says), "fault %d: %s, expected: %s", e.fault,
                  e.text, says);
    ck_assert_int_eq(attn_alloc_live(), 0);
}

/* What is evaluated is what the other run was evaluated as at its end. */
START_TEST(no_steps_tell_what_it_starts_from)
{
    static const char *const own[] = {"step",      "loss",         "lr",           "grad_norm",
                                      "tokens",    "wq_grad_norm", "wk_grad_norm", "wv_grad_norm",
                                      "wq_update", "wk_update",    "wv_update"};
    char *from = trained("from"), *where = run_trial_directory("run");
    struct attn_settings s = settings_from(from);
    struct attn_recording a, b;
    struct attn_error e;

    s.steps = 0;
    s.seed = run_trial_settings().seed;
    run_trial_must_train(where, &s, 0);
    ck_assert_ptr_null(attn_recording_read(&a, from, &e));
    ck_assert_ptr_null(attn_recording_read(&b, where, &e));
    ck_assert(b.metrics.rows == 1 && b.heads.rows == 1 && b.frames == 1 && b.step[0] == 0);
    ck_assert_ptr_nonnull(b.result);
    for (int t = 0; t < 2; t++) {
        const struct attn_columns *is = t ? &b.heads : &b.metrics, *was = t ? &a.heads : &a.metrics;
        for (int c = 0; c < is->columns; c++) {
            const double x = is->value[c], y = was->value[(c + 1) * was->rows - 1];
            bool differs = false;
            for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                differs |= strcmp(own[i], is->name[c]) == 0;
            ck_assert_msg(differs ? isnan(x) || x == 0 : x == y || (isnan(x) && isnan(y)),
                          "%s: %g, was %g", is->name[c], x, y);
        }
    }
    const size_t map = (size_t)(a.B * a.L * a.H * a.T * a.T);
    ck_assert_mem_eq(b.maps, a.maps + (size_t)(a.frames - 1) * map, map * sizeof *a.maps);
    attn_recording_free(&a);
    attn_recording_free(&b);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Without a file: the weights as they are drawn. Done again, it tells its result again. */
START_TEST(no_steps_need_no_file)
{
    struct attn_settings s = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_run r;
    struct attn_error e;

    s.steps = 0;
    run_trial_must_train(where, &s, 0);
    ck_assert_ptr_null(attn_run_open(&r, where, &s, NULL, false, NULL, &e));
    ck_assert(r.finished && !attn_run_more(&r));
    ck_assert_ptr_nonnull(strstr(r.result.data, "\"steps\": 0, \"loss\": null, \"eval_loss\": "));
    attn_run_close(&r);
    /* Killed before its last file: the same again. */
    ck_assert_int_eq(run("cp '%s/metrics.tsv' '%s/frames.tsv' '%s' && rm '%s/result.json'", where,
                         where, scratch_directory(), where),
                     0);
    run_trial_must_train(where, &s, 0);
    ck_assert_int_eq(run("cd '%s' && cmp metrics.tsv run/metrics.tsv && cmp frames.tsv "
                         "run/frames.tsv",
                         scratch_directory()),
                     0);
}
END_TEST

/* The first step is that of a trainer with these weights and fresh moments; stopped and run on,
 * it ends with the same bytes. */
START_TEST(training_starts_from_the_weights)
{
    char *from = trained("from"), *straight = run_trial_directory("straight");
    char *stopped = run_trial_directory("stopped");
    struct attn_settings s = settings_from(from), plain = run_trial_settings();
    struct attn_trainer t, u;

    s.seed = plain.seed = 5;
    s.lr = plain.lr = 0.02;
    plain.batch = 2;
    run_trial_trainer(&t, &s);
    ck_assert_uint_eq(strlen(t.settings.weights_sha256), 64);
    s.batch = 2;
    run_trial_trainer(&u, &plain);
    memcpy(u.model.w, t.model.w, t.model.count * sizeof *t.model.w);
    attn_trainer_close(&t);
    run_trial_trainer(&t, &s);
    for (int i = 0; i < 3; i++) {
        ck_assert(attn_trainer_step(&t) && attn_trainer_step(&u));
        ck_assert(t.loss == u.loss && t.grad_norm == u.grad_norm);
    }
    ck_assert_mem_eq(t.model.w, u.model.w, t.model.count * sizeof *t.model.w);
    attn_trainer_close(&t);
    attn_trainer_close(&u);
    run_trial_must_train(straight, &s, s.steps);
    for (long at = 1; at <= s.steps; at += 2) run_trial_must_train(stopped, &s, at);
    run_trial_expect_same(straight, stopped);
}
END_TEST

/* Contents are known by their digest, as those of a text are. */
START_TEST(another_file_of_that_name_is_refused)
{
    char *from = trained("from"), *where = run_trial_directory("run");
    struct attn_settings s = settings_from(from), other = run_trial_settings(), old;
    struct attn_error e;

    run_trial_must_train(where, &s, 3);
    ck_assert_ptr_null(attn_run_settings(&old, where, &e));
    ck_assert_str_eq(old.weights, s.weights);
    ck_assert_uint_eq(strlen(old.weights_sha256), 64);
    other.seed = 77;
    ck_assert_int_eq(run("rm -r '%s'", from), 0);
    run_trial_must_train(from, &other, other.steps);
    expect_refused(&old, ATTN_BAD_INPUT, "has changed: SHA-256 ");
    ck_assert_ptr_nonnull(run_trial_train(where, &s, s.steps, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "started from other contents"));
    ck_assert_int_eq(run("rm -r '%s'", from), 0);
    expect_refused(&s, ATTN_BAD_INPUT, "checkpoint.safetensors");
    s.weights[0] = '\0';
    ck_assert_ptr_nonnull(run_trial_train(where, &s, s.steps, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "--weights"));
}
END_TEST

START_TEST(other_models_are_refused)
{
    static const struct {
        int width, layers, keys;
        const char *says;
    } cases[] = {
        {8, 1, 5, "'embedding' has shape (9, 6), the model's is (9, 8)"},
        {6, 2, 5, "no tensor 'layer1.wq'"},
        {6, 1, 6, "'embedding' has shape (9, 6), the model's is (10, 6)"},
    };
    char *from = trained("from"), *two = run_trial_directory("two");
    struct attn_settings s;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s = settings_from(from);
        s.model.width = cases[i].width;
        s.model.layers = cases[i].layers;
        s.options.keys = cases[i].keys;
        expect_refused(&s, ATTN_BAD_INPUT, cases[i].says);
    }
    s = run_trial_settings();
    s.model.layers = 2;
    run_trial_must_train(two, &s, 1);
    s = settings_from(two);
    expect_refused(&s, ATTN_BAD_INPUT, "tensor 'layer1.wq': the model has none");
    ck_assert_int_eq(run("truncate -s -1 '%s'", s.weights), 0);
    expect_refused(&s, ATTN_BAD_INPUT, "checkpoint.safetensors");
}
END_TEST

/* Positions that are not needed are left out; those that are needed and not there are missed. */
START_TEST(a_longer_table_of_positions_will_do)
{
    const char *from = run_trial_directory("from");
    struct attn_settings s;
    struct attn_trainer t, whole;
    struct attn_error e;

    attn_settings_default(&s, attn_task_find("reverse"));
    s.model.position = "learned";
    s.model.position_in_qk = _i;
    s.options.length = 7;
    s.batch = s.eval_size = s.probes = s.steps = 2;
    run_trial_must_train(from, &s, 2);
    run_trial_trainer(&whole, &s);
    ck_assert_ptr_null(
        attn_checkpoint_load(&whole, fake_run_path(from, "checkpoint.safetensors"), &e));
    snprintf(s.weights, sizeof s.weights, "%s/checkpoint.safetensors", from);
    s.options.length = 4;
    run_trial_trainer(&t, &s);
    for (int i = 0; i < t.model.parameters; i++) {
        const struct attn_parameter *p = &t.model.parameter[i], *q = &whole.model.parameter[i];
        ck_assert_str_eq(p->name, q->name);
        ck_assert(strstr(p->name, "position") ? p->shape[0] == 4 && q->shape[0] == 7
                                              : p->count == q->count);
        ck_assert_mem_eq(t.model.w + p->offset, whole.model.w + q->offset,
                         p->count * sizeof *t.model.w);
    }
    attn_trainer_close(&t);
    attn_trainer_close(&whole);
    s.options.length = 8;
    expect_refused(&s, ATTN_BAD_INPUT, "position' has shape (7, ");
}
END_TEST

/* Longer means more places, no wider ones. */
START_TEST(a_wider_table_of_positions_is_refused)
{
    enum { MOST = 16 };
    struct attn_tensor tensor[MOST];
    struct attn_settings s;
    struct attn_trainer t;
    struct attn_error e;
    attn_real *wide;

    attn_settings_default(&s, attn_task_find("reverse"));
    s.model.position = "learned";
    s.batch = s.eval_size = s.probes = 2;
    run_trial_trainer(&t, &s);
    ck_assert_int_le(t.model.parameters, MOST);
    wide = calloc(t.model.count * 2, sizeof *wide);
    for (int i = 0; i < t.model.parameters; i++) {
        const struct attn_parameter *p = &t.model.parameter[i];
        const bool more = strstr(p->name, "position") != NULL;
        tensor[i] = (struct attn_tensor){.name = p->name,
                                         .dtype = sizeof(attn_real) == 4 ? "F32" : "F64",
                                         .rank = p->rank,
                                         .shape = {p->shape[0], p->shape[1] * (1 + more)},
                                         .data = wide,
                                         .bytes = p->count * (1 + more) * sizeof *wide};
    }
    snprintf(s.weights, sizeof s.weights, "%s/wide", scratch_directory());
    ck_assert_ptr_null(attn_safetensors_write(s.weights, tensor, t.model.parameters, NULL, 0, &e));
    attn_trainer_close(&t);
    expect_refused(&s, ATTN_BAD_INPUT, "position' has shape (");
    free(wide);
}
END_TEST

/* Any file with the right tensors: made here for a table of logits, which has one. */
START_TEST(tensors_are_looked_at)
{
    static const char *const right = sizeof(attn_real) == 4 ? "F32" : "F64";
    static const char *const wrong = sizeof(attn_real) == 4 ? "I32" : "I64";
    enum { SYMBOLS = 10, COUNT = SYMBOLS * SYMBOLS };
    struct attn_settings s;
    attn_real w[COUNT];
    struct attn_tensor tensor[2] = {{.name = "embedding",
                                     .dtype = right,
                                     .rank = 2,
                                     .shape = {SYMBOLS, SYMBOLS},
                                     .data = w,
                                     .bytes = sizeof w}};
    struct attn_trainer t;
    struct attn_error e;

    attn_settings_default(&s, attn_task_find("copy"));
    s.model.layers = 0;
    ck_assert_int_eq(s.options.symbols, SYMBOLS);
    snprintf(s.weights, sizeof s.weights, "%s/mine", scratch_directory());
    for (int i = 0; i < COUNT; i++) w[i] = (attn_real)(i - 50) / 8;
    tensor[1] = tensor[0];
    tensor[1].name = "moment1.embedding";
    ck_assert_ptr_null(attn_safetensors_write(s.weights, tensor, 2, NULL, 0, &e));
    run_trial_trainer(&t, &s);
    ck_assert_mem_eq(t.model.w, w, sizeof w);
    attn_trainer_close(&t);
    tensor[1].name = "readout.w";
    ck_assert_ptr_null(attn_safetensors_write(s.weights, tensor, 2, NULL, 0, &e));
    expect_refused(&s, ATTN_BAD_INPUT, "tensor 'readout.w': the model has none");
    tensor[0].dtype = wrong;
    ck_assert_ptr_null(attn_safetensors_write(s.weights, tensor, 1, NULL, 0, &e));
    expect_refused(&s, ATTN_BAD_INPUT, "'embedding' is I");
    tensor[0].dtype = right;
    w[17] = (attn_real)NAN;
    ck_assert_ptr_null(attn_safetensors_write(s.weights, tensor, 1, NULL, 0, &e));
    expect_refused(&s, ATTN_BAD_INPUT, "element 17 is not finite");
    write_file(s.weights, "{}", 2);
    expect_refused(&s, ATTN_BAD_INPUT, "mine");
}
END_TEST

/* By the program: with other settings, and by --config and --resume. */
START_TEST(weights_of_another_run_are_evaluated)
{
    const char *d = scratch_directory(), *small = "--width 8 --pairs 3 --eval-size 8 -q";
    char program[4096];

    ck_assert_ptr_nonnull(realpath(program_path(TOLERANCE("train64", "train")), program));
    ck_assert_int_eq(run("cd '%s' && %s %s --steps 20 --out a", d, program, small), 0);
    ck_assert_int_eq(run("cd '%s' && %s %s --steps 0 --eval-size 500 --out b --weights "
                         "a/checkpoint.safetensors",
                         d, program, small),
                     0);
    ck_assert_msg(strstr(run_output, "\"steps\": 0, \"loss\": null"), "%s", run_output);
    ck_assert_int_eq(run("test $(wc -l < '%s/b/metrics.tsv') = 2", d), 0);
    ck_assert_int_eq(run("cd '%s' && %s --resume b -q", d, program), 0);
    ck_assert_int_eq(run("cd '%s' && %s --config b/config.json -q --out c", d, program), 0);
    ck_assert_int_eq(run("cd '%s' && cmp b/heads.tsv c/heads.tsv", d), 0);
    /* Its file gone; or another one asked for, of which the digest of the first says nothing. */
    ck_assert_int_eq(run("cd '%s' && rm a/checkpoint.safetensors", d), 0);
    ck_assert_int_eq(run("cd '%s' && %s --config b/config.json -q --out d", d, program), 3);
    ck_assert_int_eq(run("cd '%s' && %s %s --seed 2 --steps 1 --out e", d, program, small), 0);
    ck_assert_int_eq(run("cd '%s' && %s --config b/config.json -q --out f --weights "
                         "e/checkpoint.safetensors",
                         d, program),
                     0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "evaluated", no_steps_tell_what_it_starts_from);
    add_test(suite, "no steps", no_steps_need_no_file);
    add_test(suite, "trained", training_starts_from_the_weights);
    add_test(suite, "another file", another_file_of_that_name_is_refused);
    add_test(suite, "other models", other_models_are_refused);
    add_loop_test(suite, "positions", a_longer_table_of_positions_will_do, 2);
    add_test(suite, "wider", a_wider_table_of_positions_is_refused);
    add_test(suite, "tensors", tensors_are_looked_at);
    add_test(suite, "program", weights_of_another_run_are_evaluated);
}
