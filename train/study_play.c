/* The maps of a run over training, in place. */
#define _GNU_SOURCE /* open_memstream */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

#include "study_show.h"
#include "study_view.h"

/* A film lasts about `seconds`, as far as the pauses allow that. */
static const double least_pause = 0.05, most_pause = 0.5, seconds = 6;

static volatile sig_atomic_t stop_signal;

static void on_signal(int signal_number)
{
    stop_signal = signal_number;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* Signals come only while the film waits, so that no frame is cut in the middle. What was
 * ignored before stays so: under nohup, for one. */
struct caught {
    sigset_t mask; /* before */
    struct sigaction action[SIGNALS];
};

static void catch_signals(struct caught *c)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;

    stop_signal = 0;
    sigemptyset(&action.sa_mask);
    sigemptyset(&blocked);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &c->mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &c->action[i]);
        if (c->action[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
}

/* A signal that came since is then on_signal's no more, but does what it did before. */
static void release_signals(const struct caught *c)
{
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &c->action[i], NULL);
    sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double due, const struct caught *c)
{
    for (double left = due - now(); left > 0 && !stop_signal; left = due - now()) {
        const struct timespec t = {(time_t)left, (long)((left - floor(left)) * 1e9)};
        pselect(0, NULL, NULL, NULL, &t, &c->mask);
    }
}

struct film {
    FILE *out;
    struct study_view view;
    struct terminal terminal;
    int height;
    int lines; /* of the frame that is shown; 0: none */
};

/* Over the frame before: up to its first line, each line then cleared behind its end, what is
 * left of a longer frame cleared below. What is written over goes last, so that nothing flickers.
 */
static void draw(struct film *f, int frame)
{
    char *text = NULL, *from, *end;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    int lines;

    if (!memory) return;
    lines = study_view_frame(memory, &f->view, frame, f->height - 1, &f->terminal);
    if (fclose(memory) != 0) {
        free(text);
        return;
    }
    if (f->lines) fprintf(f->out, "\033[%dA", f->lines);
    fputc('\r', f->out);
    for (from = text; (end = strchr(from, '\n')) != NULL; from = end + 1)
        fprintf(f->out, "%.*s\033[K\n", (int)(end - from), from);
    fputs("\033[J", f->out);
    fflush(f->out);
    f->lines = lines;
    free(text);
}

static const char hide[] = "\033[?25l", show[] = "\033[0m\033[?25h";

/* Another size breaks the lines elsewhere, so that there is no way back up. */
static void look_at_size(struct film *f)
{
    const int width = terminal_width(f->out), height = terminal_height(f->out);

    if (width != f->terminal.width || height != f->height) f->lines = 0;
    f->terminal.width = width;
    f->height = height;
}

/* Ctrl-Z: as the terminal was, until the program goes on. */
static void pause_program(struct film *f, struct caught *c)
{
    fputs(show, f->out);
    fflush(f->out);
    release_signals(c);
    raise(SIGTSTP);
    catch_signals(c);
    fputs(hide, f->out);
    f->lines = 0;
}

static void play_in_place(struct film *f)
{
    const int frames = f->view.s->run.frames;
    /* More than the eye or the patience can take are passed over. */
    const int shown = frames < 240 ? frames : 240;
    const double pause = fmax(least_pause, fmin(most_pause, seconds / shown));
    struct caught caught;
    double due = now();

    catch_signals(&caught);
    fputs(hide, f->out);
    for (int i = 0; i < shown && !stop_signal && !ferror(f->out); i++) {
        look_at_size(f);
        draw(f, shown > 1 ? (int)((long long)i * (frames - 1) / (shown - 1)) : 0);
        due = fmax(due + pause, now() + least_pause);
        if (i + 1 < shown) wait_until(due, &caught);
        if (stop_signal == SIGTSTP) {
            pause_program(f, &caught);
            due = now();
        }
    }
    /* Ctrl-C drops what the terminal has not shown yet: the cursor may be within a frame. */
    if (stop_signal) fputs("\033[J", f->out);
    fputs(show, f->out);
    fflush(f->out);
    release_signals(&caught);
    if (stop_signal) raise(stop_signal);
}

void study_play(FILE *out, const struct study *s, int layer, int head, const struct terminal *t)
{
    struct film f = {.out = out, .terminal = *t, .height = 0};

    if (s->run.frames == 0 || s->run.B == 0 || s->run.T == 0) {
        study_show_map(out, s, -1, layer, head, t);
        return;
    }
    if (!study_view_open(&f.view, s, layer, head)) {
        fprintf(out, "no memory left to play the maps\n");
        return;
    }
    if (t->redraw) {
        f.terminal.width = terminal_width(out);
        f.height = terminal_height(out);
        play_in_place(&f);
    } else {
        for (int i = 0; i < s->run.frames && !ferror(out); i++) {
            if (i) fputc('\n', out);
            study_view_frame(out, &f.view, i, 0, t);
        }
    }
    study_view_close(&f.view);
}
