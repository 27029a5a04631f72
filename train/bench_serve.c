#include "bench_serve.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "attn/kernels.h"
#include "attn/threads.h"

enum { BURSTS = 10 };

/* One burst of all threads: none begins before all are awake. */
struct burst {
    int threads, awake;
    double begin[ATTN_THREADS_MOST], end[ATTN_THREADS_MOST], operations;
};

static void burst_task(void *context, int index, int worker)
{
    struct burst *b = context;

    (void)worker;
    __atomic_add_fetch(&b->awake, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&b->awake, __ATOMIC_ACQUIRE) < b->threads) sched_yield();
    b->begin[index] = bench_now();
    const double operations = attn_kernels_multiply_adds(b->threads > 1 ? 200000 : 20000);
    b->end[index] = bench_now();
    if (index == 0) b->operations = b->threads * operations;
}

double bench_peak(struct attn_threads *pool, int bursts)
{
    double best = 0;

    for (int i = 0; i < bursts; i++) {
        struct burst b = {.threads = attn_threads_count(pool)};
        attn_threads_run(pool, b.threads, burst_task, &b);
        for (int k = 1; k < b.threads; k++) {
            if (b.begin[k] < b.begin[0]) b.begin[0] = b.begin[k];
            if (b.end[k] > b.end[0]) b.end[0] = b.end[k];
        }
        const double rate = b.operations / (b.end[0] - b.begin[0]);
        if (rate > best) best = rate;
    }
    return best;
}

/* Kilobytes: the most memory that was resident since forget_memory. */
static long most_memory(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
#ifdef __APPLE__
    return used.ru_maxrss / 1024;
#else
    return used.ru_maxrss;
#endif
}

/* From here on counts what is there now (Linux; elsewhere what there ever was).
 * What has been freed goes back, so that it cannot be taken again unseen. */
static void forget_memory(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY);

#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (fd < 0) return;
    if (write(fd, "5", 1) != 1) perror("/proc/self/clear_refs");
    close(fd);
}

struct served {
    const struct bench_peer *peer;
    void *state, *input;
    attn_real *result;
    FILE *in, *out;
    const struct bench_work *work;
};

static bool begin(struct served *s)
{
    struct attn_error e;
    double seconds[2];
    long before;

    forget_memory();
    before = most_memory();
    s->input = attn_alloc(s->work->input_bytes, 1);
    s->result = attn_alloc(s->work->results, sizeof *s->result);
    if (!s->input || !s->result ||
        fread(s->input, 1, s->work->input_bytes, s->in) != s->work->input_bytes ||
        s->peer->begin(s->state, s->input, s->result, &e))
        return false;
    s->peer->step(s->state, seconds);
    const long after = most_memory();
    if (s->peer->finish) s->peer->finish(s->state);
    fprintf(s->out, "grew %ld\n", after - before);
    return fwrite(s->result, sizeof *s->result, s->work->results, s->out) == s->work->results &&
           fflush(s->out) == 0;
}

static void answer(const struct served *s, const struct bench_plan *plan, const char *line)
{
    const int n = atoi(line);

    if (strcmp(line, "peak\n") == 0) fprintf(s->out, "%.0f\n", bench_peak(plan->pool, BURSTS));
    for (int i = 0; i < n; i++) {
        double seconds[2];
        s->peer->step(s->state, seconds);
        fprintf(s->out, "%.0f %.0f%c", 1e9 * seconds[0], 1e9 * seconds[1], i < n - 1 ? ' ' : '\n');
    }
    fflush(s->out);
}

void bench_serve(const struct bench_peer *peer, const struct bench_plan *plan,
                 const struct bench_work *work, int in, int out)
{
    struct served s = {.peer = peer, .work = work, .in = fdopen(in, "r"), .out = fdopen(out, "w")};
    char words[BENCH_WORDS] = "", line[32];
    struct bench_plan with_pool = *plan;
    struct attn_error e;
    bool failed = false;

    if (plan->threads > 1) failed = attn_threads_new(&with_pool.pool, plan->threads, &e) != NULL;
    if (s.in && s.out && (failed || peer->open(&s.state, &with_pool, words, &e)))
        fprintf(s.out, "absent %s\n", e.text);
    else if (s.in && s.out) {
        fprintf(s.out, "ready %s\n", words);
        fflush(s.out);
        if (begin(&s))
            while (fgets(line, sizeof line, s.in) && strcmp(line, "end\n") != 0)
                answer(&s, &with_pool, line);
    }
    if (s.state) peer->close(s.state);
    attn_threads_free(with_pool.pool);
    attn_free(s.input);
    attn_free(s.result);
    if (s.in) fclose(s.in);
    if (s.out) fclose(s.out);
}
