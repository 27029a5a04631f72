/* Which of OpenBLAS's kernels are the fastest here. It chooses by the number of the
 * processor's model, and takes one that came out after it for a much older one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/kernels.h"
#include "bench_gemm.h"
#include "bench_worker.h"

static const char variable[] = "OPENBLAS_CORETYPE";

struct trial {
    double rate; /* operations per second; 0: none */
    char words[BENCH_WORDS];
};

/* The best rate of some products of n by n. */
static double best_rate(bench_gemm *gemm, const attn_real *a, attn_real *c, int n, int times)
{
    double best = 0;

    for (int i = 0; i < times; i++) {
        const double start = bench_now();
        gemm(&(struct bench_product){false, false, n, n, n, 1, a, n, a + n * n, n, 0, c, n});
        const double rate = 2.0 * n * n * n / (bench_now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

/* Small products and large ones count alike: the benchmark has both. */
static void try_core(void *core, void *result)
{
    enum { SMALL = 64, LARGE = 512 };
    struct trial *t = result;
    attn_real *a = attn_alloc((size_t)3 * LARGE * LARGE, sizeof *a);
    struct attn_error e;
    bench_gemm *gemm;

    if (core) setenv(variable, core, 1);
    if (!a || bench_openblas_load(&gemm, 1, t->words, &e)) return;
    attn_real *const c = a + 2 * LARGE * LARGE;
    for (int i = 0; i < 2 * LARGE * LARGE; i++) a[i] = (attn_real)(i % 7) - 3;
    const double small = best_rate(gemm, a, c, SMALL, 200);
    const double large = best_rate(gemm, a, c, LARGE, 6);
    t->rate = 2 / (1 / small + 1 / large);
}

/* A few processes each, in turn: the machine may be busy with one of them. */
static bool try_again(const char *core, struct trial *best)
{
    struct trial t = {0};
    char name[32];

    snprintf(name, sizeof name, "%s", core ? core : "");
    if (!bench_apart(try_core, core ? name : NULL, &t, sizeof t) || t.rate <= best->rate)
        return best->rate > 0;
    *best = t;
    return true;
}

/* "SkylakeX" of "OpenBLAS 0.3.21, core SkylakeX, pthreads" */
static void core_of(char core[32], const char *words)
{
    const char *name = strstr(words, "core ");

    snprintf(core, 32, "%.*s", name ? (int)strcspn(name + 5, ",") : 0, name ? name + 5 : "");
}

static const struct {
    const char *set, *core;
} fits[] = {{"avx512", "SkylakeX"}, {"avx512", "Cooperlake"}, {"avx512", "Haswell"},
            {"avx512", "Zen"},      {"avx2", "Haswell"},      {"avx2", "Zen"},
            {"generic", "Nehalem"}, {"generic", "Prescott"}};
static const double CLEARLY = 1.02; /* times as fast: less is chance */
enum { FITS = sizeof fits / sizeof *fits };

/* The place in `fits` of the fastest, -1: what it takes by itself. */
static int find_fastest(struct trial *standard, struct trial *most)
{
    enum { TIMES = 3 };
    const char *forced = getenv("ATTN_CPU");
    struct trial trial[FITS] = {0};
    int best = -1;

    for (int times = 0; times < TIMES; times++) {
        try_again(NULL, standard);
        for (int i = 0; i < FITS; i++)
            if (strcmp(fits[i].set, attn_kernels_name()) == 0) try_again(fits[i].core, &trial[i]);
    }
    /* Left alone, it may use a set that our own layer was told not to. */
    if (forced && *forced)
        *most = (struct trial){0};
    else
        *most = *standard;
    for (int i = 0; i < FITS; i++)
        if (trial[i].rate > most->rate * (best < 0 ? CLEARLY : 1)) {
            *most = trial[i];
            best = i;
        }
    return best;
}

bool bench_openblas_choose(char words[BENCH_WORDS])
{
    const char *own = getenv(variable);
    struct trial standard = {0}, most;
    char standard_core[32], core[32];

    if (!try_again(NULL, &standard)) return false;
    core_of(standard_core, standard.words);
    if (own && *own) {
        snprintf(words, BENCH_WORDS, "core %s, as %s says", standard_core, variable);
        return true;
    }
    const int best = find_fastest(&standard, &most);
    if (best >= 0) setenv(variable, fits[best].core, 1);
    core_of(core, most.words);
    snprintf(words, BENCH_WORDS,
             "core %s, %.1f GFLOP/s (by itself it takes %s, %.1f GFLOP/s; products of 64 and 512)",
             core, most.rate / 1e9, standard_core, standard.rate / 1e9);
    return true;
}
