#include "test.h"

#include <math.h>

#include "progress.h"

static double seconds; /* the clock of the tests */

static double test_clock(void)
{
    return seconds;
}

static char *written; /* what has been sent to the stream */
static size_t written_size;

static struct progress begin(bool redraw, long step, long steps)
{
    const struct terminal terminal = {TERMINAL_PLAIN, 80, redraw, false};
    struct progress p = {.clock = test_clock};

    unsetenv("COLUMNS");
    free(written);
    written = NULL;
    progress_start(&p, open_memstream(&written, &written_size), &terminal, step, steps);
    return p;
}

static void finish(struct progress *p)
{
    progress_finish(p);
    fclose(p->stream);
}

static int count(const char *text)
{
    int n = 0;

    for (const char *s = written; (s = strstr(s, text)); s++) n++;
    return n;
}

static const double unknown = (double)NAN;

START_TEST(redrawn_at_most_ten_times_a_second)
{
    struct progress p = begin(true, 0, 3000);

    for (int i = 1; i <= 3000; i++) {
        seconds = i * 0.001;
        progress_update(&p, i, 1, unknown, unknown);
    }
    finish(&p);
    ck_assert_int_ge(count("\r"), 28);
    ck_assert_int_le(count("\r"), 31);
    ck_assert_int_eq(count("\033[K"), count("\r"));
    ck_assert_int_eq(count("\n"), 1);
    ck_assert_int_eq(written[written_size - 1], '\n');
    ck_assert_int_eq(count("step 3000/3000"), 1); /* the last one, whenever it came */
}
END_TEST

START_TEST(a_log_gets_a_line_each_ten_seconds)
{
    struct progress p = begin(false, 0, 1000);

    for (int i = 1; i <= 210; i++) {
        seconds = i * 0.5;
        progress_update(&p, i, 1, unknown, unknown);
    }
    finish(&p);
    ck_assert_int_eq(count("\n"), 11); /* at 10, 20, ... 100 s, and the last */
    ck_assert_int_eq(count("step 20/1000"), 1);
    ck_assert_int_eq(count("step 210/1000"), 1);
    ck_assert_int_eq(count("\r") + count("\033"), 0);
}
END_TEST

START_TEST(a_short_run_leaves_one_line)
{
    struct progress p = begin(false, 0, 2);

    seconds = 0;
    progress_update(&p, 1, 2, unknown, unknown);
    seconds = 0.5;
    progress_update(&p, 2, 0.25, 0.5, 0.75);
    finish(&p);
    ck_assert_str_eq(written,
                     "step 2/2  loss 0.2500  accuracy 0.500  target mass 0.750  4.0 steps/s\n");
}
END_TEST

START_TEST(nothing_happened_nothing_said)
{
    for (int redraw = 0; redraw < 2; redraw++) {
        struct progress p = begin(redraw, 5, 5);
        finish(&p);
        ck_assert_uint_eq(written_size, 0);
    }
}
END_TEST

START_TEST(what_is_unknown_is_left_out)
{
    struct progress p = {.steps = 100, .step = 7, .loss = 1.5};
    char line[128];

    p.accuracy = p.target_mass = unknown;
    progress_line(line, sizeof line, &p, 80);
    ck_assert_str_eq(line, "step 7/100  loss 1.5000");
    p.target_mass = 0.25;
    progress_line(line, sizeof line, &p, 80);
    ck_assert_str_eq(line, "step 7/100  loss 1.5000  target mass 0.250");
    p.loss = unknown; /* a training that diverges is not to look fine */
    p.accuracy = 0.5;
    p.target_mass = (double)INFINITY;
    progress_line(line, sizeof line, &p, 80);
    ck_assert_str_eq(line, "step 7/100  loss nan  accuracy 0.500");
    p.loss = -unknown;
    progress_line(line, sizeof line, &p, 80);
    ck_assert_str_eq(line, "step 7/100  loss nan  accuracy 0.500");
    p.loss = 123456;
    progress_line(line, sizeof line, &p, 80);
    ck_assert_str_eq(line, "step 7/100  loss 1.235e+05  accuracy 0.500");
}
END_TEST

static const struct {
    double rate;
    long left;
    const char *text;
} speeds[] = {
    {100, 2000, "0:20 left  100 steps/s"},
    {812.4, 1, "0:01 left  812 steps/s"},
    {5, 3000, "10:00 left  5.0 steps/s"},
    {1, 3661, "1:01:01 left  1.0 steps/s"},
    {0.5, 86400, "2.0 days left  2.0 s/step"},
    {0.01, 9, "15:00 left  100.0 s/step"},
    {1e-9, 2000000000, "23148148148148.1 days left  1000000000.0 s/step"},
};

START_TEST(time_left_and_speed)
{
    struct progress p = {.steps = speeds[_i].left + 5, .step = 5, .rate = speeds[_i].rate};
    char line[256];

    p.accuracy = p.target_mass = unknown;
    progress_line(line, sizeof line, &p, 200);
    ck_assert_ptr_nonnull(strstr(line, "left"));
    ck_assert_str_eq(strstr(line, "loss 0.0000  ") + 13, speeds[_i].text);
}
END_TEST

START_TEST(speed_counts_from_where_the_run_went_on)
{
    struct progress p;

    seconds = 0;
    p = begin(true, 9000, 10000);
    for (int i = 1; i <= 200; i++) {
        seconds = i * 0.01;
        progress_update(&p, 9000 + i, 1, unknown, unknown);
    }
    ck_assert_double_eq_tol(p.rate, 100, 0.01);
    finish(&p);
    ck_assert_int_eq(count("0:08 left  100 steps/s"), 1);
}
END_TEST

START_TEST(speed_follows_a_slower_machine)
{
    struct progress p;
    int i = 0;

    seconds = 0;
    p = begin(true, 0, 100000);
    for (; i < 1000; seconds += 0.001) progress_update(&p, ++i, 1, unknown, unknown);
    ck_assert_double_eq_tol(p.rate, 1000, 10);
    for (int k = 0; k < 300; k++, seconds += 0.1) progress_update(&p, ++i, 1, unknown, unknown);
    ck_assert_double_eq_tol(p.rate, 10, 5);
    finish(&p);
}
END_TEST

START_TEST(cut_between_fields)
{
    struct progress p = {.steps = 3000, .step = 1234, .loss = 0.1234, .rate = 812};
    char full[256], line[256];

    p.accuracy = 0.981;
    p.target_mass = 0.873;
    progress_line(full, sizeof full, &p, 255);
    ck_assert_str_eq(full, "step 1234/3000  loss 0.1234  accuracy 0.981  target mass 0.873  "
                           "0:03 left  812 steps/s");
    for (int width = -1; width <= (int)strlen(full); width++) {
        progress_line(line, sizeof line, &p, width);
        const size_t n = strlen(line);
        ck_assert(width < 0 ? n == 0 : n <= (size_t)width);
        ck_assert(strncmp(full, line, n) == 0);
        ck_assert_msg(!full[n] || n == 0 || strncmp(full + n, "  ", 2) == 0, "\"%s\"", line);
    }
    ck_assert_str_eq(line, full);
}
END_TEST

START_TEST(never_wider_than_the_terminal)
{
    struct progress p = begin(true, 0, 10);

    setenv("COLUMNS", "30", 1);
    progress_update(&p, 1, 1, 0.5, 0.5);
    finish(&p);
    ck_assert_str_eq(written, "\rstep 1/10  loss 1.0000\033[K\n");
}
END_TEST

START_TEST(the_systems_clock)
{
    const struct terminal terminal = {TERMINAL_PLAIN, 80, true, false};
    struct progress p = {0};
    double before;

    progress_start(&p, open_memstream(&written, &written_size), &terminal, 0, 1000000000);
    before = p.clock();
    for (long i = 1; p.clock() < before + 0.35; i++) progress_update(&p, i, 1, unknown, unknown);
    finish(&p);
    ck_assert_int_ge(count("\r"), 2);
    ck_assert_int_le(count("\r"), 6);
    ck_assert_int_ge(count("steps/s"), 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "redraw", redrawn_at_most_ten_times_a_second);
    add_test(suite, "log", a_log_gets_a_line_each_ten_seconds);
    add_test(suite, "short run", a_short_run_leaves_one_line);
    add_test(suite, "nothing", nothing_happened_nothing_said);
    add_test(suite, "unknown", what_is_unknown_is_left_out);
    add_loop_test(suite, "time left", time_left_and_speed, sizeof speeds / sizeof *speeds);
    add_test(suite, "resumed", speed_counts_from_where_the_run_went_on);
    add_test(suite, "slower", speed_follows_a_slower_machine);
    add_test(suite, "cut", cut_between_fields);
    add_test(suite, "narrow", never_wider_than_the_terminal);
    add_test(suite, "clock", the_systems_clock);
}
