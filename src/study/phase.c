#include "attn/phase.h"

#include <math.h>
#include <stdbool.h>

enum { SHORTEST_PLATEAU = 3, LARGEST_WINDOW = 32 };

static const double NOT_THERE = (double)NAN, FLAT = 0.1;

/* Differences below this share of the values themselves are rounding. */
static const double ROUNDING = 1e-9;

struct series {
    const double *step, *value;
    int n, w;
};

/* The mean over [first, last] cut to the series; NAN where nothing is finite. */
static double mean(const struct series *s, int first, int last)
{
    double sum = 0;
    int count = 0;

    for (int k = first < 0 ? 0 : first; k <= last && k < s->n; k++)
        if (isfinite(s->value[k])) {
            sum += s->value[k];
            count++;
        }
    return count ? sum / count : NOT_THERE;
}

static double smooth(const struct series *s, int k)
{
    return mean(s, k - s->w, k + s->w);
}

static double fall_around(const struct series *s, int k)
{
    return smooth(s, k - s->w) - smooth(s, k + s->w);
}

static void find_range(const struct series *s, double *range, double *size)
{
    double low = (double)INFINITY, high = (double)-INFINITY;

    for (int k = 0; k < s->n; k++) {
        const double x = smooth(s, k);
        low = fmin(low, x); /* a NAN is neither */
        high = fmax(high, x);
    }
    *range = high - low;
    *size = fmax(fabs(low), fabs(high));
}

/* The points with the steepest fall, one or several in a row; false: nothing falls. */
static bool find_steepest(const struct series *s, double size, int *first, int *last)
{
    double best = ROUNDING * size;

    *first = -1;
    for (int k = s->w; k + s->w < s->n; k++) {
        const double fall = fall_around(s, k);
        if (fall > best + ROUNDING * size) {
            best = fall;
            *first = *last = k;
        } else if (*first >= 0 && *last == k - 1 && fabs(fall - best) <= ROUNDING * size) {
            *last = k;
        }
    }
    return *first >= 0;
}

static bool is_flat(const struct series *s, int k, double range)
{
    const double before = fmax(s->step[k - 1], 1), after = fmax(s->step[k + 1], 1);

    return fabs(smooth(s, k + 1) - smooth(s, k - 1)) < FLAT * range * log(after / before);
}

static void find_plateau(struct attn_phase *phase, const struct series *s, int end, double range)
{
    int last = end - 1, first;

    for (; last >= SHORTEST_PLATEAU; last = first - 1) {
        while (last >= SHORTEST_PLATEAU && !is_flat(s, last, range)) last--;
        for (first = last; first >= 1 && is_flat(s, first, range);) first--;
        if (last - first < SHORTEST_PLATEAU) continue;
        phase->plateau_begin = s->step[first + 1];
        phase->plateau_end = s->step[last];
        phase->plateau_level = mean(s, first + 1, last);
        return;
    }
}

static int window_of(int n, int window)
{
    int w = window > 0 ? window : n / 40;

    if (window <= 0 && w > LARGEST_WINDOW) w = LARGEST_WINDOW;
    if (w > (n - 1) / 2) w = (n - 1) / 2;
    return w < 1 ? 1 : w;
}

struct attn_phase attn_phase_of_loss(const double *step, const double *loss, int n, int window)
{
    struct attn_phase phase = {NOT_THERE, NOT_THERE, NOT_THERE, NOT_THERE,
                               NOT_THERE, NOT_THERE, NOT_THERE, NOT_THERE};
    const struct series s = {step, loss, n, window_of(n, window)};
    double range, size;
    int first, last;

    if (n < 3) return phase;
    find_range(&s, &range, &size);
    if (!find_steepest(&s, size, &first, &last)) return phase;
    phase.fall = (step[(first + last) / 2] + step[(first + last + 1) / 2]) / 2;
    phase.fall_size = fall_around(&s, first);
    phase.fall_share = phase.fall_size / range;
    find_plateau(&phase, &s, first, range);
    return phase;
}

double attn_phase_reach(const double *step, const double *value, int n, double level)
{
    int before = -1;

    for (int k = 0; k < n; k++) {
        if (!isfinite(value[k])) continue;
        if (value[k] >= level) {
            if (before < 0) return step[k];
            return step[before] +
                   (step[k] - step[before]) * (level - value[before]) / (value[k] - value[before]);
        }
        before = k;
    }
    return NOT_THERE;
}

struct attn_phase attn_phase_find(const double *step, const double *loss, const double *mass, int n,
                                  int window)
{
    struct attn_phase phase = attn_phase_of_loss(step, loss, n, window);

    if (mass) phase.half = attn_phase_reach(step, mass, n, 0.5);
    phase.lead = phase.fall - phase.half;
    return phase;
}
