#include "trainer_answers.h"

#include <math.h>
#include <string.h>

#include "attn/clip.h"
#include "attn/embedding.h"

int attn_strongest(const attn_real *x, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Classes of one sequence, whose rows begin at `row` of the output. */
static void add_classes(struct attn_answers *a, const struct attn_batch *one, const attn_real *row,
                        int outputs)
{
    int before = ATTN_NO_ID, counted = 0; /* before: what was answered one position ahead */

    for (int i = 0; i < one->T; i++, row += outputs) {
        const bool counts = attn_batch_counts(one, (size_t)i);
        const int answer = counts ? attn_strongest(row, outputs) : ATTN_NO_ID;
        if (counts) {
            const bool right = answer == one->targets[i];
            a->right += right;
            if (counted++ == 0) a->first_right += right;
            if (before != ATTN_NO_ID) {
                a->repeated += answer == before;
                a->pairs++;
            }
        }
        before = answer;
    }
    a->counted += counted;
    a->sequences += counted > 0;
}

/* With unit vectors u, the sum over ordered pairs of different ones of u_i . u_j is
 * |sum u|^2 - n: one pass, no pair is looked at. A state of 0 has no direction. */
static void add_states(struct attn_answers *a, const struct attn_batch *one, const attn_real *x,
                       int width, double *sum)
{
    double squares = 0, n = 0;

    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int i = 0; i < one->T; i++, x += width) {
        if (!attn_batch_counts(one, (size_t)i)) continue;
        const double length = attn_norm(x, (size_t)width);
        if (length == 0) continue;
        const double unit = 1 / length;
        for (int c = 0; c < width; c++) sum[c] += unit * (double)x[c];
        n++;
    }
    if (n < 2) return;
    for (int c = 0; c < width; c++) squares += sum[c] * sum[c];
    a->cosine += (squares - n) / (n * (n - 1));
    a->cosines++;
}

void attn_answers_add(struct attn_answers *a, const struct attn_model *m,
                      const struct attn_batch *b, double *room)
{
    const size_t outputs = (size_t)m->settings.outputs, width = (size_t)m->settings.width;
    const attn_real *y = attn_model_output(m), *x = attn_model_hidden(m);

    for (int i = 0; i < b->B; i++) {
        const struct attn_batch one = attn_batch_part(b, i, 1);
        const size_t first = (size_t)i * (size_t)b->T;
        if (b->targets) add_classes(a, &one, y + first * outputs, (int)outputs);
        if (x) add_states(a, &one, x + first * width, (int)width, room);
    }
}

static double share(long part, long all)
{
    return all ? (double)part / (double)all : (double)NAN;
}

void attn_answers_score(const struct attn_answers *a, struct attn_scores *scores)
{
    scores->accuracy = share(a->right, a->counted);
    scores->first_accuracy = share(a->first_right, a->sequences);
    scores->repetition = share(a->repeated, a->pairs);
    scores->hidden_cosine = a->cosines ? a->cosine / (double)a->cosines : (double)NAN;
}
