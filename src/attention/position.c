#include "attn/position.h"

#include <string.h>

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
