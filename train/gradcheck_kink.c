#include "gradcheck_kink.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool gradcheck_has_kink(const struct attn_activation *activation)
{
    const double h = 0.001;
    const attn_real x[] = {(attn_real)-h, 0, (attn_real)h};
    attn_real y[3];

    activation->forward(y, x, 3);
    return fabs((double)y[2] - 2 * (double)y[1] + (double)y[0]) > 0.1 * h;
}

bool gradcheck_kind_has_kink(const struct attn_kind *kind)
{
    return !strcmp(attn_kind_name(kind), "linear");
}

void gradcheck_leave_zero(struct gradcheck_tensor *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->x[i] += (attn_real)copysign(GRADCHECK_KINK, (double)t->x[i]);
}

/* Even units are held above the kink and odd ones below, so that they are not all on one
 * side. */
static double side(int j)
{
    return j % 2 ? -1 : 1;
}

void gradcheck_bias_away(attn_real *bias, const attn_real *rows, int B, int H, int T, int D)
{
    for (int i = 0; i < H * D; i++) {
        double reach = 0;
        for (int b = 0; b < B; b++)
            for (int t = 0; t < T; t++)
                reach = fmax(reach, fabs((double)rows[((b * H + i / D) * T + t) * D + i % D]));
        bias[i] = (attn_real)(side(i) * (GRADCHECK_KINK + reach));
    }
}

static struct attn_parameter *find(struct attn_model *m, const char *layer, const char *name)
{
    char full[sizeof m->parameter->name];

    snprintf(full, sizeof full, "%s%s", layer, name);
    for (int i = 0; i < m->parameters; i++)
        if (!strcmp(m->parameter[i].name, full)) return &m->parameter[i];
    return NULL;
}

static attn_real *weights(struct attn_model *m, const char *layer, const char *name)
{
    const struct attn_parameter *p = find(m, layer, name);

    return p ? m->w + p->offset : NULL;
}

/* A normalised row has norm at most sqrt(C): |sum_c (xhat_c gain_c) w_cj| stays
 * below sum_c sqrt(C) |gain_c w_cj|. */
static double reach_of_norm(struct attn_model *m, const char *layer, int j)
{
    const attn_real *gain = weights(m, layer, ".norm2.gain"), *w = weights(m, layer, ".mlp1.w");
    const int C = m->settings.width, hidden = m->settings.mlp;
    double sum = 0;

    for (int c = 0; c < C; c++) sum += fabs((double)gain[c] * (double)w[c * hidden + j]);
    return sqrt((double)C) * sum;
}

/* What the norm's bias adds to every input of hidden unit j. */
static double shift_of_norm(struct attn_model *m, const char *layer, int j)
{
    const attn_real *bias = weights(m, layer, ".norm2.bias"), *w = weights(m, layer, ".mlp1.w");
    const int C = m->settings.width, hidden = m->settings.mlp;
    double sum = 0;

    for (int c = 0; c < C; c++) sum += (double)bias[c] * (double)w[c * hidden + j];
    return sum;
}

/* Without a norm: what the MLP of the only layer reads is the output of a
 * model that ends there and reads its stream out as it is. */
static const attn_real *run_to_mlp(struct gradcheck_subject *s, struct attn_model *m,
                                   const struct attn_batch *b)
{
    struct attn_model *probe = gradcheck_take(s, sizeof *probe);
    struct attn_model_settings settings = m->settings;
    attn_real *readout;

    assert(settings.layers == 1 && !settings.norm);
    settings.mlp = 0;
    settings.pool = settings.regression = false;
    settings.outputs = settings.width;
    attn_model_place(probe, &s->arena, &settings, NULL, m->B, m->T);
    assert(s->arena.used <= GRADCHECK_ROOM);
    for (int i = 0; i < probe->parameters; i++) {
        const struct attn_parameter *to = &probe->parameter[i], *from = find(m, "", to->name);
        const bool same = from && from->count == to->count && strncmp(to->name, "readout", 7);
        for (size_t j = 0; j < to->count; j++)
            probe->w[to->offset + j] = same ? m->w[from->offset + j] : 0;
    }
    readout = weights(probe, "", "readout.w");
    for (int c = 0; c < settings.width; c++) readout[c * settings.width + c] = 1;
    struct attn_batch unscored = *b;
    unscored.targets = gradcheck_take(s, (size_t)(b->B * b->T) * sizeof *unscored.targets);
    attn_model_forward(probe, &unscored);
    return attn_model_output(probe);
}

static double reach_of_rows(struct attn_model *m, const attn_real *x, int rows, int j)
{
    const attn_real *w = weights(m, "layer0", ".mlp1.w");
    const int C = m->settings.width, hidden = m->settings.mlp;
    double largest = 0;

    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < C; c++) sum += (double)x[r * C + c] * (double)w[c * hidden + j];
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

/* A bias shifts each unit by itself. A norm's bias b shifts unit j by b . w_j: b is
 * stretched until it does so far enough, and w_j turned round where it is the wrong
 * way; both are drawn anew where that would take too much. */
static void stretch_norm_bias(struct gradcheck_subject *s, struct attn_model *m, const char *layer)
{
    attn_real *const bias = weights(m, layer, ".norm2.bias"), *w = weights(m, layer, ".mlp1.w");
    const int C = m->settings.width, hidden = m->settings.mlp;
    double stretch;

    do {
        attn_rng_fill_normal(&s->rng, w, (size_t)(C * hidden), s->std);
        attn_rng_fill_normal(&s->rng, bias, (size_t)C, s->std);
        stretch = 1;
        for (int j = 0; j < hidden; j++) {
            const double shift = shift_of_norm(m, layer, j);
            stretch = fmax(stretch, (GRADCHECK_KINK + reach_of_norm(m, layer, j)) / fabs(shift));
            for (int c = 0; shift * side(j) < 0 && c < C; c++) w[c * hidden + j] *= -1;
        }
    } while (!(stretch < 10 / s->std));
    for (int c = 0; c < C; c++) bias[c] *= (attn_real)stretch;
}

static void set_biases(struct attn_model *m, const char *layer, const attn_real *x, int rows)
{
    attn_real *const bias = weights(m, layer, ".mlp1.b");

    for (int j = 0; j < m->settings.mlp; j++) {
        const double reach = m->settings.norm
                                 ? reach_of_norm(m, layer, j) + fabs(shift_of_norm(m, layer, j))
                                 : reach_of_rows(m, x, rows, j);
        bias[j] = (attn_real)(side(j) * (GRADCHECK_KINK + reach));
    }
}

void gradcheck_avoid_kinks(struct gradcheck_subject *s, struct attn_model *m,
                           const struct attn_batch *b)
{
    const attn_real *x = m->settings.norm ? NULL : run_to_mlp(s, m, b);
    char layer[16];

    for (int l = 0; l < m->settings.layers; l++) {
        snprintf(layer, sizeof layer, "layer%d", l);
        if (m->settings.bias)
            set_biases(m, layer, x, b->B * b->T);
        else
            stretch_norm_bias(s, m, layer);
    }
}

bool gradcheck_norms_are_smooth(const attn_real *rstd, int rows)
{
    const attn_real most = 10;

    for (int r = 0; r < rows; r++)
        if (rstd[r] > most) return false;
    return true;
}
