/* Max-margin selection of a token (Tarzanagh et al. 2023): one input of three tokens, which
 * score differently in the answer, and one query, which is all that is learned. In the long
 * run it points where an SVM that separates the best token from the others would.
 *
 *     token       key          value        query  (1, 0) M with M of kind bilinear:
 *     0       (-0.1, 1)          1                 p, the first row of M
 *     1       (1, 0)             0.9
 *     2       (0, 0)             0.9        loss   log(1 + exp(-value)), of two classes with
 *                                                  logits 0 and value
 *
 * p turns to (-0.1, 1) / 1.01, the shortest p with p . (k_0 - k_j) >= 1 for j = 1, 2. With
 * `local` the value of token 2 is 0, and from some starts p turns to token 1 instead, the better of
 * the two next to it.
 * The data is the same for all seeds and steps; seeds draw where p starts. */
#include <stdio.h>

#include "attn/task.h"

enum { TOKENS = 3, WIDTH = 2, OUTPUTS = 2, KEY = WIDTH, VALUE = KEY + WIDTH };
enum { FEATURES = VALUE + OUTPUTS };

static const double key[TOKENS][WIDTH] = {{-0.1, 1}, {1, 0}, {0, 0}};
static const double value[TOKENS] = {1, 0.9, 0.9};

static const char *open_margin(struct attn_dataset *d, struct attn_error *e)
{
    (void)e;
    d->T = TOKENS + 1;
    d->features = FEATURES;
    d->given = true;
    d->outputs = OUTPUTS;
    d->has_right = true;
    return NULL;
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    (void)stream, (void)index, (void)count, (void)rng;
    for (int i = 0; i < TOKENS; i++) {
        attn_real *const row = b->inputs + (size_t)i * FEATURES;
        for (int c = 0; c < WIDTH; c++) row[KEY + c] = (attn_real)key[i][c];
        row[VALUE + 1] = d->options.local && i == TOKENS - 1 ? 0 : (attn_real)value[i];
    }
    b->inputs[TOKENS * FEATURES] = 1;
    b->targets[TOKENS] = 1;
    b->right[TOKENS * (TOKENS + 1)] = 1;
    b->lengths[0] = TOKENS;
}

static void label_inputs(const struct attn_dataset *d, const attn_real *inputs, char *out, int size)
{
    (void)d;
    if (inputs[0] != 0)
        snprintf(out, (size_t)size, "p");
    else
        snprintf(out, (size_t)size, "%.1f,%.1f", (double)inputs[KEY], (double)inputs[KEY + 1]);
}

const struct attn_task attn_task_margin = {
    .name = "margin",
    .summary = "the best of three tokens: a query turns to the direction of largest margin",
    .defaults =
        "local=no kind=bilinear width=2 output=no scale=1 optimizer=sgd lr=10 steps=1000 batch=1 "
        "eval-size=1 probes=1",
    .open = open_margin,
    .fill = fill,
    .label_inputs = label_inputs,
};
