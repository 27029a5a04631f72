/* In a type with more digits. */
#define NUMBER wide
#define PROBLEM plain_wide
#define SOLVE plain_wide_solve
#define FREE plain_wide_free
#include "plain_body.h"

struct plain_wide plain_wide_from(const struct plain_real *from)
{
    struct plain_wide p = {.n = from->n};

    for (int i = 0; i < PLAIN_ARRAYS; i++) {
        if (!plain_has(&p.n, i)) continue;
        const size_t count = plain_count(&p.n, i);
        p.at[i] = malloc(count * sizeof *p.at[i]);
        ck_assert_ptr_nonnull(p.at[i]);
        for (size_t j = 0; j < count; j++) p.at[i][j] = (wide)from->at[i][j];
    }
    return p;
}
