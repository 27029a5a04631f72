#include "bench_gemm.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/kernels.h"

static void *load(const char *const *names)
{
    void *library = NULL;

    for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

void bench_library_threads(int threads)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "MKL_NUM_THREADS"};
    char number[16];

    snprintf(number, sizeof number, "%d", threads);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) setenv(names[i], number, 1);
}

/* The C interface of the reference BLAS: 101 row-major, 111 as it is, 112 transposed. */
typedef void cblas_gemm(int order, int ta, int tb, int M, int N, int K, attn_real alpha,
                        const attn_real *a, int lda, const attn_real *b, int ldb, attn_real beta,
                        attn_real *c, int ldc);
static cblas_gemm *openblas; /* of this process, which serves one peer */

static void multiply_openblas(const struct bench_product *p)
{
    openblas(101, p->ta ? 112 : 111, p->tb ? 112 : 111, p->M, p->N, p->K, p->alpha, p->a, p->lda,
             p->b, p->ldb, p->beta, p->c, p->ldc);
}

const char *bench_openblas_load(bench_gemm **gemm, int threads, char words[BENCH_WORDS],
                                struct attn_error *e)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
                                        NULL};
    static const char *const parallel[] = {"serial", "pthreads", "OpenMP"};
    char *(*core)(void);
    char *(*config)(void);
    int (*kind)(void);
    void *library;

    bench_library_threads(threads);
    library = load(names);
    if (!library) return attn_fail(e, ATTN_BAD_INPUT, "libopenblas.so.0 is not installed");
    openblas = (cblas_gemm *)dlsym(library, sizeof(attn_real) == 8 ? "cblas_dgemm" : "cblas_sgemm");
    core = (char *(*)(void))dlsym(library, "openblas_get_corename");
    config = (char *(*)(void))dlsym(library, "openblas_get_config");
    kind = (int (*)(void))dlsym(library, "openblas_get_parallel");
    if (!openblas || !core || !config || !kind)
        return attn_fail(e, ATTN_BAD_INPUT, "libopenblas lacks what every release of it has");
    const char *release = strchr(config(), ' '); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    const size_t length =
        release ? strcspn(release + 1, " ") + (size_t)(release + 1 - config()) : strlen(config());
    snprintf(words, BENCH_WORDS, "%.*s, core %s, %s", (int)length, config(), core(),
             kind() >= 0 && kind() <= 2 ? parallel[kind()] : "unknown threads");
    *gemm = multiply_openblas;
    return NULL;
}

struct onednn_version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
};
typedef int onednn_gemm(char ta, char tb, int64_t M, int64_t N, int64_t K, attn_real alpha,
                        const attn_real *a, int64_t lda, const attn_real *b, int64_t ldb,
                        attn_real beta, attn_real *c, int64_t ldc);
static onednn_gemm *onednn;

/* A product that it refuses leaves numbers that the comparison will not let pass. */
static void multiply_onednn(const struct bench_product *p)
{
    onednn(p->ta ? 'T' : 'N', p->tb ? 'T' : 'N', p->M, p->N, p->K, p->alpha, p->a, p->lda, p->b,
           p->ldb, p->beta, p->c, p->ldc);
}

static const char *onednn_set(int number, char spare[16])
{
    static const struct {
        int number;
        const char *name;
    } sets[] = {{0x1, "sse41"},        {0x3, "avx"},          {0x7, "avx2"},
                {0xf, "avx2_vnni"},    {0x1f, "avx2_vnni_2"}, {0x27, "avx512_core"},
                {0x67, "avx512_vnni"}, {0xe7, "avx512_bf16"}, {0x1ef, "avx512_fp16"}};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i].number == number) return sets[i].name;
    snprintf(spare, 16, "set %#x", (unsigned)number);
    return spare;
}

const char *bench_onednn_load(bench_gemm **gemm, int threads, char words[BENCH_WORDS],
                              struct attn_error *e)
{
    static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.2",  "libdnnl.so.1",
                                        "libdnnl.so",   "libdnnl.dylib", NULL};
    const struct onednn_version *(*version)(void);
    int (*set)(void);
    char spare[16];
    void *library;

    if (sizeof(attn_real) != 4)
        return attn_fail(e, ATTN_BAD_INPUT, "its product is for float only");
    bench_library_threads(threads);
    if (strcmp(attn_kernels_name(), "avx2") == 0) setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    if (strcmp(attn_kernels_name(), "generic") == 0) setenv("DNNL_MAX_CPU_ISA", "SSE41", 1);
    library = load(names);
    if (!library) return attn_fail(e, ATTN_BAD_INPUT, "libdnnl.so.3 or .2 is not installed");
    onednn = (onednn_gemm *)dlsym(library, "dnnl_sgemm");
    version = (const struct onednn_version *(*)(void))dlsym(library, "dnnl_version");
    set = (int (*)(void))dlsym(library, "dnnl_get_effective_cpu_isa");
    if (!onednn || !version) return attn_fail(e, ATTN_BAD_INPUT, "libdnnl lacks dnnl_sgemm");
    snprintf(words, BENCH_WORDS, "oneDNN %d.%d.%d, %s", version()->major, version()->minor,
             version()->patch, set ? onednn_set(set(), spare) : "set unknown");
    *gemm = multiply_onednn;
    return NULL;
}
