/* Maps and the loss of a run, as they are printed. */
#include "test.h"

#include <math.h>

#include "attn/npy.h"
#include "fake_run.h"
#include "study_show.h"
#include "study_trial.h"
#include "terminal_line.h"

static const struct terminal plain = {TERMINAL_PLAIN, 80, false, true};
static const struct terminal full = {TERMINAL_RGB, 80, false, true};
static const struct terminal ascii = {TERMINAL_PLAIN, 80, false, false};

static char *show_map(const struct study *s, long step, int layer, int head,
                      const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    study_show_map(out, s, step, layer, head, t);
    fclose(out);
    return text;
}

static char *show_loss(const struct study *s, const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    study_show_loss(out, s, t);
    fclose(out);
    return text;
}

static bool holds(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Token 0 has no target, token 2 sees all; of two frames the second is at step 4. */
static void record(const char *directory, const float maps[2][9], const char *const token[3])
{
    const size_t shape[6] = {2, 1, 1, 1, 3, 3};
    struct attn_error e;
    char probe[512];

    snprintf(probe, sizeof probe,
             "sequence\tposition\ttoken\tright\tlo\thi\tcounted\n"
             "0\t0\t%s\t-\t0\t1\t0\n0\t1\t%s\t0\t0\t2\t1\n0\t2\t%s\t1\t0\t3\t1\n",
             token[0], token[1], token[2]);
    fake_run_text(directory, "probe.tsv", probe);
    fake_run_text(directory, "frames.tsv", "frame\tstep\n0\t0\n1\t4\n");
    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), maps[0], 6, shape, &e));
}

static const char *make_run(const char *const token[3])
{
    static const float maps[2][9] = {{1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.5f, 0.25f},
                                     {1, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0}};
    const char *directory = study_fake("run", 1, "1", NULL);

    record(directory, maps, token);
    return directory;
}

START_TEST(a_map_in_whole)
{
    static const char *const token[] = {"a", "b", "c"};
    struct study s;
    char *text;

    study_must_open(&s, make_run(token));
    text = show_map(&s, 1, 0, 0, &ascii);
    ck_assert_str_eq(text, "run  step 0  frame 1 of 2\n"
                           "  head 0\n"
                           "  a b c \n"
                           "b ++++  \n"
                           "c ::++::\n"
                           "  0   ..::--==++++**##%%@@ 1\n"
                           "\n"
                           "layer 0, head 0: entropy 0.866 nats, 2.41 effective keys, target mass "
                           "0.500, right at 100 % of its queries\n"
                           "1 b -> 0 a  0.500\n"
                           "2 c -> 1 b  0.500\n");
    free(text);
    text = show_map(&s, -1, -1, -1, &ascii);
    ck_assert(holds(text, "run  step 4  frame 2 of 2\n") && holds(text, "c   @@  \n"));
    ck_assert(holds(text, "target mass 0.625, right at 50 % of its queries\n"));
    free(text);
    study_close(&s);
}
END_TEST

/* As probe.tsv writes them: a newline, a backslash and an n, an escape of a terminal, what turns
 * the direction of writing, and scripts of two columns. */
START_TEST(any_token_is_shown_safely_and_in_line)
{
    static const char *const tokens[][3] = {
        {"\\n", "\\\\n", "\\x1B[2J"},
        {"猫", "한국어", "e\xcc\x81"},
        {"\xe2\x80\xae"
         "evil",
         "\xe2\x80\x8b", "\xf0\x9f\x98\x80"},
        {"<script>", "\"'&", "a very long token that is cut somewhere"},
    };
    static const struct terminal *const terminals[] = {&plain, &full, &ascii};
    struct study s;

    study_must_open(&s, make_run(tokens[_i]));
    for (int t = 0; t < 3; t++) {
        char *text = show_map(&s, -1, -1, -1, terminals[t]);
        const char *at = text;
        int columns;
        take_line(&at); /* the title */
        columns = take_line(&at);
        while (*at && *at != '\n' && !(at[0] == ' ' && holds(at, " 0 ") && strspn(at, " ") > 20)) {
            const char *line = at;
            const int own = take_line(&at);
            if (strncmp(line + strspn(line, " "), "0 ", 2) == 0) break;
            ck_assert_msg(own == columns, "%d columns, not %d:\n%s", own, columns, text);
        }
        while (*at) take_line(&at);
        free(text);
    }
    if (_i == 0) {
        char *text = show_map(&s, -1, -1, -1, &plain);
        ck_assert(holds(text, "↵") && holds(text, "\\n") && holds(text, "\\x1B[2J"));
        free(text);
    }
    study_close(&s);
}
END_TEST

/* Of any sign: as bright as the size, from nothing to the largest of all frames. */
START_TEST(coefficients_are_shown_by_their_size)
{
    static const float maps[2][9] = {{-4, 0, 0, 1, 1, 0, 1, 1, 1},
                                     {1, 0, 0, -2, 1, 0, 0.5f, 4, -1}};
    static const char *const token[3] = {"a", "b", "c"};
    const char *directory = study_fake("run", 1, "1, \"kind\": \"linear-identity\"", NULL);
    struct study s;
    char *text;

    record(directory, maps, token);
    study_must_open(&s, directory);
    text = show_map(&s, -1, 0, 0, &ascii);
    ck_assert_msg(holds(text, "\nb ++::  \nc ..@@::\n  0   ..::--==++++**##%%@@ 4\n"), "%s", text);
    ck_assert_msg(holds(text, "head 0: 0.706 of all |weight| on right keys, right at 100 % of its "
                              "queries\n1 b -> 0 a  -2.000\n2 c -> 1 b  4.000\n"),
                  "%s", text);
    free(text);
    study_close(&s);
}
END_TEST

START_TEST(layers_and_heads_are_chosen)
{
    static const struct {
        int layer, head, maps;
        const char *with, *without;
    } cases[] = {
        {-1, -1, 4, "layer 1, head 1", "layer 2"},
        {1, -1, 2, "layer 1, head 0", "layer 0"},
        {-1, 1, 2, "layer 0, head 1", "head 0"},
        {0, 1, 1, "layer 0, head 1", "layer 1"},
    };
    struct study s;

    study_train(&s, "run");
    for (int i = 0; i < 4; i++) {
        char *text = show_map(&s, -1, cases[i].layer, cases[i].head, &plain);
        int numbers = 0;
        for (const char *at = text; (at = strstr(at, ": entropy ")) != NULL; at++) numbers++;
        ck_assert_int_eq(numbers, cases[i].maps);
        ck_assert(holds(text, cases[i].with) && !holds(text, cases[i].without));
        ck_assert_int_eq(holds(text, " -> "), cases[i].maps == 1);
        free(text);
    }
    study_close(&s);
}
END_TEST

START_TEST(the_loss_and_what_is_known_with_it)
{
    static const char rows[] = "step\tloss\teval_loss\taccuracy\ttarget_mass\n"
                               "1\t4\t4\t0\t0.25\n2\t3\tnan\tnan\tnan\n3\t2\t2\t0.5\t0.5\n"
                               "4\t1\tnan\tnan\tnan\n5\t1\t1\t1\t0.75\n";
    struct study s;
    char *text;

    study_must_open(&s, study_fake("run", 1, "1", rows));
    text = show_loss(&s, &plain);
    ck_assert(strncmp(text, "run\n          held-out loss (nats)\n       4 │█", 42) == 0);
    ck_assert(!holds(text, "training loss") && !holds(text, "?"));
    ck_assert(holds(text, "\n          accuracy\n       1 │"));
    ck_assert(holds(text, "target mass: attention on the right keys\n"));
    ck_assert(holds(text, "held-out loss (nats) 4 to 1, accuracy 0 to 1, target mass 0.25 to "
                          "0.75\n"));
    ck_assert(holds(text, "target mass reaches one half at step 3\n"));
    free(text);
    study_close(&s);
}
END_TEST

START_TEST(runs_that_are_not_whole)
{
    static const struct {
        const char *metrics, *has;
    } runs[] = {
        {NULL, "run-0: no step has been logged\n"},
        {"step\tloss\n", "run-1: no step has been logged\n"},
        {"step\tloss\n7\t0.5\n", "training loss\n"},
        {"step\tloss\n1\tnan\n2\tinf\n", "training loss\n"},
        {"step\tloss\teval_loss\taccuracy\n1\t4\t4\tnan\n2\t3\t3\tnan\n", "held-out loss 4 to 3\n"},
    };
    struct study s;
    char name[16], *text;

    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "run-%d", i);
        study_must_open(&s, study_fake(name, 1, "1", runs[i].metrics));
        text = show_loss(&s, &ascii);
        ck_assert_msg(holds(text, runs[i].has), "%s", text);
        for (const char *at = text; *at;) ck_assert_int_le(take_line(&at), 80);
        free(text);
        text = show_map(&s, -1, -1, -1, &ascii);
        snprintf(name, sizeof name, "run-%d: ", i);
        ck_assert(strncmp(text, name, strlen(name)) == 0 && holds(text, "no maps were recorded\n"));
        free(text);
        study_close(&s);
    }
}
END_TEST

START_TEST(a_name_moves_no_cursor)
{
    struct study s;
    char *text;

    study_must_open(&s, study_fake("\033[2J\r\a", 1, "1", "step\tloss\n1\t2\n"));
    text = show_loss(&s, &plain);
    ck_assert(strncmp(text, "\\x1B[2J\\r\\x07\n", 14) == 0);
    for (const char *at = text; *at;) take_line(&at);
    free(text);
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "map", a_map_in_whole);
    add_test(suite, "coefficients", coefficients_are_shown_by_their_size);
    add_loop_test(suite, "tokens", any_token_is_shown_safely_and_in_line, 4);
    add_test(suite, "heads", layers_and_heads_are_chosen);
    add_test(suite, "loss", the_loss_and_what_is_known_with_it);
    add_test(suite, "not whole", runs_that_are_not_whole);
    add_test(suite, "name", a_name_moves_no_cursor);
}
