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

/* The best of some products of 512 by 512. */
static void try_core(void *core, void *result)
{
    enum { N = 512, TIMES = 6 };
    struct trial *t = result;
    attn_real *a = attn_alloc((size_t)3 * N * N, sizeof *a);
    struct attn_error e;
    bench_gemm *gemm;

    if (core) setenv(variable, core, 1);
    if (!a || bench_openblas_load(&gemm, 1, t->words, &e)) return;
    for (int i = 0; i < 2 * N * N; i++) a[i] = (attn_real)(i % 7) - 3;
    for (int i = 0; i < TIMES; i++) {
        const double start = bench_now();
        gemm(&(struct bench_product){false, false, N, N, N, 1, a, N, a + N * N, N, 0, a + 2 * N * N,
                                     N});
        const double rate = 2.0 * N * N * N / (bench_now() - start);
        if (rate > t->rate) t->rate = rate;
    }
}

/* "SkylakeX" of "OpenBLAS 0.3.21, core SkylakeX, pthreads" */
static void core_of(char core[32], const char *words)
{
    const char *name = strstr(words, "core ");

    snprintf(core, 32, "%.*s", name ? (int)strcspn(name + 5, ",") : 0, name ? name + 5 : "");
}

bool bench_openblas_choose(char words[BENCH_WORDS])
{
    static const struct {
        const char *set, *core;
    } fits[] = {{"avx512", "SkylakeX"}, {"avx512", "Cooperlake"}, {"avx512", "Haswell"},
                {"avx512", "Zen"},      {"avx2", "Haswell"},      {"avx2", "Zen"},
                {"generic", "Nehalem"}, {"generic", "Prescott"}};
    const char *own = getenv(variable), *best = NULL, *forced = getenv("ATTN_CPU");
    struct trial standard = {0}, most = {0};
    char core[32];

    if (!bench_apart(try_core, NULL, &standard, sizeof standard) || standard.rate <= 0)
        return false;
    core_of(core, standard.words);
    if (own && *own) {
        snprintf(words, BENCH_WORDS, "core %s, as %s says", core, variable);
        return true;
    }
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        struct trial t = {0};
        char name[32];
        snprintf(name, sizeof name, "%s", fits[i].core);
        if (strcmp(fits[i].set, attn_kernels_name()) != 0 ||
            !bench_apart(try_core, name, &t, sizeof t) || t.rate <= most.rate)
            continue;
        most = t;
        best = fits[i].core;
    }
    /* Left alone, it may use a set that our own layer was told not to. */
    if (!(forced && *forced) && standard.rate >= most.rate) best = NULL;
    if (best) setenv(variable, best, 1);
    snprintf(words, BENCH_WORDS, "core %s, %.1f GFLOP/s (by itself it takes %s, %.1f GFLOP/s)",
             best ? best : core, (best ? most.rate : standard.rate) / 1e9, core,
             standard.rate / 1e9);
    return true;
}
