/* The thread pool: every task once, in order, at the same time as others, and quiet when idle. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "attn/threads.h"

#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attn/memory.h"

static const int counts[] = {1, 2, 3, 4, 7, 8, 16};
static const int sizes[] = {0, 1, 2, 3, 5, 16, 17, 300};
enum { COUNTS = sizeof counts / sizeof *counts, SIZES = sizeof sizes / sizeof *sizes, MANY = 300 };

static struct attn_threads *new_threads(int count)
{
    struct attn_threads *t;
    struct attn_error e;

    ck_assert_msg(!attn_threads_new(&t, count, &e), "%s", e.text);
    ck_assert_int_eq(attn_threads_count(t), count);
    return t;
}

/* What tasks write needs no atomics: each has its own place, as has each worker. */
struct record {
    int count;            /* threads */
    int done[MANY];       /* by index */
    bool busy[MANY];      /* by worker */
    bool twice, stranger; /* a worker with two tasks at once, or without a number of its own */
    const int *before;    /* what the driver wrote before the job */
};

static void record(void *context, int index, int worker)
{
    struct record *r = context;

    if (worker < 0 || worker >= r->count) {
        r->stranger = true;
        return;
    }
    if (r->busy[worker]) r->twice = true;
    r->busy[worker] = true;
    r->done[index] += r->before[index];
    r->busy[worker] = false;
}

static void expect_each_once(struct attn_threads *t, int tasks)
{
    struct record r = {.count = attn_threads_count(t)};
    int before[MANY];

    for (int i = 0; i < MANY; i++) before[i] = i + 1;
    r.before = before;
    attn_threads_run(t, tasks, record, &r);
    for (int i = 0; i < MANY; i++)
        ck_assert_msg(r.done[i] == (i < tasks ? i + 1 : 0), "%d threads, %d tasks: task %d",
                      r.count, tasks, i);
    ck_assert(!r.twice && !r.stranger);
}

START_TEST(every_task_is_done_once)
{
    struct attn_threads *t = new_threads(counts[_i]);

    for (int i = 0; i < SIZES; i++) {
        expect_each_once(t, sizes[i]);
        expect_each_once(NULL, sizes[i]);
    }
    attn_threads_free(t);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* Jobs follow each other so closely that a worker may come late to one and meet the next. */
START_TEST(no_task_strays_into_the_next_job)
{
    struct attn_threads *t = new_threads(counts[_i]);

    for (int i = 0; i < 300; i++) expect_each_once(t, i % 7);
    attn_threads_free(t);
}
END_TEST

static void add_one(void *context, int index, int worker)
{
    int *sum = context;

    (void)worker;
    sum[index]++;
}

START_TEST(thousands_of_jobs)
{
    struct attn_threads *t = new_threads(counts[_i]);
    int sum[5] = {0};

    for (int i = 0; i < 5000; i++) attn_threads_run(t, 1 + i % 5, add_one, sum);
    for (int i = 0; i < 5; i++) ck_assert_int_eq(sum[i], 1000 * (5 - i));
    attn_threads_free(t);
}
END_TEST

/* Each waits for all before it: handed out in another order, they would wait for ever. */
static void wait_for_the_one_before(void *context, int index, int worker)
{
    int *done = context;

    (void)worker;
    while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < index) sched_yield();
    __atomic_store_n(done, index + 1, __ATOMIC_RELEASE);
}

START_TEST(a_task_may_wait_for_those_before_it)
{
    struct attn_threads *t = new_threads(counts[_i]);

    for (int i = 0; i < SIZES; i++) {
        int done = 0;
        attn_threads_run(t, sizes[i], wait_for_the_one_before, &done);
        ck_assert_int_eq(done, sizes[i]);
    }
    attn_threads_free(t);
}
END_TEST

struct meeting {
    int expected, there;
    bool present[MANY]; /* by worker */
};

static void meet(void *context, int index, int worker)
{
    struct meeting *m = context;

    (void)index;
    m->present[worker] = true;
    __atomic_add_fetch(&m->there, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&m->there, __ATOMIC_SEQ_CST) < m->expected) sched_yield();
}

/* Every thread must come, whether it is awake, asleep or about to fall asleep. */
START_TEST(all_threads_come)
{
    struct attn_threads *t = new_threads(counts[_i]);

    for (int round = 0; round < 60; round++) {
        struct meeting m = {.expected = counts[_i]};
        if (round % 4) usleep((useconds_t)(7 * (round % 5)));
        attn_threads_run(t, counts[_i], meet, &m);
        for (int w = 0; w < counts[_i]; w++) ck_assert(m.present[w]);
    }
    attn_threads_free(t);
}
END_TEST

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(an_idle_pool_is_quiet)
{
    struct attn_threads *t = new_threads(counts[_i]);
    int sum[16] = {0};

    attn_threads_run(t, 16, add_one, sum);
    usleep(20000);
    const double before = cpu_seconds();
    usleep(300000);
    ck_assert_double_lt(cpu_seconds() - before, 0.03);
    attn_threads_free(t);
}
END_TEST

/* Stays on one processor; false where the system knows no such thing. */
static bool stay_on_one_core(void)
{
#ifdef __linux__
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
#else
    return false;
#endif
}

START_TEST(cores_are_those_that_may_be_used)
{
    ck_assert_int_ge(attn_threads_cores(), 1);
    if (stay_on_one_core()) ck_assert_int_eq(attn_threads_cores(), 1);
}
END_TEST

/* Threads that spin would keep the one processor from the thread they wait for, for the
 * milliseconds that the system lets them. */
START_TEST(more_threads_than_cores_do_not_hinder_each_other)
{
    struct attn_threads *t;

    stay_on_one_core();
    t = new_threads(16);
    const double before = cpu_seconds();
    for (int i = 0; i < 100; i++) {
        struct meeting m = {.expected = 16};
        attn_threads_run(t, 16, meet, &m);
    }
    ck_assert_double_lt(cpu_seconds() - before, 1);
    attn_threads_free(t);
}
END_TEST

static int handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

/* The only thread that does not block the signal blocks it for a while: nobody gets it. */
START_TEST(signals_are_left_to_the_program)
{
    struct attn_threads *t;
    sigset_t usr1, before, after;
    int sum[16] = {0};

    signal(SIGUSR1, on_signal);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    t = new_threads(3);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int s = 1; s < 32; s++) ck_assert_int_eq(sigismember(&before, s), sigismember(&after, s));
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    kill(getpid(), SIGUSR1);
    attn_threads_run(t, 16, add_one, sum);
    usleep(20000);
    ck_assert_int_eq(handled, 0);
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    ck_assert_int_eq(handled, 1);
    attn_threads_free(t);
}
END_TEST

struct nest {
    struct attn_threads *t;
    int guilty, sum[2]; /* the index of the task that runs a job */
};

static void nest(void *context, int index, int worker)
{
    struct nest *n = context;

    (void)worker;
    if (index == n->guilty) attn_threads_run(n->t, 2, add_one, n->sum);
}

/* How a process ends in which a task runs a job of `inner`, its own pool's or none. */
static int status_of_nesting(int count, bool same, int guilty)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        struct attn_threads *t = new_threads(count);
        struct nest n = {.t = same ? t : NULL, .guilty = guilty};
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        attn_threads_run(t, 4, nest, &n);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

START_TEST(a_job_within_a_job_is_a_mistake)
{
    for (int guilty = 0; guilty < 4; guilty++) {
        const int same = status_of_nesting(counts[_i], true, guilty);
        ck_assert_msg(WIFSIGNALED(same) && WTERMSIG(same) == SIGABRT, "status %x", (unsigned)same);
        ck_assert_int_eq(status_of_nesting(counts[_i], false, guilty), 0);
    }
}
END_TEST

START_TEST(wrong_counts_are_refused)
{
    static const int wrong[] = {0, -1, ATTN_THREADS_MOST + 1};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct attn_threads *t = (struct attn_threads *)&t;
        struct attn_error e;
        ck_assert_ptr_nonnull(attn_threads_new(&t, wrong[i], &e));
        ck_assert_ptr_null(t);
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert_msg(strstr(e.text, "expected 1 to 256"), "%s", e.text);
    }
    ck_assert_int_eq(attn_threads_count(NULL), 1);
    attn_threads_free(NULL);
    attn_threads_free(new_threads(ATTN_THREADS_MOST));
}
END_TEST

START_TEST(no_memory_is_told)
{
    struct attn_threads *t;
    struct attn_error e;

    attn_alloc_fail_from(1);
    ck_assert_ptr_nonnull(attn_threads_new(&t, 4, &e));
    attn_alloc_fail_from(0);
    ck_assert_ptr_null(t);
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

#ifndef SANITIZED
/* A number from a file of /proc: the one behind `name`. */
static long number_in(const char *path, const char *name)
{
    char line[256];
    long x = -1;
    FILE *f = fopen(path, "r");

    while (f && x < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0) x = strtol(line + strlen(name), NULL, 10);
    if (f) fclose(f);
    return x;
}
#endif

/* Room for the stacks of some threads, but not of all. */
START_TEST(no_more_threads_are_told)
{
#ifdef SANITIZED
    fprintf(stderr, "skipped: a sanitizer needs more address space than the limit\n");
#else
    const long kilobytes = number_in("/proc/self/status", "VmSize:");
    struct rlimit space = {0, 0};
    struct attn_threads *t;
    struct attn_error e;

    if (kilobytes < 0) {
        fprintf(stderr, "skipped: no /proc/self/status\n");
        return;
    }
    space.rlim_cur = space.rlim_max = ((rlim_t)kilobytes + 50000) * 1024;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &space), 0);
    ck_assert_ptr_nonnull(attn_threads_new(&t, ATTN_THREADS_MOST, &e));
    ck_assert_ptr_null(t);
    ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
    ck_assert_msg(strstr(e.text, " of 256: ") && !strstr(e.text, "thread 2 of"), "%s", e.text);
    ck_assert_int_eq(number_in("/proc/self/status", "Threads:"), 1);
    ck_assert_int_eq(attn_alloc_live(), 0);
#endif
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "each once", every_task_is_done_once, COUNTS);
    add_loop_test(suite, "next job", no_task_strays_into_the_next_job, COUNTS);
    add_loop_test(suite, "thousands", thousands_of_jobs, COUNTS);
    add_loop_test(suite, "order", a_task_may_wait_for_those_before_it, COUNTS);
    add_loop_test(suite, "all come", all_threads_come, COUNTS);
    add_loop_test(suite, "idle", an_idle_pool_is_quiet, COUNTS);
    add_test(suite, "cores", cores_are_those_that_may_be_used);
    add_test(suite, "one core", more_threads_than_cores_do_not_hinder_each_other);
    add_test(suite, "signals", signals_are_left_to_the_program);
    add_loop_test(suite, "nested", a_job_within_a_job_is_a_mistake, COUNTS);
    add_test(suite, "wrong counts", wrong_counts_are_refused);
    add_test(suite, "no memory", no_memory_is_told);
    add_test(suite, "no threads", no_more_threads_are_told);
}
