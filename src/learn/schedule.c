#include "attn/schedule.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static double constant(double u)
{
    (void)u;
    return 1;
}

static double linear(double u)
{
    return 1 - u;
}

static double cosine(double u)
{
    return (1 + cos(3.14159265358979323846 * u)) / 2;
}

static const struct attn_schedule by_constant = {"constant", "1", constant};
static const struct attn_schedule by_linear = {"linear", "1 - u", linear};
static const struct attn_schedule by_cosine = {"cosine", "(1 + cos(pi u)) / 2", cosine};

const struct attn_schedule *const attn_schedules[] = {&by_constant, &by_linear, &by_cosine, NULL};

const struct attn_schedule *attn_schedule_find(const char *name)
{
    for (int i = 0; attn_schedules[i]; i++)
        if (!strcmp(attn_schedules[i]->name, name)) return attn_schedules[i];
    return NULL;
}

/* Past the last step u stays at 1, which also covers a warm-up longer than the
 * run: warmup < t <= steps leaves a denominator of at least 2. It is a sum of
 * doubles, as steps + 1 need not fit a long. */
double attn_schedule_share(const struct attn_schedule *s, long t, long warmup, long steps)
{
    assert(t >= 1 && warmup >= 0 && steps >= 1);
    if (t <= warmup) return (double)t / (double)warmup;
    if (t > steps) return s->share(1);
    return s->share((double)(t - warmup) / ((double)(steps - warmup) + 1));
}
