#include "attn/mse.h"

#include <assert.h>
#include <stddef.h>

struct attn_loss attn_mse_forward(const attn_real *y, const attn_real *target,
                                  const unsigned char *counted, int rows, int cols)
{
    struct attn_loss loss = {0, 0};

    assert(rows >= 0 && cols >= 0);
    for (int r = 0; r < rows; r++, y += cols, target += cols) {
        if (counted && !counted[r]) continue;
        for (int c = 0; c < cols; c++) {
            const double off = (double)y[c] - (double)target[c];
            loss.sum += off * off;
        }
        loss.count += cols;
    }
    return loss;
}

/* d(y - t)^2/dy = 2 (y - t); the target is data and takes no gradient. */
void attn_mse_backward(attn_real *dy, const attn_real *y, const attn_real *target,
                       const unsigned char *counted, attn_real scale, int rows, int cols)
{
    assert(rows >= 0 && cols >= 0);
    for (int r = 0; r < rows; r++, dy += cols, y += cols, target += cols) {
        if (counted && !counted[r]) continue;
        for (int c = 0; c < cols; c++) dy[c] += scale * (2 * (y[c] - target[c]));
    }
}
