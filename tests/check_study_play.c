/* Maps over training on a terminal: what is on it at the end, and however it is stopped. */
#include "test.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pseudo_terminal.h"
#include "study_show.h"
#include "study_trial.h"
#include "study_view.h"

enum { ROOM = 1 << 22 };
static char shown[ROOM];

static const char whole[] = "\033[0m\033[?25h"; /* colours reset, the cursor shown */

static void set_terminal(const char *colors)
{
    setenv("TERM", "xterm", 1);
    setenv("COLORTERM", colors, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
}

static int play(FILE *out, void *context)
{
    const struct terminal t = terminal_describe(out, TERMINAL_AUTO);

    study_play(out, context, -1, -1, &t);
    return fclose(out) == 0 ? 0 : 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

/* The frame alone, as it is on a screen. */
static char *frame_text(const struct study *s, int frame, int rows, int columns)
{
    const struct terminal t = {TERMINAL_256, columns, true, true};
    struct study_view v;
    char *text = NULL, *sent, *end, *from;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct screen screen;

    ck_assert(study_view_open(&v, s, -1, -1));
    study_view_frame(out, &v, frame, rows - 1, &t);
    study_view_close(&v);
    fclose(out);
    sent = malloc(2 * size + 1);
    ck_assert_ptr_nonnull(sent);
    for (end = sent, from = text; *from; from++) { /* as a terminal's driver does it */
        if (*from == '\n') *end++ = '\r';
        *end++ = *from;
    }
    *end = '\0';
    screen = screen_after(sent, 100, columns);
    free(sent);
    free(text);
    return screen.text;
}

static const struct {
    unsigned short rows, columns;
} sizes[] = {{40, 100}, {24, 80}, {12, 50}, {8, 40}, {5, 30}, {3, 20}, {2, 9}, {24, 3}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* What the film showed, to its end. */
static void expect_last_frame_alone(const struct study *s, int rows, int columns)
{
    const struct screen screen = screen_after(shown, rows, columns);
    char *want = frame_text(s, s->run.frames - 1, rows, columns);

    ck_assert_msg(strcmp(screen.text, want) == 0, "%d x %d:\n%s", rows, columns, screen.text);
    ck_assert(screen.wrapped == 0 && !screen.hidden && !screen.painted);
    ck_assert_int_eq(count(shown, "\033[J"), s->run.frames);
    free(screen.text);
    free(want);
}

/* All films at once: each takes seconds, in which nothing is done but to wait. */
START_TEST(the_last_frame_is_left_alone_on_the_screen)
{
    struct pseudo_terminal p[SIZES];
    pid_t child[SIZES];
    struct study s;
    int status;

    for (int i = 0; i < SIZES; i++)
        if (!pseudo_terminal_open(&p[i], sizes[i].rows, sizes[i].columns)) return;
    set_terminal("");
    study_train(&s, "run");
    for (int i = 0; i < SIZES; i++) child[i] = pseudo_terminal_run(&p[i], play, &s);
    for (int i = 0; i < SIZES; i++) {
        pseudo_terminal_read(&p[i], shown, 0, ROOM, NULL, 60);
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        expect_last_frame_alone(&s, sizes[i].rows, sizes[i].columns);
    }
    study_close(&s);
}
END_TEST

/* Frames that take no time to draw. */
START_TEST(at_most_twenty_frames_a_second)
{
    struct pseudo_terminal p;
    struct study s;
    double begin;
    int status;

    if (!pseudo_terminal_open(&p, 24, 80)) return;
    set_terminal("truecolor");
    study_train(&s, "run");
    begin = now();
    const pid_t child = pseudo_terminal_run(&p, play, &s);
    pseudo_terminal_read(&p, shown, 0, ROOM, NULL, 60);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_double_ge(now() - begin, 0.05 * (s.run.frames - 1));
    study_close(&s);
}
END_TEST

static const struct {
    int signal_number;
    const char *key; /* NULL: the signal is sent */
} stops[] = {{SIGINT, "\003"}, {SIGQUIT, "\034"}, {SIGTERM, NULL}, {SIGHUP, NULL}};

START_TEST(a_signal_leaves_the_terminal_whole)
{
    struct pseudo_terminal p;
    struct screen screen;
    struct study s;
    size_t used;
    int status;

    if (!pseudo_terminal_open(&p, 24, 80)) return;
    set_terminal("truecolor");
    study_train(&s, "run");
    signal(SIGHUP, SIG_DFL); /* under nohup it is ignored */
    const pid_t child = pseudo_terminal_run(&p, play, &s);
    used = pseudo_terminal_read(&p, shown, 0, ROOM, "\033[J", 60);
    ck_assert_ptr_nonnull(strstr(shown, "\033[?25l"));
    if (stops[_i].key)
        ck_assert(write(p.master, stops[_i].key, 1) == 1);
    else
        kill(child, stops[_i].signal_number);
    used = pseudo_terminal_read(&p, shown, used, ROOM, NULL, 60);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == stops[_i].signal_number,
                  "status %x after signal %d", (unsigned)status, stops[_i].signal_number);
    ck_assert_msg(used > sizeof whole && strcmp(shown + used + 1 - sizeof whole, whole) == 0,
                  "ends in %s", shown + used - 20);
    ck_assert_int_lt(count(shown, "\033[J"), s.run.frames);
    if (!stops[_i].key) {
        screen = screen_after(shown, 24, 80);
        ck_assert(!screen.hidden && !screen.painted && screen.wrapped == 0);
        free(screen.text);
    }
    study_close(&s);
}
END_TEST

START_TEST(ctrl_z_gives_the_terminal_back_and_takes_it_again)
{
    struct pseudo_terminal p;
    struct study s;
    const char *back;
    size_t used;
    int status;

    if (!pseudo_terminal_open(&p, 24, 80)) return;
    set_terminal("truecolor");
    study_train(&s, "run");
    const pid_t child = pseudo_terminal_run(&p, play, &s);
    used = pseudo_terminal_read(&p, shown, 0, ROOM, "\033[J", 60);
    /* The child leads its own session, where nobody could wake it: the kernel does not stop it. */
    kill(child, SIGTSTP);
    used = pseudo_terminal_read(&p, shown, used, ROOM, NULL, 60);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    back = strstr(shown, whole);
    ck_assert_ptr_nonnull(back);
    ck_assert_ptr_nonnull(strstr(back, "\033[?25l"));
    ck_assert_str_eq(shown + used + 1 - sizeof whole, whole);
    ck_assert_int_eq(count(shown, "\033[J"), s.run.frames);
    study_close(&s);
}
END_TEST

/* Under nohup. */
START_TEST(a_signal_that_is_ignored_stays_so)
{
    struct pseudo_terminal p;
    struct study s;
    int status;

    if (!pseudo_terminal_open(&p, 24, 80)) return;
    set_terminal("truecolor");
    study_train(&s, "run");
    signal(SIGHUP, SIG_IGN);
    const pid_t child = pseudo_terminal_run(&p, play, &s);
    pseudo_terminal_read(&p, shown, 0, ROOM, "\033[J", 60);
    kill(child, SIGHUP);
    pseudo_terminal_read(&p, shown, strlen(shown), ROOM, NULL, 60);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && count(shown, "\033[J") == s.run.frames);
    study_close(&s);
}
END_TEST

/* The lines break elsewhere: the next frame begins below. */
START_TEST(another_size_is_noticed)
{
    const struct winsize narrow = {30, 40, 0, 0};
    struct pseudo_terminal p;
    struct study s;
    size_t used;
    int status;

    if (!pseudo_terminal_open(&p, 24, 80)) return;
    set_terminal("truecolor");
    study_train(&s, "run");
    const pid_t child = pseudo_terminal_run(&p, play, &s);
    used = pseudo_terminal_read(&p, shown, 0, ROOM, "\033[J", 60);
    ck_assert(ioctl(p.master, TIOCSWINSZ, &narrow) == 0);
    pseudo_terminal_read(&p, shown, used, ROOM, NULL, 60);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && count(shown, "\033[J") == s.run.frames);
    ck_assert_int_eq(count(shown, "A\r"), s.run.frames - 2);
    study_close(&s);
}
END_TEST

START_TEST(without_a_terminal_frames_stand_one_below_the_other)
{
    const struct terminal t = {TERMINAL_PLAIN, 80, false, false};
    char *text = NULL, line[64];
    struct study s;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    study_train(&s, "run");
    study_play(out, &s, 1, 1, &t);
    fclose(out);
    ck_assert_int_eq(count(text, "\033") + count(text, "\r"), 0);
    for (int f = 0; f < s.run.frames; f++) {
        snprintf(line, sizeof line, "%srun  step %ld  frame %d of %d\n", f ? "\n\n" : "",
                 s.run.step[f], f + 1, s.run.frames);
        ck_assert_ptr_nonnull(strstr(text, line));
    }
    ck_assert_int_eq(count(text, "layer 1, head 1"), s.run.frames);
    ck_assert_int_eq(count(text, "layer 0"), 0);
    free(text);
    study_close(&s);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "last frame", the_last_frame_is_left_alone_on_the_screen);
    add_test(suite, "speed", at_most_twenty_frames_a_second);
    add_loop_test(suite, "signals", a_signal_leaves_the_terminal_whole,
                  sizeof stops / sizeof *stops);
    add_test(suite, "ctrl-z", ctrl_z_gives_the_terminal_back_and_takes_it_again);
    add_test(suite, "ignored", a_signal_that_is_ignored_stays_so);
    add_test(suite, "size", another_size_is_noticed);
    add_test(suite, "no terminal", without_a_terminal_frames_stand_one_below_the_other);
}
