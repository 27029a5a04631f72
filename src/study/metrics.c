#include "attn/metrics.h"

#include <stdbool.h>
#include <stddef.h>

struct attn_loss attn_target_mass(const attn_real *p, const unsigned char *right, int head, int B,
                                  int H, int Tq, int Tk)
{
    struct attn_loss mass = {0};

    for (int b = 0; b < B; b++)
        for (int i = 0; i < Tq; i++) {
            const attn_real *row =
                p + (((size_t)b * (size_t)H + (size_t)head) * (size_t)Tq + (size_t)i) * (size_t)Tk;
            const unsigned char *wanted = right + ((size_t)b * (size_t)Tq + (size_t)i) * (size_t)Tk;
            bool any = false;

            for (int j = 0; j < Tk; j++) {
                if (!wanted[j]) continue;
                mass.sum += (double)row[j];
                any = true;
            }
            mass.count += any;
        }
    return mass;
}
