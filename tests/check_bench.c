#include "test.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "attn/json.h"
#include "attn/kernels.h"
#include "bench_limits.h"
#include "bench_training.h"
#include "scratch.h"

/* A part of a second: what is tested is what is said, not how fast it was. */
static const double BRIEF = 0.002;

static const struct bench_size small[] = {
    {"two", 1, 2, 4, 1, 0}, {"small", 2, 24, 16, 2, 0}, {"panels", 1, 300, 32, 1, 0}};
enum { SMALL = sizeof small / sizeof *small };

static struct bench_plan plan_of(const struct bench_size *size, bool causal)
{
    return (struct bench_plan){.size = size,
                               .causal = causal,
                               .threads = 1,
                               .seconds = BRIEF,
                               .python = "/usr/bin/python3",
                               .torch = "scripts/peer_torch.py"};
}

/* Our own and, where it is not NULL, another. */
static void measure(struct bench_outcome *o, const struct bench_plan *plan,
                    const struct bench_peer *peer)
{
    const struct bench_peer *const peers[] = {&bench_own_layer, peer, NULL};
    struct bench_work work;
    struct attn_error e;

    ck_assert_ptr_null(bench_layer_work(&work, plan, &e));
    ck_assert_ptr_null(bench_measure(o, peers, plan, &work, &e));
    attn_free(work.input);
    ck_assert_int_eq(o->rows, peer ? 2 : 1);
}

START_TEST(sizes_are_as_promised)
{
    static const struct {
        const char *name;
        double full, causal;
    } known[] = {{"toy16", 12582912, 11108352},
                 {"toy64h1", 251658240, 202113024},
                 {"toy64h4", 251658240, 202113024},
                 {"mid256h4", 4026531840, 3224371200},
                 {"big", 82141249536, 62832771072}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bench_size *s = bench_sizes;
        while (s->name && strcmp(s->name, known[i].name) != 0) s++;
        ck_assert_msg(s->name && (s->groups & BENCH_STANDARD), "no %s", known[i].name);
        ck_assert_double_eq(bench_operations(s, false), known[i].full);
        ck_assert_double_eq(bench_operations(s, true), known[i].causal);
    }
    for (const struct bench_size *s = bench_sizes; s->name; s++)
        ck_assert_msg(s->C % s->H == 0 && s->groups, "%s", s->name);
}
END_TEST

/* Row by row of what a causal mask leaves: the sum that the formula is. */
START_TEST(operations_are_those_of_the_formulas)
{
    const struct bench_size *s = &small[1];
    const int D = s->C / s->H;
    double full = 0, causal = 0;

    for (int b = 0; b < s->B; b++)
        for (int i = 0; i < s->T; i++) {
            full += 3 * 3 * 2.0 * s->C * s->C; /* Q, K, V; forward, dx, dW */
            causal += 3 * 3 * 2.0 * s->C * s->C;
            for (int j = 0; j < s->T; j++) { /* S, O, dP, dV, dQ, dK */
                full += 6 * 2.0 * D * s->H;
                causal += j <= i ? 6 * 2.0 * D * s->H : 0;
            }
        }
    ck_assert_double_eq(bench_operations(s, false), full);
    ck_assert_double_eq(bench_operations(s, true), causal);
}
END_TEST

static void expect_timed(const struct bench_row *row)
{
    const struct bench_times *t = &row->times;

    ck_assert_str_eq(row->skipped, "");
    ck_assert_int_ge(t->steps, 3);
    ck_assert(t->forward.least > 0 && t->backward.least > 0);
    ck_assert(t->forward.median >= t->forward.least && t->step.median >= t->step.least);
    ck_assert(t->step.least >= (t->forward.least + t->backward.least) * (1 - 1e-9));
    ck_assert(row->growth >= 0 && row->growth < 64e6);
    ck_assert_int_ne(row->runs[0], 0);
}

/* What is not installed says so; anything else is a fault. */
static void expect_timed_or_absent(const struct bench_row *row)
{
    static const char *const reasons[] = {"installed", "float only", "No module named", "No such"};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(row->skipped, reasons[i])) {
            fprintf(stderr, "skipped: %s: %s\n", row->peer->name, row->skipped);
            return;
        }
    ck_assert_str_eq(row->skipped, "");
}

/* Each peer that is here gives our numbers; _i: its place, size and mask. */
START_TEST(peers_agree)
{
    const struct bench_peer *peer = bench_layer_peers[1 + _i / (2 * SMALL)];
    const struct bench_plan plan = plan_of(&small[_i / 2 % SMALL], _i % 2);
    struct bench_outcome o;

    if (peer == &bench_torch && plan.size != &small[1]) return; /* it takes a second to start */
    measure(&o, &plan, peer);
    expect_timed(&o.row[0]);
    ck_assert(o.peak > 1e8);
    expect_timed_or_absent(&o.row[1]);
    if (!o.row[1].skipped[0]) expect_timed(&o.row[1]);
}
END_TEST

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
    const struct bench_plan plan = plan_of(&small[1], false);
    struct bench_outcome o;

    spoil = faults[_i].spoil;
    measure(&o, &plan, &spoilt);
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
    const struct bench_plan plan = plan_of(&small[1], false);
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

START_TEST(the_tolerance_is_of_the_rms)
{
    struct bench_work work = {.part = {{"a", 4}, {"b", 2}}};
    const attn_real want[] = {2, -2, 2, -2, 10, -10};
    attn_real got[] = {2, -2, 2, -2, 10, -10};
    struct attn_error e;

    ck_assert_ptr_null(bench_compare(got, want, &work, &e));
    got[3] = (attn_real)-2.0019;
    got[5] = (attn_real)-10.009;
    ck_assert_ptr_null(bench_compare(got, want, &work, &e));
    got[5] = (attn_real)-10.011;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    ck_assert_ptr_eq(strstr(e.text, "b is off"), e.text);
    got[3] = (attn_real)-2.0021;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    ck_assert_ptr_eq(strstr(e.text, "a is off"), e.text);
    got[3] = (attn_real)NAN;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
    got[3] = want[3];
    got[4] = (attn_real)INFINITY;
    ck_assert_ptr_nonnull(bench_compare(got, want, &work, &e));
}
END_TEST

/* Before anything starts: nobody waits for hours, or fills the memory. */
START_TEST(what_is_too_much_is_skipped)
{
    static const struct bench_peer slow = {.name = "slow", .rate = 1e-6};
    static const struct bench_peer greedy = {.name = "greedy", .squares = 1 << 30};
    const struct bench_plan plan = plan_of(&small[1], false);
    struct bench_outcome o;

    measure(&o, &plan, &slow);
    ck_assert_msg(strstr(o.row[1].skipped, "s a step"), "%s", o.row[1].skipped);
    measure(&o, &plan, &greedy);
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

START_TEST(growth_is_what_a_step_takes)
{
    const struct bench_plan plan = plan_of(&small[1], false);
    struct bench_outcome o;

    spoil = eat;
    leave_free_memory();
    appetite = 1;
    measure(&o, &plan, &spoilt);
    expect_timed(&o.row[1]);
    ck_assert_msg(o.row[1].growth < 3e6, "%g", o.row[1].growth);
    appetite = 30 * 1000 * 1000;
    measure(&o, &plan, &spoilt);
    expect_timed(&o.row[1]);
    ck_assert_msg(o.row[1].growth > 29e6 && o.row[1].growth < 36e6, "%g", o.row[1].growth);
    appetite = 60 * 1000; /* fits into what was left free */
    const double before = o.row[0].growth;
    measure(&o, &plan, &spoilt);
    ck_assert_msg(o.row[0].growth < before + 1e6, "%g", o.row[0].growth);
}
END_TEST

/* A thread more than one: all of it still gives the same, the peers' own threads too. */
START_TEST(threads_agree)
{
    struct bench_plan plan = plan_of(&small[1 + _i % 2], _i % 2);
    struct bench_outcome o;

    plan.threads = 2;
    measure(&o, &plan, bench_layer_peers[1 + _i / 2]);
    expect_timed(&o.row[0]);
    expect_timed_or_absent(&o.row[1]);
}
END_TEST

START_TEST(limits_are_measured)
{
    struct bench_limit limit[BENCH_LIMITS];
    const int n = bench_limits(limit, 2, BRIEF);
    double own = 0;

    ck_assert_int_ge(n, 5);
    ck_assert_int_eq(n % 2, 1); /* exp by one thread only */
    for (int i = 0; i < n; i++) {
        ck_assert_msg(limit[i].value > 0.01 && limit[i].value < 1e5, "%s %g", limit[i].name,
                      limit[i].value);
        ck_assert_int_eq(limit[i].threads, 1 + i % 2);
        if (i % 2) ck_assert_str_eq(limit[i].name, limit[i - 1].name);
        if (i % 2) ck_assert(limit[i].value < 4 * limit[i - 1].value);
        if (limit[i].isa && strcmp(limit[i].isa, attn_kernels_name()) == 0) own = limit[i].value;
    }
    ck_assert(own > 0);
    ck_assert_str_eq(limit[n - 2].name, "memory");
    ck_assert_str_eq(limit[n - 1].name, "exp");
}
END_TEST

START_TEST(a_training_step_is_split)
{
    struct bench_plan plan = plan_of(NULL, false);
    struct bench_outcome o;
    struct bench_split split;
    struct bench_work work;
    struct attn_error e;
    double sum = 0;

    ck_assert_ptr_null(bench_training_work(&work, &e));
    ck_assert_ptr_null(bench_measure(&o, bench_training_peers, &plan, &work, &e));
    attn_free(work.input);
    ck_assert(o.row[0].times.step.least > 0);
    expect_timed_or_absent(&o.row[1]);
    ck_assert_ptr_null(bench_training_split(&split, &plan, &e));
    for (int i = 0; i < BENCH_TRAINING_PARTS; i++) {
        ck_assert_msg(split.part[i] > 0, "%s", bench_training_part_names[i]);
        sum += split.part[i];
    }
    ck_assert_double_eq_tol(sum, split.sum, 1e-12);
    ck_assert(bench_split_model(&split) > 0.05 && bench_split_model(&split) < 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "sizes", sizes_are_as_promised);
    add_test(suite, "operations", operations_are_those_of_the_formulas);
    add_loop_test(suite, "peers agree", peers_agree, (BENCH_PEERS - 1) * 2 * SMALL);
    add_loop_test(suite, "wrong peer", a_wrong_peer_is_refused, sizeof faults / sizeof *faults);
    add_test(suite, "our own must run", our_own_must_run);
    add_test(suite, "tolerance", the_tolerance_is_of_the_rms);
    add_test(suite, "too much", what_is_too_much_is_skipped);
    add_test(suite, "growth", growth_is_what_a_step_takes);
    add_loop_test(suite, "threads", threads_agree, 2 * (BENCH_PEERS - 2)); /* but torch */
    add_test(suite, "limits", limits_are_measured);
    add_test(suite, "training", a_training_step_is_split);
}
