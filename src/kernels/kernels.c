#include "kernels.h"

#include <stdlib.h>
#include <string.h>

const struct attn_kernels *const attn_kernels_all[] = {
#ifdef __x86_64__
    &attn_kernels_avx512,
    &attn_kernels_avx2,
#endif
    &attn_kernels_generic,
    NULL,
};

/* Set once. Two threads that come first at the same time store the same value. */
const struct attn_kernels *attn_kernels_chosen;

static const struct attn_kernels *best(void)
{
    for (int i = 0; attn_kernels_all[i]; i++)
        if (attn_kernels_all[i]->supported()) return attn_kernels_all[i];
    return &attn_kernels_generic;
}

static const struct attn_kernels *named(const char *name)
{
    for (int i = 0; attn_kernels_all[i]; i++)
        if (strcmp(attn_kernels_all[i]->name, name) == 0) return attn_kernels_all[i];
    return NULL;
}

const char *attn_kernels_choose(struct attn_error *e)
{
    const char *name = getenv("ATTN_CPU");
    const struct attn_kernels *k = name && *name ? named(name) : best();

    if (!k)
        return attn_fail(e, ATTN_BAD_USAGE, "ATTN_CPU=%s: expected %sgeneric", name,
                         attn_kernels_all[1] ? "avx512, avx2 or " : "");
    if (!k->supported())
        return attn_fail(e, ATTN_BAD_USAGE, "ATTN_CPU=%s: this processor cannot run it", name);
    __atomic_store_n(&attn_kernels_chosen, k, __ATOMIC_RELEASE);
    return NULL;
}

const struct attn_kernels *attn_kernels_first_use(void)
{
    struct attn_error ignored;

    if (attn_kernels_choose(&ignored))
        __atomic_store_n(&attn_kernels_chosen, best(), __ATOMIC_RELEASE);
    return __atomic_load_n(&attn_kernels_chosen, __ATOMIC_ACQUIRE);
}

double attn_kernels_multiply_adds(long rounds)
{
    return attn_kernels()->multiply_adds(rounds);
}

void attn_kernels_exp(attn_real *y, const attn_real *x, size_t n)
{
    attn_kernels()->exp_row(y, x, 0, n);
}

const char *attn_kernels_name(void)
{
    return attn_kernels()->name;
}
