/* The same bits for any number of threads: sums of one layer, layers of every kind, and
 * every file of a run. */
#include "attention/kind.h"
#include "attn/run.h"
#include "attn/threads.h"
#include "layer_trial.h"
#include "model/operation.h"
#include "scratch.h"
#include "test.h"
#include "train_threads.h"

#define PROGRAM TOLERANCE("train64", "train")

static const int counts[] = {1, 2, 3, 4, 7, 8, 16};
enum { COUNTS = sizeof counts / sizeof *counts, REPEATS = 5 };

static struct attn_threads *new_threads(int count)
{
    struct attn_threads *t;
    struct attn_error e;

    ck_assert_msg(!attn_threads_new(&t, count, &e), "%s", e.text);
    return t;
}

/* A trial with room for the most threads. */
static void make_trial(struct layer_trial *t, struct attn_layer layer, struct layer_options options,
                       uint32_t seed)
{
    layer.core.threads = new_threads(counts[COUNTS - 1]);
    layer_trial_make(t, &layer, options, 0, seed);
    attn_threads_free(layer.core.threads);
    t->layer.core.threads = NULL;
}

static void run_layer(struct layer_trial *t, int count)
{
    t->layer.core.threads = new_threads(count);
    layer_trial_clear(t);
    layer_trial_forward(t);
    layer_trial_backward(t);
    attn_threads_free(t->layer.core.threads);
    t->layer.core.threads = NULL;
}

/* dW_V = sum x dV over x = 1e16, 1, -1e16, 1, where each dV is 1: 0, 1 or 2, by the order of
 * the additions, which may not be that in which threads end. */
START_TEST(a_sum_that_shows_its_order)
{
    static const double x[] = {1e16, 1, -1e16, 1};
    const struct attn_layer layer = {
        .C = 1, .Cy = 1, .core = {.n = {1, 1, 1, 4, 4, 1, 1}, .kind = attn_kind_find("dot")}};
    struct layer_trial t;
    attn_real first = 0;

    make_trial(&t, layer, (struct layer_options){0}, 1);
    for (int i = 0; i < 4; i++) {
        t.value[X][i] = (attn_real)x[i];
        t.dout[i] = 1;
    }
    t.value[WQ][0] = t.value[WK][0] = 0;
    t.value[WV][0] = 1;
    for (int i = 0; i < COUNTS * REPEATS; i++) {
        run_layer(&t, counts[i % COUNTS]);
        const attn_real sum = t.grad[WV][0];
        if (i == 0) first = sum;
        ck_assert(sum == 0 || sum == 1 || sum == 2);
        ck_assert_msg(sum == first, "%g with %d threads, %g with one", (double)sum,
                      counts[i % COUNTS], (double)first);
    }
    layer_trial_free(&t);
}
END_TEST

/* What a layer gave, kept for comparison. */
struct kept {
    attn_real *out, *grad[TENSORS];
};

static attn_real *copy(const attn_real *x, size_t n)
{
    attn_real *to = calloc(n + 1, sizeof *to);

    ck_assert_ptr_nonnull(to);
    if (n) memcpy(to, x, n * sizeof *to);
    return to;
}

static void expect_same_bits(const struct kept *k, const struct layer_trial *t, int count)
{
    ck_assert_msg(memcmp(k->out, t->out, t->nout * sizeof *t->out) == 0, "out, %d threads", count);
    for (int i = 0; i < TENSORS; i++)
        ck_assert_msg(!t->count[i] ||
                          memcmp(k->grad[i], t->grad[i], t->count[i] * sizeof *t->out) == 0,
                      "d%s, %d threads", tensor_name[i], count);
}

static int kinds(void)
{
    int n = 0;

    while (attn_kinds[n]) n++;
    return n;
}

/* The bits of one thread, and then of every other number. */
static void expect_any_number(const struct attn_layer *layer, struct layer_options options)
{
    struct layer_trial t;
    struct kept k;

    make_trial(&t, *layer, options, 7);
    run_layer(&t, 1);
    k.out = copy(t.out, t.nout);
    for (int i = 0; i < TENSORS; i++) k.grad[i] = copy(t.grad[i], t.count[i]);
    for (int i = 0; i < COUNTS; i++) {
        run_layer(&t, counts[i]);
        expect_same_bits(&k, &t, counts[i]);
    }
    free(k.out);
    for (int i = 0; i < TENSORS; i++) free(k.grad[i]);
    layer_trial_free(&t);
}

/* Sizes that no block divides, grouped heads, both ways where a kind has both. */
START_TEST(layers_of_every_kind)
{
    const struct attn_layer layer = {
        .C = 37,
        .Cy = 37,
        .Co = 29,
        .position = attn_position_find("rope"),
        .qk_norm = _i % 2,
        .core = {.n = {3, 4, 2, 83, 83, 10, 9},
                 .kind = attn_kinds[_i % kinds()],
                 .mask = {.causal = true},
                 .way = _i < kinds() ? ATTN_WAY_PLAIN : ATTN_WAY_STREAMING}};

    if (layer.core.way == ATTN_WAY_STREAMING && !layer.core.kind->streams) return;
    expect_any_number(&layer, (struct layer_options){.biases = true, .output = true});
}
END_TEST

/* Heads that are cut into parts, which follow each other through the keys; weights kept,
 * and computed again under a soft cap. */
START_TEST(long_heads)
{
    const struct attn_layer layer = {
        .C = 12,
        .Cy = 12,
        .Co = 12,
        .core = {.n = {1, 2, 1, 700, 700, 6, 6},
                 .kind = attn_kind_find("dot"),
                 .softcap = _i & 1 ? 5 : 0,
                 .log_length = _i & 8,
                 .mask = {.causal = _i & 2, .window = _i & 4, .left = 90, .right = 30},
                 .way = ATTN_WAY_STREAMING}};

    expect_any_number(&layer, (struct layer_options){0});
}
END_TEST

/* As many sequences as make several groups, the last a smaller one: slices of them are tasks with
 * some of the counts, all are done at once with others. Without heads rows of all sequences follow
 * each other. y is as long as x, longer, or wide and so short that a group has few of its rows. */
START_TEST(sequences_in_groups)
{
    static const int T[] = {16, 48, 100, 300};
    const int Tq = T[_i % 4], H = _i & 4 ? 3 : 1;
    const int Tk = _i < 8 ? Tq : _i < 16 ? Tq + 9 : Tq / 12;
    const struct attn_layer layer = {
        .C = 33,
        .Cy = Tk < Tq ? 144 : 33,
        .Co = 8 * H,
        .position = attn_position_find("rope"),
        .core = {.n = {(_i & 1 ? 2600 : 600) / Tq + 1, H, 1, Tq, Tk, 8, 8},
                 .kind = attn_kind_find("dot"),
                 .no_weights = true,
                 .mask = {.causal = true}}};

    expect_any_number(&layer, (struct layer_options){.cross = Tk != Tq,
                                                     .biases = true,
                                                     .output = Tq == 48,
                                                     .tied = H == 1 && Tk == Tq && Tq > 48,
                                                     .fresh = _i & 2});
}
END_TEST

/* Alone: runs of its rows are tasks. */
START_TEST(one_long_sequence)
{
    const int H = _i & 1 ? 3 : 1, Tq = _i & 2 ? 2200 : 600, Tk = _i & 4 ? 900 : Tq;
    const struct attn_layer layer = {
        .C = 33,
        .Cy = 33,
        .Co = 8 * H,
        .position = attn_position_find("rope"),
        .core = {.n = {1, H, 1, Tq, Tk, 8, 8}, .kind = attn_kind_find("dot"), .no_weights = true}};

    expect_any_number(&layer, (struct layer_options){.cross = Tk != Tq,
                                                     .biases = true,
                                                     .output = _i & 2,
                                                     .tied = H == 1 && Tk == Tq,
                                                     .fresh = !(_i & 2)});
}
END_TEST

/* Too many for sums of each slice, and brought into strips. */
START_TEST(large_weights)
{
    const struct attn_layer layer = {.C = 200 + 56 * _i,
                                     .Cy = 200 + 56 * _i,
                                     .Co = 256,
                                     .core = {.n = {20, 4, 4, 48, 48, 64, 64},
                                              .kind = attn_kind_find("dot"),
                                              .no_weights = true}};

    expect_any_number(&layer, (struct layer_options){0});
}
END_TEST

/* Large enough that no step is done by one thread for want of work. */
static const struct {
    const char *name, *settings;
} runs[] = {
    {"recall", "--task recall --steps 6 --log-every 2 --eval-size 80"},
    {"text", "--task text --data data/devils-dictionary.txt --layers 2 --heads 4 --kv-heads 2 "
             "--width 48 --mlp 100 --norm --residual --bias --length 48 --batch 12 --eval-size 20 "
             "--steps 6 --log-every 2 --clip 1"},
};
enum { RUNS = sizeof runs / sizeof *runs };

static const char *train(const char *directory, int run_index, int threads, const char *more)
{
    const char *path = scratch_path(directory);
    char said[600];

    snprintf(said, sizeof said, "%s -q --threads %d --out '%s' %s %s", program_path(PROGRAM),
             threads, path, runs[run_index].settings, more);
    const int code = run("%s", said);
    ck_assert_msg(code == 0 || (*more && code == 85), "%s: exit %d: %s", said, code, run_output);
    return path;
}

/* Every file of both, but for the times in result.json, which are taken out. */
static void expect_same_run(const char *a, const char *b, int threads)
{
    ck_assert_msg(run("for d in '%s' '%s'; do sed -i 's/, \"seconds\".*}$/}/' \"$d/result.json\" ||"
                      " exit 3; done; diff -r '%s' '%s'",
                      a, b, a, b) == 0,
                  "%d threads: %s", threads, run_output);
}

static bool finished(const char *directory)
{
    return run("test -e '%s/result.json'", directory) == 0;
}

START_TEST(every_file_of_a_run)
{
    const char *one = train("one", _i, 1, "");

    ck_assert_int_eq(
        run("test $(ls '%s' | wc -l) -ge 7 && grep -q '\"seconds\"' '%s/result.json'", one, one),
        0);
    for (int i = 0; i < COUNTS; i++) {
        const char *other = train("other", _i, counts[i], "--force");
        expect_same_run(one, other, counts[i]);
    }
}
END_TEST

START_TEST(two_hundred_steps)
{
    static const char more[] = "--steps 200 --batch 16 --force";
    const char *one = train("one", 0, 1, more);

    expect_same_run(one, train("other", 0, 2, more), 2);
    expect_same_run(one, train("other", 0, 4, more), 4);
}
END_TEST

/* Stopped after each step, and each step done by another number of threads. */
START_TEST(a_run_goes_on_with_other_threads)
{
    const char *one = train("one", _i, 1, ""), *stopped = scratch_path("stopped");
    int stops = 0;

    for (; stops < 20 && !finished(stopped); stops++)
        train("stopped", _i, counts[(stops + 3) % COUNTS], "--max-seconds 1e-9");
    ck_assert_int_eq(stops, 6);
    expect_same_run(one, stopped, counts[(stops + 2) % COUNTS]);
}
END_TEST

/* A number that is not asked for is chosen, and may not show in the files either. */
START_TEST(the_chosen_number_does_not_show)
{
    const char *one = train("one", _i, 1, ""), *chosen = scratch_path("chosen");

    ck_assert_msg(run("%s -q --out '%s' %s", program_path(PROGRAM), chosen, runs[_i].settings) == 0,
                  "%s", run_output);
    expect_same_run(one, chosen, 0);
}
END_TEST

/* Without it there would be nothing to compare. */
START_TEST(the_pool_reaches_every_layer)
{
    struct attn_threads *threads = new_threads(2);
    struct attn_settings s;
    struct attn_trainer t;
    struct attn_error e;
    int layers = 0;

    attn_settings_default(&s, attn_task_find("copy"));
    s.model.layers = 3;
    ck_assert_msg(!attn_trainer_open(&t, &s, NULL, threads, &e), "%s", e.text);
    ck_assert_ptr_eq(t.model.threads, threads);
    for (int i = 0; i < t.model.operations; i++) {
        if (t.model.operation[i].type != &attn_op_attention) continue;
        ck_assert_ptr_eq(t.model.operation[i].layer.core.threads, threads);
        layers++;
    }
    ck_assert_int_eq(layers, 3);
    attn_trainer_close(&t);
    attn_threads_free(threads);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* A layer of 16 sequences of 10 tokens, 8 wide, takes 16 10 (6 (4 8 8 + 8 10) + 12 10 8) = 0.476
 * million operations a step; a batch of 40000 takes 1190. */
START_TEST(small_steps_take_one_thread)
{
    struct attn_settings s;
    const int cores = attn_threads_cores();

    attn_settings_default(&s, attn_task_find("copy"));
    s.options.length = 10;
    s.options.symbols = 10;
    s.model.width = 8;
    s.batch = 16;
    ck_assert_int_eq(train_threads_choose(&s), 1);
    s.batch = 1888; /* 56.2 */
    ck_assert_int_eq(train_threads_choose(&s), cores < 2 ? cores : 2);
    s.batch = 40000;
    ck_assert_int_eq(train_threads_choose(&s), cores < 47 ? cores : 47);
    s.options.symbols = 0; /* refused by the task */
    ck_assert_int_eq(train_threads_choose(&s), 1);
    attn_settings_default(&s, attn_task_find("text"));
    strcpy(s.data, "/nonexistent.txt"); /* is not read */
    ck_assert_int_eq(train_threads_choose(&s), cores < 14 ? cores : 14);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(the_number_is_told)
{
    char said[32];

    for (int i = 0; i < COUNTS; i++) {
        ck_assert_int_eq(run("PATH=/nonexistent %s --steps 1 --force --threads %d --out '%s' "
                             "2>&1 >/dev/null",
                             program_path(PROGRAM), counts[i], scratch_path("told")),
                         0);
        snprintf(said, sizeof said, "%d threads\n", counts[i]);
        ck_assert_msg(!strstr(run_output, said) == (counts[i] == 1), "%s", run_output);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "order of a sum", a_sum_that_shows_its_order);
    add_loop_test(suite, "layers", layers_of_every_kind, 2 * kinds());
    add_loop_test(suite, "groups", sequences_in_groups, 24);
    add_loop_test(suite, "one long sequence", one_long_sequence, 8);
    add_loop_test(suite, "large weights", large_weights, 2);
    add_loop_test(suite, "long heads", long_heads, 16);
    add_loop_test(suite, "files", every_file_of_a_run, RUNS);
    add_test(suite, "two hundred steps", two_hundred_steps);
    add_loop_test(suite, "going on", a_run_goes_on_with_other_threads, RUNS);
    add_loop_test(suite, "chosen", the_chosen_number_does_not_show, RUNS);
    add_test(suite, "reach", the_pool_reaches_every_layer);
    add_test(suite, "chosen by size", small_steps_take_one_thread);
    add_test(suite, "told", the_number_is_told);
}
