/* gradcheck_kink.h - values held away from where differences cannot be taken.
 *
 * Differences across a kink are wrong however small the step, and no estimate
 * tells it reliably. Every input of a kinked activation is therefore brought to
 * at least GRADCHECK_KINK from 0 before anything is differentiated. */
#ifndef GRADCHECK_KINK_H
#define GRADCHECK_KINK_H

#include <stdbool.h>

#include "attn/activation.h"
#include "attn/attention.h"
#include "attn/model.h"
#include "gradcheck_subject.h"

/* So often values are drawn until differences can be taken there; after that what the
 * differences say of the last ones stands. */
enum { GRADCHECK_DRAWS = 1000 };

/* Whether the slopes on both sides of 0 differ. */
bool gradcheck_has_kink(const struct attn_activation *activation);

/* Whether a kind's queries and keys must keep away from 0: phi = elu + 1 has two second
 * derivatives there. */
bool gradcheck_kind_has_kink(const struct attn_kind *kind);
void gradcheck_leave_zero(struct gradcheck_tensor *t); /* every value by GRADCHECK_KINK more */

/* Sets a bias (H, D) of rows (B, H, T, D), which were made with a bias of 0, so that no sum is
 * nearer to 0 than GRADCHECK_KINK. */
void gradcheck_bias_away(attn_real *bias, const attn_real *rows, int B, int H, int T, int D);

/* Changes the first bias of each MLP, or without biases that of the norm before it, in
 * m->w. Without a norm, m must have one layer and biases. */
void gradcheck_avoid_kinks(struct gradcheck_subject *s, struct attn_model *m,
                           const struct attn_batch *b);

/* Whether no row's norm is so small that its direction turns round within a step of the
 * differences: rstd is (rows), from rmsnorm.h. */
bool gradcheck_norms_are_smooth(const attn_real *rstd, int rows);

#endif
