/* PyTorch as a peer: scripts/peer_torch.py, which follows bench_worker.h's protocol.
 * The one place where this project meets Python; nothing needs it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/kernels.h"
#include "bench_gemm.h"
#include "bench_training.h"

static void limit_set(void)
{
    if (strcmp(attn_kernels_name(), "avx512") == 0) return;
    setenv("ATEN_CPU_CAPABILITY", strcmp(attn_kernels_name(), "avx2") ? "default" : "avx2", 1);
    setenv("DNNL_MAX_CPU_ISA", strcmp(attn_kernels_name(), "avx2") ? "SSE41" : "AVX2", 1);
}

static const char *become(const struct bench_plan *plan, struct attn_error *e)
{
    char sizes[BENCH_WORDS], threads[16], script[4096];

    snprintf(script, sizeof script, "%s", plan->torch);
    if (access(script, R_OK)) return attn_fail(e, ATTN_BAD_INPUT, "no script peer_torch.py");
    if (plan->size)
        snprintf(sizes, sizeof sizes, "B=%d T=%d C=%d H=%d causal=%d", plan->size->B, plan->size->T,
                 plan->size->C, plan->size->H, plan->causal);
    else if (bench_training_words(sizes, e))
        return e->text;
    char program[] = "peer_torch", single[] = "float32", both[] = "float64";
    char layer[] = "layer", training[] = "training";
    char *argv[] = {program,
                    script,
                    plan->size ? layer : training,
                    threads,
                    sizeof(attn_real) == 4 ? single : both,
                    sizes,
                    NULL};
    snprintf(threads, sizeof threads, "%d", plan->threads);
    bench_library_threads(plan->threads);
    limit_set();
    execv(plan->python, argv);
    return attn_fail(e, ATTN_BAD_INPUT, "%s: %s", plan->python, strerror(errno));
}

const struct bench_peer bench_torch = {.name = "torch",
                                       .summary = "PyTorch, by scripts/peer_torch.py",
                                       .squares = 4,
                                       .become = become};
