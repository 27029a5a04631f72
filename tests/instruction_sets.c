#include "instruction_sets.h"

#include "compare.h"
#include "test.h"

int instruction_sets(void)
{
    int n = 0;

    while (attn_kernels_all[n]) n++;
    return n;
}

const struct attn_kernels *instruction_set(int i)
{
    const struct attn_kernels *k = attn_kernels_all[i];

    if (k->supported()) return k;
    fprintf(stderr, "skipped: this processor has no %s\n", k->name);
    return NULL;
}

bool choose_instruction_set(int i)
{
    const struct attn_kernels *k = instruction_set(i);
    struct attn_error e;

    if (!k) return false;
    setenv("ATTN_CPU", k->name, 1);
    expect(!attn_kernels_choose(&e), "%s", e.text);
    ck_assert_ptr_eq(attn_kernels(), k);
    return true;
}
