/* compare.h - comparisons of whole tensors; check_compare.c shows each of them failing. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "attn/real.h"

/* Fails the test with this message unless it holds. For inner loops: ck_assert
 * tells its parent process of every success, which costs a system call. */
void expect(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ||x - y||_2 and ||x||_2; NaN where an element is NaN. */
double distance(const attn_real *got, const double *want, size_t n);
double norm(const double *x, size_t n);

/* ||got - want|| <= tolerance (||want|| + floor), all finite. */
bool is_near_in_norm(const attn_real *got, const double *want, size_t n, double tolerance,
                     double floor);
void expect_near_in_norm(const attn_real *got, const double *want, size_t n, double tolerance,
                         double floor, const char *what);

/* The same bits, NaN and the sign of zero included. */
bool is_same(const attn_real *got, const attn_real *want, size_t n);
void expect_same(const attn_real *got, const attn_real *want, size_t n, const char *what);

/* Each of the n numbers is exactly 0 (of either sign). */
bool is_zero(const attn_real *x, size_t n);
void expect_zero(const attn_real *x, size_t n, const char *what);

#endif
