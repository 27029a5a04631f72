/* train - trains a task, writes a run directory. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "attn/run.h"
#include "cli.h"
#include "plot.h"
#include "progress.h"
#include "train_options.h"
#include "train_show.h"
#include "train_threads.h"

#ifdef ATTN_DOUBLE
#define PROGRAM "train64"
#else
#define PROGRAM "train"
#endif

static volatile sig_atomic_t stop_signal;

static void on_signal(int signal_number)
{
    stop_signal = signal_number;
}

/* The first signal ends the training after its step; a second one at once. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps until the end, a signal, the time limit, or something goes wrong. */
static const char *train(struct attn_run *run, const struct train_options *o, double start,
                         struct attn_error *e)
{
    const struct terminal terminal = terminal_describe(stderr, o->color);
    struct progress progress = {0};
    const char *wrong = NULL;
    bool timeout = false;

    progress_start(&progress, stderr, &terminal, run->trainer.step, run->trainer.settings.steps);
    while (attn_run_more(run) && !wrong && !stop_signal && !timeout) {
        wrong = attn_run_step(run, e);
        if (!wrong && run->trainer.step % o->save_every == 0) wrong = attn_run_save(run, e);
        if (!o->quiet)
            progress_update(&progress, run->trainer.step, run->trainer.loss, run->scores.accuracy,
                            run->scores.target_mass);
        timeout = o->max_seconds > 0 && now() - start >= o->max_seconds;
    }
    if (!o->quiet) progress_finish(&progress);
    return wrong;
}

static int stopped(struct attn_run *run, const struct train_options *o)
{
    struct attn_error e;

    if (attn_run_save(run, &e)) return cli_die(PROGRAM, &e);
    fprintf(stderr, PROGRAM ": stopped at step %ld of %d, saved; go on with: ", run->trainer.step,
            run->trainer.settings.steps);
    cli_print_word(stderr, o->command);
    fprintf(stderr, " --resume ");
    cli_print_word(stderr, run->directory);
    fprintf(stderr, "\n");
    if (stop_signal != SIGINT) return ATTN_STOPPED;
    attn_run_close(run);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    return ATTN_STOPPED;
}

static void show(struct attn_run *run, const struct train_options *o)
{
    const struct terminal terminal = terminal_describe(stderr, o->color);
    char words[PLOT_WORDS];

    train_show_scores(run);
    train_show_sample(run);
    if (run->trainer.settings.model.layers && (o->show || isatty(STDERR_FILENO)))
        train_show_attention(run, &terminal);
    plot_run(run->directory, words);
    fprintf(stderr, "%s\n", words);
}

static int print_result(const struct attn_run *run)
{
    fwrite(run->result.data, 1, run->result.size, stdout);
    return cli_close_stdout(PROGRAM, (int)run->fault);
}

static int work(struct attn_run *run, const struct train_options *o)
{
    const int threads = attn_threads_count(run->trainer.model.threads);
    const double start = now();
    enum attn_fault fault = ATTN_FINE;
    struct attn_error e;

    if (run->finished) {
        if (!o->quiet) fprintf(stderr, PROGRAM ": %s is finished\n", run->directory);
        return print_result(run);
    }
    if (run->trainer.data.note && !o->quiet) fprintf(stderr, "%s\n", run->trainer.data.note);
    if (run->trainer.step > 0 && !o->quiet)
        fprintf(stderr, "%s: going on at step %ld\n", run->directory, run->trainer.step);
    if (threads > 1 && !o->quiet) fprintf(stderr, "%d threads\n", threads);
    if (train(run, o, start, &e)) {
        if (e.fault != ATTN_DIVERGED) return cli_die(PROGRAM, &e);
        cli_die(PROGRAM, &e);
        fault = e.fault;
    } else if (attn_run_more(run)) {
        return stopped(run, o);
    }
    if (attn_run_finish(run, now() - start, fault, &e)) return cli_die(PROGRAM, &e);
    if (!o->quiet && fault == ATTN_FINE) show(run, o);
    return print_result(run);
}

int main(int argc, char **argv)
{
    struct attn_threads *threads;
    struct train_options o;
    struct attn_run run;
    struct attn_error e;
    char path[ATTN_DATA_PATH + 64];
    int code = train_options_read(&o, PROGRAM, argc, argv);

    if (code != CLI_GO_ON) return code;
    if (attn_kernels_choose(&e)) return cli_die(PROGRAM, &e);
    catch_signals();
    if (train_threads_open(&threads, &o, &e)) return cli_die(PROGRAM, &e);
    if (attn_run_open(&run, o.out, &o.settings, train_data_path(&o, path), o.force, threads, &e)) {
        code = cli_die(PROGRAM, &e);
    } else {
        code = work(&run, &o);
        attn_run_close(&run);
    }
    attn_threads_free(threads);
    return code;
}
