#include "attn/scaling.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static double one(int D)
{
    (void)D;
    return 1;
}

static double by_root(int D)
{
    return 1 / sqrt((double)D);
}

static double by_width(int D)
{
    return 1 / (double)D;
}

static const struct attn_scaling own = {"own", "the number given, or the kind's own", NULL};
static const struct attn_scaling none = {"none", "1, times a number given", one};
static const struct attn_scaling root = {"sqrt", "1/sqrt(D), times a number given", by_root};
static const struct attn_scaling width = {"width", "1/D, times a number given", by_width};

const struct attn_scaling *const attn_scalings[] = {&own, &none, &root, &width, NULL};

const struct attn_scaling *attn_scaling_find(const char *name)
{
    for (int i = 0; attn_scalings[i]; i++)
        if (strcmp(attn_scalings[i]->name, name) == 0) return attn_scalings[i];
    return NULL;
}

double attn_scaling_scale(const struct attn_scaling *by, double given, int D)
{
    if (!by->factor) return given;
    return by->factor(D) * (given != 0 ? given : 1);
}
