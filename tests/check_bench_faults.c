/* Peers with a fault: the benchmark must not let them pass. */
#include "test.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "bench_trial.h"

/* A peer that is the textbook's, but for one fault. */
static void (*spoil)(const struct bench_view *v);
static struct bench_view seen;
static void *book;
static const struct bench_plan *spoilt_plan;

static const char *open_spoilt(void **state, const struct bench_plan *plan, char words[BENCH_WORDS],
                               struct attn_error *e)
{
    spoilt_plan = plan;
    *state = &book;
    return bench_textbook.open(&book, plan, words, e);
}

static const char *begin_spoilt(void *state, void *input, attn_real *result, struct attn_error *e)
{
    (void)state;
    seen = bench_layer_view(spoilt_plan->size, input, result);
    return bench_textbook.begin(book, input, result, e);
}

static void step_spoilt(void *state, double seconds[2])
{
    (void)state;
    bench_textbook.step(book, seconds);
    spoil(&seen);
}

static void close_spoilt(void *state)
{
    (void)state;
    bench_textbook.close(book);
}

static const struct bench_peer spoilt = {.name = "spoilt",
                                         .open = open_spoilt,
                                         .begin = begin_spoilt,
                                         .step = step_spoilt,
                                         .close = close_spoilt};

static void leave(const struct bench_view *v)
{
    (void)v;
}

static void turn_dx(const struct bench_view *v)
{
    for (size_t i = 0; i < v->rows * v->width; i++) v->dx[i] = -v->dx[i];
}

static void forget_dx(const struct bench_view *v)
{
    memset(v->dx, 0, v->rows * v->width * sizeof *v->dx);
}

static void stretch_dwk(const struct bench_view *v)
{
    for (size_t i = v->square; i < 2 * v->square; i++) v->dw[i] *= (attn_real)1.01;
}

static void move_one_dwv(const struct bench_view *v)
{
    v->dw[3 * v->square - 1] += (attn_real)0.5;
}

static void lose_one_out(const struct bench_view *v)
{
    v->out[v->rows * v->width - 1] = (attn_real)NAN;
}

static void die(const struct bench_view *v)
{
    (void)v;
    raise(SIGKILL);
}

static void end(const struct bench_view *v)
{
    (void)v;
    _exit(0);
}

static const struct {
    void (*spoil)(const struct bench_view *v);
    const char *says; /* NULL: nothing is wrong */
} faults[] = {{leave, NULL},         {turn_dx, "dx is off"},        {forget_dx, "dx is off"},
              {stretch_dwk, "dW_K"}, {move_one_dwv, "dW_V is off"}, {lose_one_out, "out is off"},
              {die, "by signal 9"},  {end, "ended early"}};

START_TEST(a_wrong_peer_is_refused)
{
    const struct bench_plan plan = small_plan(&small_sizes[1], false);
    struct bench_outcome o;

    spoil = faults[_i].spoil;
    measure_beside(&o, &plan, &spoilt);
    expect_timed(&o.row[0]);
    if (!faults[_i].says) {
        expect_timed(&o.row[1]);
        return;
    }
    ck_assert_msg(strstr(o.row[1].skipped, faults[_i].says), "'%s'", o.row[1].skipped);
    ck_assert_int_eq(o.row[1].times.steps, 0);
}
END_TEST

/* What takes part as the first decides: without it there is nothing to compare. */
START_TEST(our_own_must_run)
{
    const struct bench_plan plan = small_plan(&small_sizes[1], false);
    const struct bench_peer *const peers[] = {&spoilt, &bench_textbook, NULL};
    struct bench_outcome o;
    struct bench_work work;
    struct attn_error e;

    spoil = end;
    ck_assert_ptr_null(bench_layer_work(&work, &plan, &e));
    ck_assert_ptr_nonnull(bench_measure(&o, peers, &plan, &work, &e));
    ck_assert_msg(strstr(e.text, "ended early"), "%s", e.text);
    attn_free(work.input);
}
END_TEST

/* Before anything starts: nobody waits for hours, or fills the memory. */
START_TEST(what_is_too_much_is_skipped)
{
    static const struct bench_peer slow = {.name = "slow", .rate = 1e-6};
    static const struct bench_peer greedy = {.name = "greedy", .squares = 1 << 30};
    const struct bench_plan plan = small_plan(&small_sizes[1], false);
    struct bench_outcome o;

    measure_beside(&o, &plan, &slow);
    ck_assert_msg(strstr(o.row[1].skipped, "s a step"), "%s", o.row[1].skipped);
    measure_beside(&o, &plan, &greedy);
    ck_assert_msg(strstr(o.row[1].skipped, "GB"), "%s", o.row[1].skipped);
    ck_assert(bench_textbook.rate > 0 && bench_textbook.squares > 0);
}
END_TEST

/* A peer that takes so many bytes, and gives them back in every step. */
static size_t appetite;
static unsigned char *volatile eaten;

static void eat(const struct bench_view *v)
{
    (void)v;
    eaten = attn_alloc(appetite, 1);
    for (size_t i = 0; eaten && i < appetite; i += 512)
        eaten[i] = 1; /* until touched, it is not there */
    attn_free(eaten);
}

/* Memory that the parent had given back to the C library is no gift to a child. */
static void leave_free_memory(void)
{
    enum { PIECES = 400, PIECE = 100000 };
    static void *piece[PIECES];

    for (int i = 0; i < PIECES; i++) memset(piece[i] = malloc(PIECE), 1, PIECE);
    for (int i = 0; i < PIECES - 1; i++) free(piece[i]); /* the last keeps the heap up */
}

/* The thread sanitizer keeps a few bytes for each; others keep what was freed. */
#ifdef __SANITIZE_THREAD__
static const double SHADOW = 6;
#elif defined SANITIZED
static const double SHADOW = 2;
#else
static const double SHADOW = 1;
#endif

START_TEST(growth_is_what_a_step_takes)
{
    const struct bench_plan plan = small_plan(&small_sizes[1], false);
    struct bench_outcome o;

    spoil = eat;
    leave_free_memory();
    appetite = 1;
    measure_beside(&o, &plan, &spoilt);
    expect_timed(&o.row[1]);
    ck_assert_msg(o.row[1].growth < 3e6 * SHADOW, "%g", o.row[1].growth);
    appetite = 30 * 1000 * 1000;
    measure_beside(&o, &plan, &spoilt);
    expect_timed(&o.row[1]);
    ck_assert_msg(o.row[1].growth > 29e6 && o.row[1].growth < 36e6 * SHADOW, "%g", o.row[1].growth);
    appetite = 60 * 1000; /* fits into what was left free */
    const double before = o.row[0].growth;
    measure_beside(&o, &plan, &spoilt);
    ck_assert_msg(o.row[0].growth < before + 1e6 * SHADOW, "%g", o.row[0].growth);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "wrong peer", a_wrong_peer_is_refused, sizeof faults / sizeof *faults);
    add_test(suite, "our own must run", our_own_must_run);
    add_test(suite, "too much", what_is_too_much_is_skipped);
    add_test(suite, "growth", growth_is_what_a_step_takes);
}
