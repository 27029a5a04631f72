#include "trainer_sinks.h"

#include <math.h>
#include <string.h>

#include "model/operation.h"

/* The values that one head reads, in one sequence. */
struct values {
    const attn_real *v;
    size_t row; /* from one key to the next */
    int width;
};

static struct values values_of(const struct attn_model *m, const struct attn_batch *b, int layer,
                               int head, int sequence)
{
    const struct attn_model_settings *s = &m->settings;
    const int kv = s->kv_heads ? s->kv_heads : s->heads;
    const size_t T = (size_t)b->T, features = (size_t)b->features;

    if (s->given)
        return (struct values){b->inputs + (size_t)sequence * T * features + 2 * s->width, features,
                               s->outputs};
    const int D = attn_model_head_width(s);
    const size_t own = (size_t)sequence * (size_t)kv + (size_t)(head / (s->heads / kv));
    return (struct values){attn_model_values(m, layer) + own * T * (size_t)D, (size_t)D, D};
}

static double norm_of(const struct values *v, int key)
{
    const attn_real *x = v->v + (size_t)key * v->row;
    double squares = 0;

    for (int i = 0; i < v->width; i++) squares += (double)x[i] * (double)x[i];
    return sqrt(squares);
}

static void add_values(struct attn_head_sinks *s, const struct values *v, int keys)
{
    double others = 0;

    for (int j = 1; j < keys; j++) others += norm_of(v, j);
    if (others == 0) return;
    s->ratio += norm_of(v, 0) / (others / (keys - 1));
    s->sequences++;
}

/* The rows of one sequence: those that have a first_mass in metrics.h. */
static void add_masses(struct attn_head_sinks *s, const struct attn_maps *m, int head, int sequence)
{
    const size_t Tq = (size_t)m->Tq, Tk = (size_t)m->Tk;
    const size_t map = ((size_t)sequence * (size_t)m->H + (size_t)head) * Tq;

    for (size_t i = 0; i < Tq; i++) {
        const size_t row = (size_t)sequence * Tq + i;
        const struct attn_span seen = m->span[row];
        if (!m->counted[row] || seen.lo > 0 || seen.hi < 2) continue;
        const bool target = m->right && memchr(m->right + row * Tk, 1, Tk);
        const enum attn_sink_rows which = target ? ATTN_SINK_TARGET : ATTN_SINK_OTHER;
        s->mass[which] += (double)m->p[(map + i) * Tk];
        s->rows[which]++;
    }
}

void attn_sinks_add(struct attn_head_sinks *s, const struct attn_maps *maps,
                    const struct attn_model *m, const struct attn_batch *b, int layer, int head)
{
    for (int i = 0; i < b->B; i++) {
        const struct values v = values_of(m, b, layer, head, i);
        add_values(s, &v, b->lengths[i]);
        if (!maps->coefficients) add_masses(s, maps, head, i);
    }
}

double attn_sinks_mass(const struct attn_head_sinks *s, enum attn_sink_rows rows)
{
    return s->rows[rows] ? s->mass[rows] / (double)s->rows[rows] : (double)NAN;
}

double attn_sinks_ratio(const struct attn_head_sinks *s)
{
    return s->sequences ? s->ratio / (double)s->sequences : (double)NAN;
}
