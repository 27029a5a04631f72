/* spectrum.h - the singular values of W_Q W_K^T, head by head.
 *
 * Shapes    wq (C, D) and wk (Cy, D): the columns of one head, rows q_row and
 *           k_row numbers apart, for (C, H*D) and heads side by side. middle
 *           (D, D) or NULL: a kind that scores q M k^T, M as k reads it.
 * Values    sigma_1 >= ... >= sigma_n of W_Q [M] W_K^T, which is what the scores
 *           see of the weights: X W_Q M W_K^T Y^T. n = min(C, Cy, D); further
 *           ones are 0.
 *   norm            ||W||_F = sqrt(sum sigma^2)
 *   largest         sigma_1 = ||W||_2
 *   stable_rank     ||W||_F^2 / sigma_1^2, from 1 to n
 *   effective_rank  exp(H(sigma / sum sigma)), from 1 to n
 *                   NAN, both, where W is 0
 * Method    With W_Q = Q_1 R_1 and W_K = Q_2 R_2 the values are those of the core
 *           R_1 M R_2^T, at most D x D. Reflections from both sides make it
 *           bidiagonal, then implicit QR steps diagonal. Values are right to
 *           rounding of the largest.
 * Cost      2 D^2 (C + Cy) + 2 D^3 for the core, 8/3 n^3 for the values; nothing is
 *           allocated. Always in double.
 * Source    Golub & Kahan 1965; Golub & Reinsch 1970. Effective rank: Roy &
 *           Vetterli 2007. Stable rank: Rudelson & Vershynin 2007. */
#ifndef ATTN_SPECTRUM_H
#define ATTN_SPECTRUM_H

#include <stddef.h>

#include "attn/real.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attn_head_weights {
    const attn_real *wq, *wk, *middle;
    size_t q_row, k_row; /* from one row to the next, in numbers */
    int C, Cy, D;
};

struct attn_spectrum {
    double norm, largest, stable_rank, effective_rank;
    int n; /* values */
};

/* Doubles of room that one call needs. SIZE_MAX: too large. */
size_t attn_spectrum_room(int C, int Cy, int D);

/* sigma: n = min(C, Cy, D) values, falling; NULL: not wanted. Weights that are not
 * finite give NAN throughout. */
struct attn_spectrum attn_spectrum(double *sigma, const struct attn_head_weights *w, double *room);

/* ||A||_F of the columns of one head: rows x columns, `row` numbers apart. */
double attn_frobenius(const attn_real *a, int rows, int columns, size_t row);

#ifdef __cplusplus
}
#endif
#endif
