#include "mutate.h"

#include "attn/memory.h"

const char *refusal(Reader *reader, const void *bytes, size_t n)
{
    static struct attn_error e;
    unsigned char *exact = malloc(n ? n : 1);
    const long before = attn_alloc_live();
    const char *wrong;

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, n);
    wrong = reader(n ? exact : NULL, n, &e);
    free(exact);
    if (attn_alloc_live() != before) ck_abort_msg("%ld blocks left", attn_alloc_live() - before);
    if (!wrong) return NULL;
    if (wrong != e.text || e.fault != ATTN_BAD_INPUT || strncmp(wrong, "test:", 5) != 0)
        ck_abort_msg("fault %d, \"%s\"", (int)e.fault, wrong);
    return wrong;
}

void expect_other_lengths_refused(Reader *reader, const void *bytes, size_t n)
{
    unsigned char *longer = malloc(n + 1);

    ck_assert_ptr_nonnull(longer);
    memcpy(longer, bytes, n);
    longer[n] = 'x';
    ck_assert_msg(!refusal(reader, bytes, n), "%s", refusal(reader, bytes, n));
    for (size_t k = 0; k <= n + 1; k++)
        if (k != n && !refusal(reader, longer, k)) ck_abort_msg("%zu of %zu bytes accepted", k, n);
    free(longer);
}

int accepted_mutations(Reader *reader, const void *bytes, size_t n)
{
    unsigned char *changed = malloc(n);
    int accepted = 0;

    ck_assert_ptr_nonnull(changed);
    memcpy(changed, bytes, n);
    for (size_t i = 0; i < n; i++) {
        for (int step = 1; step < 256; step++) {
            changed[i]++;
            if (!refusal(reader, changed, n)) accepted++;
        }
        changed[i]++;
    }
    free(changed);
    return accepted;
}

int expect_clean_out_of_memory(Reader *reader, const void *bytes, size_t n)
{
    const long before = attn_alloc_live();
    struct attn_error e;

    for (int k = 1;; k++) {
        attn_alloc_fail_from(k);
        const char *wrong = reader(bytes, n, &e);
        attn_alloc_fail_from(0);
        ck_assert_int_eq(attn_alloc_live(), before);
        if (!wrong) return k - 1;
        ck_assert_msg(e.fault == ATTN_OUT_OF_MEMORY, "allocation %d: %s", k, wrong);
        ck_assert_ptr_nonnull(strstr(wrong, "test"));
        ck_assert_int_lt(k, 100);
    }
}
