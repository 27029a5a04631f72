#include "plot_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool plot_find(char *path, size_t size, const char *program)
{
    const char *entry = getenv("PATH"), *end;
    char candidate[PATH_MAX], found[PATH_MAX];
    struct stat status;

    for (entry = entry ? entry : "/usr/local/bin:/usr/bin:/bin";; entry = end + 1) {
        end = entry + strcspn(entry, ":");
        const int length = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)(end - entry),
                                    end > entry ? entry : ".", program);
        /* Absolute, because the child changes its directory before it starts. */
        if (length < (int)sizeof candidate && access(candidate, X_OK) == 0 &&
            realpath(candidate, found) && stat(found, &status) == 0 && S_ISREG(status.st_mode) &&
            strlen(found) < size) {
            strcpy(path, found);
            return true;
        }
        if (!*end) return false;
    }
}

/* Both ends of the two pipes; -1 where closed. */
struct pipes {
    int input[2], output[2];
};

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_pipes(struct pipes *p)
{
    for (int i = 0; i < 2; i++) {
        close_end(&p->input[i]);
        close_end(&p->output[i]);
    }
}

static bool open_pipes(struct pipes *p)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}};
    if (pipe(p->input) || pipe(p->output)) {
        close_pipes(p);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(p->input[i], F_SETFD, FD_CLOEXEC);
        fcntl(p->output[i], F_SETFD, FD_CLOEXEC);
    }
    fcntl(p->input[1], F_SETFL, O_NONBLOCK);
    return true;
}

static _Noreturn void become(const struct pipes *p, const char *path, char *const argv[],
                             const char *directory)
{
    signal(SIGPIPE, SIG_DFL);
    if (dup2(p->input[0], 0) >= 0 && dup2(p->output[1], 1) >= 0 && dup2(p->output[1], 2) >= 0 &&
        (!directory || chdir(directory) == 0))
        execv(path, argv);
    _exit(PLOT_CANNOT_START);
}

static void give(int *fd, const char **input, size_t *n)
{
    const ssize_t written = write(*fd, *input, *n);

    if (written >= 0) {
        *input += written;
        *n -= (size_t)written;
    }
    if (*n == 0 || (written < 0 && errno != EAGAIN && errno != EINTR)) close_end(fd);
}

/* False: the child has closed its end. */
static bool take(int fd, char *output, size_t *used, size_t size)
{
    char spare[4096];
    const ssize_t got = read(fd, spare, sizeof spare);
    size_t kept = got > 0 ? (size_t)got : 0;

    if (kept > size - 1 - *used) kept = size - 1 - *used;
    memcpy(output + *used, spare, kept);
    *used += kept;
    return got > 0 || (got < 0 && errno == EINTR);
}

static int milliseconds_until(const struct timespec *end)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left =
        (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* Feeds and listens at once: neither side can wait for the other for ever.
 * False: time is up, or memory. */
static bool talk(struct pipes *p, const char *input, size_t n, char *output, size_t size,
                 int seconds)
{
    struct timespec end;
    size_t used = 0;
    bool open = true;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    while (open) {
        struct pollfd fds[2] = {{p->input[1], POLLOUT, 0}, {p->output[0], POLLIN, 0}};
        const int ready = poll(fds, 2, milliseconds_until(&end));

        if (ready == 0 || (ready < 0 && errno != EINTR)) break;
        if (ready < 0) continue;
        if (fds[0].revents) give(&p->input[1], &input, &n);
        if (fds[1].revents) open = take(p->output[0], output, &used, size);
    }
    output[used] = '\0';
    return !open;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return PLOT_CANNOT_START;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int plot_child(const char *path, char *const argv[], const char *directory, const char *input,
               size_t n, char *output, size_t size, int seconds)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct pipes p;
    bool done;
    pid_t pid;
    int code;

    *output = '\0';
    if (!open_pipes(&p)) return PLOT_CANNOT_START;
    pid = fork();
    if (pid == 0) become(&p, path, argv, directory);
    close_end(&p.input[0]);
    close_end(&p.output[1]);
    if (pid < 0) {
        close_pipes(&p);
        return PLOT_CANNOT_START;
    }
    /* A child that ends early is an error of writing, not a signal. */
    sigaction(SIGPIPE, &ignore, &before);
    if (n == 0) close_end(&p.input[1]);
    done = talk(&p, input, n, output, size, seconds);
    sigaction(SIGPIPE, &before, NULL);
    close_pipes(&p);
    if (!done) kill(pid, SIGKILL);
    code = wait_for(pid);
    return done ? code : PLOT_TOO_LONG;
}
