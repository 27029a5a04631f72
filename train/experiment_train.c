#include "experiment_train.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/run.h"
#include "attn/sha256.h"
#include "attn/threads.h"
#include "beside.h"

enum { CANNOT_START = 127, MOST_WORDS = 160, MOST_AT_ONCE = 64, FILE_LIMIT = 1 << 30 };

enum state { WAITING, RUNNING, DONE };

struct job {
    const struct experiment *x;
    int run;
    int64_t seed;
    enum state state;
    pid_t process;
};

struct queue {
    const char *folder;
    struct job *job;
    int jobs, running, done;
};

bool experiment_directory(char *path, size_t size, const char *folder, const struct experiment *x,
                          int run, int64_t seed)
{
    const int n =
        snprintf(path, size, "%s/%s/%s-%lld", folder, x->name, x->run[run].name, (long long)seed);

    return n > 0 && (size_t)n < size;
}

/* Its settings with the seed, and the weights to start with. */
static const char *settings_of(struct attn_settings *s, const char *folder,
                               const struct experiment *x, int run, int64_t seed,
                               struct attn_error *e)
{
    const int from = x->run[run].from;
    char path[ATTN_RUN_PATH], weights[ATTN_RUN_PATH + 32];

    *s = x->run[run].settings;
    s->seed = seed;
    if (from < 0) return NULL;
    if (!experiment_directory(path, sizeof path, folder, x, from, seed) ||
        !attn_path_join(weights, sizeof weights, path, "checkpoint.safetensors"))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", folder);
    return attn_settings_set(s, attn_setting_find("weights"), weights, e);
}

static void add_word(struct attn_text *t, const struct attn_settings *s,
                     const struct attn_settings *standard, const struct attn_setting *setting,
                     char gap)
{
    struct attn_text value = {0}, usual = {0};

    attn_settings_value(&value, s, setting);
    attn_settings_value(&usual, standard, setting);
    if (value.failed || usual.failed) t->failed = true;
    if (!t->failed && strcmp(value.data ? value.data : "", usual.data ? usual.data : "")) {
        attn_text_add(t, &gap, 1);
        attn_text_print(t, "--%s=%s", setting->name, value.data ? value.data : "");
    }
    attn_text_free(&value);
    attn_text_free(&usual);
}

void experiment_words(struct attn_text *t, const struct attn_settings *s, char gap)
{
    struct attn_settings standard;

    attn_settings_default(&standard, attn_task_find(s->task));
    attn_text_add(t, &gap, 1);
    attn_text_print(t, "--task=%s", s->task);
    for (const struct attn_setting *j = attn_setting_table; j->name; j++)
        if (strcmp(j->name, "task") && attn_setting_applies(j, attn_task_find(s->task)))
            add_word(t, s, &standard, j, gap);
}

/* Whether a file is not what a run read: its contents decide the numbers as settings do. One that
 * is not there is left to train to tell. */
static bool has_changed(const char *path, const char *known)
{
    char now[ATTN_SHA256_HEX], *bytes;
    struct attn_error e;
    size_t size;

    if (attn_file_read(&bytes, &size, path, FILE_LIMIT, &e)) return false;
    attn_sha256_of(now, bytes, size);
    attn_free(bytes);
    return strcmp(known, now) != 0;
}

static bool reads_others(const struct attn_settings *old, const struct attn_settings *s)
{
    char data[ATTN_DATA_PATH + 64];

    if (s->weights[0] && has_changed(s->weights, old->weights_sha256)) return true;
    return s->data[0] && find_data(data, sizeof data, s->data) &&
           has_changed(data, old->data_sha256);
}

/* Whether there is a run with other settings, of the other precision, or that read other files, as
 * the weights of a run that was trained anew since. */
static bool is_another(const char *directory, const struct attn_settings *s, const char *program)
{
    const char *const wanted_precision = strcmp(program, "train64") ? "float" : "double";
    struct attn_text was = {0}, now = {0};
    struct attn_settings old;
    char path[ATTN_RUN_PATH + 32], precision[8], *text;
    struct attn_error e;
    size_t n;
    bool read = false, same = false;

    if (attn_path_join(path, sizeof path, directory, "config.json") &&
        !attn_file_read(&text, &n, path, 1 << 20, &e)) {
        read = !attn_settings_read(&old, precision, text, n, path, &e);
        attn_free(text);
    }
    if (!read) return false;
    experiment_words(&was, &old, ' ');
    experiment_words(&now, s, ' ');
    same = !was.failed && !now.failed && !strcmp(was.data, now.data) &&
           !strcmp(precision, wanted_precision);
    attn_text_free(&was);
    attn_text_free(&now);
    return !same || reads_others(&old, s);
}

/* The words of a train, each ending in NUL. */
static const char *make_words(struct attn_text *t, const struct job *job, const char *folder,
                              struct attn_error *e)
{
    char directory[ATTN_RUN_PATH];
    struct attn_settings s;

    if (settings_of(&s, folder, job->x, job->run, job->seed, e)) return e->text;
    if (!experiment_directory(directory, sizeof directory, folder, job->x, job->run, job->seed))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s...: path too long", folder);
    if (s.weights[0] && access(s.weights, R_OK) != 0)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%s, %s-%lld: cannot start from %.300s: %s (a run whose loss ran away "
                         "leaves none)",
                         job->x->name, job->x->run[job->run].name, (long long)job->seed, s.weights,
                         strerror(errno));
    attn_text_print(t, "%s", job->x->program);
    experiment_words(t, &s, '\0');
    attn_text_print(t, "%c--out=%s%c--threads=1%c--quiet", '\0', directory, '\0', '\0');
    if (is_another(directory, &s, job->x->program)) attn_text_print(t, "%c--force", '\0');
    return t->failed ? attn_fail_memory(e, "command line") : NULL;
}

static _Noreturn void become(const char *path, const struct attn_text *words)
{
    char *argv[MOST_WORDS + 1];
    int n = 0;
    const int nowhere = open("/dev/null", O_WRONLY);

    for (char *word = words->data; word < words->data + words->size && n < MOST_WORDS;
         word += strlen(word) + 1)
        argv[n++] = word;
    argv[n] = NULL;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG,
          SIGTERM); /* it saves and ends where this program does not wait for it */
#endif
    if (nowhere >= 0) dup2(nowhere, 1);
    execv(path, argv);
    _exit(CANNOT_START);
}

/* train, or attn-train where it was installed. */
static bool find_program(char *path, size_t size, const char *name)
{
    static const char *const folders[] = {".", NULL};
    char installed[32];

    snprintf(installed, sizeof installed, "attn-%s", name);
    return find_beside(path, size, "", name, folders) ||
           find_beside(path, size, "", installed, folders);
}

static const char *begin(struct queue *q, struct job *job, struct attn_error *e)
{
    struct attn_text words = {0};
    char path[4096];

    if (!find_program(path, sizeof path, job->x->program))
        return attn_fail(e, ATTN_BAD_USAGE, "no %s beside this program", job->x->program);
    if (!make_words(&words, job, q->folder, e)) {
        job->process = fork();
        if (job->process == 0) become(path, &words);
        if (job->process < 0)
            attn_fail(e, ATTN_OUT_OF_MEMORY, "cannot start %s: %s", path, strerror(errno));
    }
    attn_text_free(&words);
    if (job->process <= 0) return e->text;
    job->state = RUNNING;
    q->running++;
    return NULL;
}

static bool is_ready(const struct queue *q, const struct job *job)
{
    const int from = job->x->run[job->run].from;

    if (job->state != WAITING) return false;
    for (int i = 0; i < q->jobs && from >= 0; i++)
        if (q->job[i].x == job->x && q->job[i].run == from && q->job[i].seed == job->seed)
            return q->job[i].state == DONE;
    return true;
}

static const char *begin_next(struct queue *q, struct attn_error *e)
{
    for (int i = 0; i < q->jobs; i++)
        if (is_ready(q, &q->job[i])) return begin(q, &q->job[i], e);
    return NULL;
}

/* A loss that ran away is a result too. */
static const char *judge(const struct job *job, int status, struct attn_error *e)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const char *run = job->x->run[job->run].name;

    if (code == 0 || code == ATTN_DIVERGED) return NULL;
    if (code < 0 || code == ATTN_STOPPED)
        return attn_fail(e, ATTN_STOPPED, "%s, %s-%lld was stopped; the same command goes on",
                         job->x->name, run, (long long)job->seed);
    return attn_fail(e, code == CANNOT_START ? ATTN_BAD_USAGE : (enum attn_fault)code,
                     "%s, %s-%lld: %s ended with %d", job->x->name, run, (long long)job->seed,
                     job->x->program, code);
}

static const char *wait_for_one(struct queue *q, struct attn_error *e)
{
    int status;
    pid_t process;

    do process = waitpid(-1, &status, 0);
    while (process < 0 && errno == EINTR);
    for (int i = 0; i < q->jobs; i++) {
        struct job *job = &q->job[i];
        if (job->state != RUNNING || job->process != process) continue;
        job->state = DONE;
        q->running--;
        q->done++;
        fprintf(stderr, "%4d of %d  %s, %s-%lld\n", q->done, q->jobs, job->x->name,
                job->x->run[job->run].name, (long long)job->seed);
        return judge(job, status, e);
    }
    if (process > 0) return NULL;
    q->running = 0;
    return attn_fail(e, ATTN_STOPPED, "lost a train: %s", strerror(errno));
}

/* After a fault what is running is waited for, and nothing new begun. */
static const char *work(struct queue *q, struct attn_error *e)
{
    const int cores = attn_threads_cores();
    const int most = cores < MOST_AT_ONCE ? cores : MOST_AT_ONCE;
    struct attn_error later;
    const char *wrong = NULL;

    while (q->done < q->jobs && (!wrong || q->running)) {
        int running = -1;
        while (!wrong && q->running < most && running != q->running) {
            running = q->running;
            wrong = begin_next(q, e);
        }
        if (!q->running) continue;
        if (wrong)
            (void)!wait_for_one(q, &later);
        else
            wrong = wait_for_one(q, e);
    }
    return wrong;
}

static int count_jobs(const struct experiment *x, int n)
{
    int jobs = 0;

    for (int i = 0; i < n; i++) jobs += x[i].runs * x[i].seeds;
    return jobs;
}

const char *experiment_train(const struct experiment *x, int n, const char *folder, int64_t seed,
                             struct attn_error *e)
{
    struct queue q = {.folder = folder};
    const char *wrong;

    signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody hears how a child ended */

    q.job = attn_alloc((size_t)count_jobs(x, n), sizeof *q.job);
    if (!q.job) return attn_fail_memory(e, "runs to train");
    for (int i = 0; i < n; i++)
        for (int run = 0; run < x[i].runs; run++)
            for (int k = 0; k < x[i].seeds; k++)
                q.job[q.jobs++] = (struct job){.x = &x[i], .run = run, .seed = seed + k};
    wrong = work(&q, e);
    attn_free(q.job);
    return wrong;
}
