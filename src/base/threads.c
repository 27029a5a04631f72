#define _GNU_SOURCE /* sched_getaffinity */
#include "attn/threads.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attn/memory.h"

/* Nanoseconds for which a thread looks at a closed gate before it sleeps, where every thread
 * can have a processor of its own; LOOKS between two readings of the clock. To be woken takes
 * 20 to 60 microseconds, and a spin never costs more than it may save. A worker is to stay awake
 * over what the driver does alone between two jobs. The driver waits for the last tasks
 * only, which end nearly together: when they take longer, a worker was held up and may
 * need the driver's processor. */
enum { WORKER_SPIN = 15000, DRIVER_SPIN = 10000, LOOKS = 8 };

/* A word that threads wait for to be other than 0. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int sleepers;
    int word;
};

struct worker {
    struct attn_threads *pool;
    pthread_t thread;
    int index;
};

enum { STOP = -1 };

/* Bytes: some systems give a thread less than a product of matrices needs for its copies. */
enum { STACK = 1 << 20 };

/* The job lies beside the word that announces it, and what is written at its end apart
 * from what is read at its beginning. */
struct attn_threads {
    struct gate work; /* tasks that nobody has taken, or STOP */
    int tasks;
    void (*task)(void *context, int index, int worker);
    void *context;
    struct gate done __attribute__((aligned(ATTN_ALIGN)));
    int unfinished;
    bool running; /* a job is under way: for the assertion */
    bool spins __attribute__((aligned(ATTN_ALIGN)));
    int count, started; /* threads, the driver's among them */
    struct worker worker[];
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool gate_make(struct gate *g)
{
    if (pthread_mutex_init(&g->lock, NULL)) return false;
    if (pthread_cond_init(&g->opened, NULL) == 0) return true;
    pthread_mutex_destroy(&g->lock);
    return false;
}

static void gate_free(struct gate *g)
{
    pthread_cond_destroy(&g->opened);
    pthread_mutex_destroy(&g->lock);
}

/* The word, or 0 after so many nanoseconds. */
static int gate_watch(const struct gate *g, int spin)
{
    int word = __atomic_load_n(&g->word, __ATOMIC_ACQUIRE);

    if (word || !spin) return word;
    for (const int64_t end = now() + spin; now() < end;)
        for (int i = 0; i < LOOKS; i++) {
            relax();
            word = __atomic_load_n(&g->word, __ATOMIC_ACQUIRE);
            if (word) return word;
        }
    return 0;
}

/* The word, once it is not 0. */
static int gate_wait(struct gate *g, int spin)
{
    int word = gate_watch(g, spin);

    if (word) return word;
    pthread_mutex_lock(&g->lock);
    __atomic_add_fetch(&g->sleepers, 1, __ATOMIC_SEQ_CST);
    while (!(word = __atomic_load_n(&g->word, __ATOMIC_SEQ_CST)))
        pthread_cond_wait(&g->opened, &g->lock);
    __atomic_sub_fetch(&g->sleepers, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&g->lock);
    return word;
}

/* Sets the word and wakes sleepers, all but `spare` of them. Either this thread sees a
 * sleeper here, or the sleeper saw the word before it slept: both write their own side
 * before they read the other's, in one order for all. Who holds the lock is not yet asleep. */
static void gate_open(struct gate *g, int word, int spare)
{
    __atomic_store_n(&g->word, word, __ATOMIC_SEQ_CST);
    int wake = __atomic_load_n(&g->sleepers, __ATOMIC_SEQ_CST) - (spare > 0 ? spare : 0);
    if (wake <= 0) return;
    pthread_mutex_lock(&g->lock);
    pthread_mutex_unlock(&g->lock);
    if (spare <= 0)
        pthread_cond_broadcast(&g->opened);
    else
        for (; wake > 0; wake--) pthread_cond_signal(&g->opened);
}

/* How many tasks were left when this thread took one of them; 0: it has none. The job is
 * read after a task was taken only: until that is done the job stays as it is, and a
 * thread that comes late gets a task of the job that it finds, or none. */
static int take(struct attn_threads *t)
{
    int left = __atomic_load_n(&t->work.word, __ATOMIC_RELAXED);

    while (left > 0)
        if (__atomic_compare_exchange_n(&t->work.word, &left, left - 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return left;
    return 0;
}

/* Does tasks as long as there are any; true: no other thread has one that is not done. */
static bool work_off(struct attn_threads *t, int worker)
{
    int finished = 0;

    for (int left; (left = take(t)) > 0; finished++) t->task(t->context, t->tasks - left, worker);
    return finished && __atomic_sub_fetch(&t->unfinished, finished, __ATOMIC_ACQ_REL) == 0;
}

static void *work(void *argument)
{
    const struct worker *w = argument;
    struct attn_threads *t = w->pool;

    while (gate_wait(&t->work, t->spins ? WORKER_SPIN : 0) != STOP)
        if (work_off(t, w->index)) gate_open(&t->done, 1, 0);
    return NULL;
}

/* The caller needs no worker for a task of its own: so many may sleep on as there are
 * threads beyond the tasks. Those that are awake come by themselves. */
static void share(struct attn_threads *t, int tasks)
{
    t->tasks = tasks;
    __atomic_store_n(&t->unfinished, tasks, __ATOMIC_RELAXED);
    __atomic_store_n(&t->done.word, 0, __ATOMIC_RELAXED);
    gate_open(&t->work, tasks, t->count - tasks);
    if (!work_off(t, 0)) gate_wait(&t->done, t->spins ? DRIVER_SPIN : 0);
}

void attn_threads_run(struct attn_threads *t, int tasks,
                      void (*task)(void *context, int index, int worker), void *context)
{
    assert(tasks >= 0);
    assert(!t || !t->running); /* a task runs a job of its own pool, or two threads drive it */
    if (t) t->running = true;
    if (t && t->count > 1 && tasks > 1) {
        t->task = task;
        t->context = context;
        share(t, tasks);
    } else {
        for (int i = 0; i < tasks; i++) task(context, i, 0);
    }
    if (t) t->running = false;
}

static int start(struct attn_threads *t, int index)
{
    struct worker *w = &t->worker[index - 1];
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed = pthread_attr_init(&attributes);

    if (failed) return failed;
    pthread_attr_setstacksize(&attributes, STACK); /* if it can't be: the system's */
    *w = (struct worker){.pool = t, .index = index};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&w->thread, &attributes, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!failed) t->started++;
    return failed;
}

static bool make_gates(struct attn_threads *t)
{
    if (!gate_make(&t->work)) return false;
    if (gate_make(&t->done)) return true;
    gate_free(&t->work);
    return false;
}

const char *attn_threads_new(struct attn_threads **t, int count, struct attn_error *e)
{
    struct attn_threads *pool;

    *t = NULL;
    if (count < 1 || count > ATTN_THREADS_MOST)
        return attn_fail(e, ATTN_BAD_USAGE, "%d threads: expected 1 to %d", count,
                         ATTN_THREADS_MOST);
    pool = attn_alloc(1, sizeof *pool + (size_t)(count - 1) * sizeof *pool->worker);
    if (!pool || !make_gates(pool)) {
        attn_free(pool);
        return attn_fail_memory(e, "threads");
    }
    pool->count = count;
    pool->started = 1;
    pool->spins = count <= attn_threads_cores();
    while (pool->started < count) {
        const int failed = start(pool, pool->started);
        if (!failed) continue;
        attn_fail(e, ATTN_OUT_OF_MEMORY, "thread %d of %d: %s; ask for fewer", pool->started + 1,
                  count, strerror(failed));
        attn_threads_free(pool);
        return e->text;
    }
    *t = pool;
    return NULL;
}

void attn_threads_free(struct attn_threads *t)
{
    if (!t) return;
    assert(!t->running);
    gate_open(&t->work, STOP, 0);
    for (int i = 1; i < t->started; i++) pthread_join(t->worker[i - 1].thread, NULL);
    gate_free(&t->work);
    gate_free(&t->done);
    attn_free(t);
}

int attn_threads_count(const struct attn_threads *t)
{
    return t ? t->count : 1;
}

int attn_threads_cores(void)
{
    long online;

#ifdef __linux__
    cpu_set_t set[8]; /* the kernel refuses less than its own: room for 8192 processors */
    if (sched_getaffinity(0, sizeof set, set) == 0) return CPU_COUNT_S(sizeof set, set);
#endif
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online < INT_MAX ? (int)online : INT_MAX;
}
