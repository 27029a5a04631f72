/* In the number type of the library. */
#define NUMBER attn_real
#define PROBLEM plain_real
#define SOLVE plain_real_solve
#define FREE plain_real_free
#include "plain_body.h"

bool plain_has(const struct plain_shape *n, enum plain_array which)
{
    return which < PLAIN_X || n->C > 0;
}

size_t plain_count(const struct plain_shape *n, enum plain_array which)
{
    const size_t T = (size_t)n->T, C = (size_t)n->C, columns = (size_t)n->H * (size_t)n->D;

    if (which < PLAIN_X) return T * columns;
    return which == PLAIN_X || which == PLAIN_DX ? T * C : C * columns;
}

struct plain_real plain_real_make(const struct plain_shape *n)
{
    struct plain_real p = {.n = *n};

    for (int i = 0; i < PLAIN_ARRAYS; i++) {
        if (!plain_has(n, i)) continue;
        p.at[i] = calloc(plain_count(n, i), sizeof *p.at[i]);
        ck_assert_ptr_nonnull(p.at[i]);
    }
    return p;
}
