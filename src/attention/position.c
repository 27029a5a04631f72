#include "attn/position.h"

#include <string.h>

#include "attn/residual.h"

#define POSITION(name) extern const struct attn_position attn_position_##name;
#include "positions.h"
#undef POSITION

const struct attn_position attn_position_none = {.name = "none", .formula = "no position"};

const struct attn_position attn_position_learned = {
    .name = "learned", .formula = "x_t += code_t, code (T, C) learned", .learned = true};

const struct attn_position *const attn_positions[] = {
#define POSITION(name) &attn_position_##name,
#include "positions.h"
#undef POSITION
    NULL};

const struct attn_position *attn_position_find(const char *name)
{
    for (int i = 0; attn_positions[i]; i++)
        if (strcmp(attn_positions[i]->name, name) == 0) return attn_positions[i];
    return NULL;
}

void attn_position_add_forward(attn_real *y, const attn_real *x, const attn_real *code, int B,
                               size_t n)
{
    for (int b = 0; b < B; b++, y += n, x += n) attn_residual_forward(y, x, code, n);
}

/* y_bi = x_bi + code_i: each x has its own dy, the code has those of all sequences. */
void attn_position_add_backward(attn_real *dx, attn_real *dcode, const attn_real *dy, int B,
                                size_t n)
{
    for (int b = 0; b < B; b++, dy += n) {
        for (size_t i = 0; dx && i < n; i++) dx[(size_t)b * n + i] += dy[i];
        for (size_t i = 0; dcode && i < n; i++) dcode[i] += dy[i];
    }
}
