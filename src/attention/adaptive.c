/* Adaptive temperature (Velickovic et al. 2024, "softmax is not enough", section 5).
 *
 * Over more keys than it was trained on a softmax disperses. Each row of entropy H > 1/2
 * is taken to the power beta(H) and normalized again, which is the softmax of beta times
 * its scores:
 *
 *   beta = max(1, -0.037 H^4 + 0.481 H^3 - 2.3 H^2 + 4.917 H - 1.791)
 *   P_j <- P_j^beta / Z,  Z = sum_k P_k^beta,  lse <- beta lse + ln Z
 *
 * The polynomial is the authors' fit. For evaluation: there is no way back through it. */
#include <tgmath.h>

#include "kind.h"

static attn_real entropy_of(const attn_real *p, struct attn_span s)
{
    attn_real entropy = 0;

    for (int j = s.lo; j < s.hi; j++)
        if (p[j] > 0) entropy -= p[j] * log(p[j]);
    return entropy;
}

static attn_real beta_of(attn_real entropy)
{
    static const double fit[] = {-0.037, 0.481, -2.3, 4.917, -1.791};
    attn_real beta = 0;

    if (!(entropy > (attn_real)0.5)) return 1;
    for (int i = 0; i < 5; i++) beta = beta * entropy + (attn_real)fit[i];
    return beta > 1 ? beta : 1;
}

void attn_adapt_row(attn_real *p, attn_real *lse, struct attn_span s)
{
    const attn_real beta = beta_of(entropy_of(p, s));
    attn_real sum = 0;

    if (beta == 1) return;
    for (int j = s.lo; j < s.hi; j++) sum += p[j] = pow(p[j], beta);
    for (int j = s.lo; j < s.hi; j++) p[j] /= sum;
    *lse = beta * *lse + log(sum);
}
