#include "bench_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "bench_serve.h"

/* No child outlives the program, whatever ends it, or answers for it. */
static void end_with_parent(pid_t parent)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

bool bench_apart(void (*measure)(void *context, void *result), void *context, void *result,
                 size_t bytes)
{
    const pid_t parent = getpid();
    int channel[2];
    pid_t child;

    if (pipe(channel)) return false;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        end_with_parent(parent);
        measure(context, result);
        _exit(write(channel[1], result, bytes) != (ssize_t)bytes);
    }
    close(channel[1]);
    const bool whole = child > 0 && read(channel[0], result, bytes) == (ssize_t)bytes;
    close(channel[0]);
    return child > 0 && wait_for(child) == 0 && whole;
}

static _Noreturn void be_worker(const struct bench_peer *peer, const struct bench_plan *plan,
                                const struct bench_work *work, int in, int out)
{
    struct attn_error e;
    FILE *to;

    if (!peer->become) {
        bench_serve(peer, plan, work, in, out);
        _exit(0);
    }
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0) _exit(1);
    close(in);
    close(out);
    signal(SIGPIPE, SIG_DFL);
    to = fdopen(1, "w");
    if (to && peer->become(plan, &e)) fprintf(to, "absent %s\n", e.text);
    if (to) fflush(to);
    _exit(0);
}

static const char *ended_early(struct bench_worker *w, struct attn_error *e)
{
    int status;

    if (w->to) fclose(w->to);
    if (w->from) fclose(w->from);
    if (w->stops) kill(w->pid, SIGCONT);
    kill(w->pid, SIGTERM);
    status = wait_for(w->pid);
    *w = (struct bench_worker){0};
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
        return attn_fail(e, ATTN_CHECK_FAILED, "ended by signal %d", WTERMSIG(status));
    return attn_fail(e, ATTN_CHECK_FAILED, "ended early");
}

/* One line without its end; false when there is none. */
static bool get_line(struct bench_worker *w, char *line, size_t size)
{
    if (!fgets(line, (int)size, w->from) || !strchr(line, '\n')) return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static void go(const struct bench_worker *w)
{
    if (w->stops) kill(w->pid, SIGCONT);
}

static void rest(const struct bench_worker *w)
{
    if (w->stops) kill(w->pid, SIGSTOP);
}

static const char *start_process(struct bench_worker *w, const struct bench_peer *peer,
                                 const struct bench_plan *plan, const struct bench_work *work,
                                 struct attn_error *e)
{
    const pid_t parent = getpid();
    int in[2], out[2];

    if (pipe(in)) return attn_fail(e, ATTN_OUT_OF_MEMORY, "no pipe: %s", strerror(errno));
    if (pipe(out)) {
        close(in[0]);
        close(in[1]);
        return attn_fail(e, ATTN_OUT_OF_MEMORY, "no pipe: %s", strerror(errno));
    }
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        end_with_parent(parent);
        close(in[1]);
        close(out[0]);
        be_worker(peer, plan, work, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    w->to = fdopen(in[1], "w");
    w->from = fdopen(out[0], "r");
    if (w->pid > 0 && w->to && w->from) return NULL;
    if (w->pid > 0) return ended_early(w, e);
    fclose(w->to);
    fclose(w->from);
    *w = (struct bench_worker){0};
    return attn_fail(e, ATTN_OUT_OF_MEMORY, "no process: %s", strerror(errno));
}

const char *bench_worker_start(struct bench_worker *w, const struct bench_peer *peer,
                               const struct bench_plan *plan, const struct bench_work *work,
                               char words[BENCH_WORDS], struct attn_error *e)
{
    static const char ready[] = "ready ", absent[] = "absent ";
    char line[BENCH_WORDS + sizeof absent];

    *w = (struct bench_worker){.stops = plan->threads > 1};
    if (start_process(w, peer, plan, work, e)) return e->text;
    if (!get_line(w, line, sizeof line)) return ended_early(w, e);
    if (strncmp(line, ready, strlen(ready)) == 0) {
        snprintf(words, BENCH_WORDS, "%.*s", BENCH_WORDS - 1, line + strlen(ready));
        return NULL;
    }
    (void)ended_early(w, e);
    if (strncmp(line, absent, strlen(absent)) == 0)
        return attn_fail(e, ATTN_BAD_INPUT, "%s", line + strlen(absent));
    return attn_fail(e, ATTN_CHECK_FAILED, "said '%.100s'", line);
}

const char *bench_worker_begin(struct bench_worker *w, const struct bench_work *work,
                               attn_real *result, double *growth, struct attn_error *e)
{
    char line[64];
    long kilobytes;

    if (fwrite(work->input, 1, work->input_bytes, w->to) != work->input_bytes || fflush(w->to) ||
        !get_line(w, line, sizeof line) || sscanf(line, "grew %ld", &kilobytes) != 1 ||
        fread(result, sizeof *result, work->results, w->from) != work->results)
        return ended_early(w, e);
    *growth = 1024 * (double)kilobytes;
    rest(w);
    return NULL;
}

const char *bench_worker_steps(struct bench_worker *w, int n, double (*seconds)[2],
                               struct attn_error *e)
{
    go(w);
    if (fprintf(w->to, "%d\n", n) < 0 || fflush(w->to)) return ended_early(w, e);
    for (int i = 0; i < 2 * n; i++) {
        long long nanoseconds;
        if (fscanf(w->from, "%lld", &nanoseconds) != 1) return ended_early(w, e);
        seconds[i / 2][i % 2] = 1e-9 * (double)nanoseconds;
    }
    if (getc(w->from) != '\n') return ended_early(w, e);
    rest(w);
    return NULL;
}

const char *bench_worker_peak(struct bench_worker *w, double *rate, struct attn_error *e)
{
    long long operations;

    go(w);
    if (fprintf(w->to, "peak\n") < 0 || fflush(w->to) ||
        fscanf(w->from, "%lld", &operations) != 1 || getc(w->from) != '\n')
        return ended_early(w, e);
    *rate = (double)operations;
    rest(w);
    return NULL;
}

void bench_worker_stop(struct bench_worker *w)
{
    if (!w->pid) return;
    go(w);
    fprintf(w->to, "end\n"); /* other workers hold copies of the pipe: closing it says nothing */
    fclose(w->to);
    fclose(w->from);
    wait_for(w->pid);
    *w = (struct bench_worker){0};
}
