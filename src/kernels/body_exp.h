/* body_exp.h (private) - powers of e and of 2, and the natural logarithm.
 *
 * e^x = 2^n e^r with n = round(x / ln 2) and r = x - n ln 2, |r| <= ln 2 / 2.
 * ln 2 is split in two so that n times the first part is exact (Cody & Waite
 * 1980). (e^r - 1 - r) / r^2 is a polynomial that interpolates at the Chebyshev
 * nodes: of e^r that is a relative error of 1e-8 for float, 2e-17 for double.
 * Adding 1.5 2^mantissa rounds to an integer and leaves it in the low bits.
 * Results below the normal range are 0. */
#ifdef ATTN_DOUBLE
enum { MANTISSA = 52, EXPONENT_BIAS = 1023 };
static const attn_real exp_low = -708.3964185322641, exp_high = 710;
static const attn_real ln2_head = 6.93145751953125e-1, ln2_tail = 1.42860682030941723212e-6;
static const attn_real exp_poly[] = {2.510038549551032e-08,
                                     2.7620088445409746e-07,
                                     2.7557268459997064e-06,
                                     2.4801521295954376e-05,
                                     0.00019841269863053618,
                                     0.0013888888917213717,
                                     0.0083333333333300615,
                                     0.041666666666624129,
                                     0.16666666666666669,
                                     0.50000000000000011,
                                     1,
                                     1};
static const attn_real exp2_poly[] = {
    4.454105125293416e-10,  7.0709810833657675e-09, 1.0178067259946989e-07, 1.3215451619146607e-06,
    1.5252733820805852e-05, 0.0001540353042479538,  0.0013333558146423209,  0.009618129107618658,
    0.05550410866482158,    0.24022650695910078,    0.6931471805599453,     1};
static const attn_real least_weight = 960;
#else
enum { MANTISSA = 23, EXPONENT_BIAS = 127 };
static const attn_real exp_low = -87.33654f, exp_high = 89;
static const attn_real ln2_head = 0.693359375f, ln2_tail = -2.12194440e-4f;
static const attn_real exp_poly[] = {
    0.0013926184f, 0.0083631791f, 0.041666555f, 0.16666577f, 0.5f, 1, 1};
static const attn_real exp2_poly[] = {0.0013264727f, 0.009671513f, 0.055507336f,
                                      0.24022242f,   0.693147f,    1};
static const attn_real least_weight = 100;
#endif
enum {
    EXP_TERMS = sizeof exp_poly / sizeof *exp_poly,
    EXP2_TERMS = sizeof exp2_poly / sizeof *exp2_poly
};
static const attn_real log2_e = (attn_real)1.44269504088896340736;
static const attn_real ln_2 = (attn_real)0.69314718055994530942;
static const attn_real rounder = (attn_real)(3LL << (MANTISSA - 1));

/* e^r for |r| <= ln 2 / 2. */
static inline vec exp_rest(vec r)
{
    vec p = splat(exp_poly[0]);

    UNROLLED
    for (int i = 1; i < EXP_TERMS; i++) p = p * r + exp_poly[i];
    return p;
}

/* x - n ln 2 */
static inline vec without_ln2(vec x, vec n)
{
    return (x - n * ln2_head) - n * ln2_tail;
}

/* p 2^n with n in the low bits of shifted, in two factors: n reaches 128 (1024)
 * where the result is still finite. */
static inline vec times_power(vec p, vec shifted)
{
    const ivec whole = (ivec)((uvec)shifted - (uvec)splat(rounder)), half = whole >> 1;

    p *= (vec)((uvec)(half + EXPONENT_BIAS) << MANTISSA);
    return p * (vec)((uvec)(whole - half + EXPONENT_BIAS) << MANTISSA);
}

static inline vec between(vec x, attn_real low, attn_real high)
{
    return choose(x < splat(low), splat(low), choose(x > splat(high), splat(high), x));
}

static inline vec exp_vec(vec x)
{
    const vec y = between(x, exp_low, exp_high), shifted = y * log2_e + rounder;
    const vec p = times_power(exp_rest(without_ln2(y, shifted - rounder)), shifted);

    return (vec)((ivec)p & ~(x < splat(exp_low)));
}

/* 2^x = 2^n e^(r ln 2) with r = x - n, exactly. */
static inline vec exp2_vec(vec x)
{
    const vec y = between(x, 1 - EXPONENT_BIAS, 1 + EXPONENT_BIAS), shifted = y + rounder;
    const vec p = times_power(exp_rest((y - (shifted - rounder)) * ln_2), shifted);

    return (vec)((ivec)p & ~(x < splat(1 - EXPONENT_BIAS)));
}

/* 2^x for x up to 0 or hardly more, as scores to base 2 below their maximum are. Weights below
 * 2^-least are 0: what is made of smaller ones would be subnormal, and slow. The rounder here
 * leaves the exponent with its bias in the low bits. */
static inline vec exp2_below_0(vec x)
{
    const attn_real biased = rounder + (attn_real)EXPONENT_BIAS;
    const vec low = splat(-least_weight), y = larger(low, x), shifted = y + biased;
    const vec r = y - (shifted - biased), power = (vec)((uvec)shifted << MANTISSA);
    vec p = splat(exp2_poly[0]);

    UNROLLED
    for (int i = 1; i < EXP2_TERMS; i++) p = p * r + exp2_poly[i];
    return (vec)((ivec)(p * power) & ~(x < low));
}

/* log x = e ln 2 + log f with x = 2^e f, f in [sqrt 1/2, sqrt 2), and
 * log f = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ..), s = (f - 1) / (f + 1), |s| < 0.172.
 * For 0, normal numbers, inf and NaN. */
#ifdef ATTN_DOUBLE
enum { LOG_TERMS = 11 };
#else
enum { LOG_TERMS = 5 };
#endif

static inline vec log_vec(vec x)
{
    const vec root = splat((attn_real)0.70710678118654752440);
    const ivec exponent = (ivec)((uvec)x - (uvec)root) >> MANTISSA;
    const vec f = (vec)((uvec)x - ((uvec)exponent << MANTISSA)), s = (f - 1) / (f + 1), z = s * s;
    const vec e = __builtin_convertvector(exponent, vec);
    vec p = {0};

    UNROLLED
    for (int i = LOG_TERMS; i > 0; i--) p = p * z + (attn_real)(2. / (2 * i + 1));
    const vec y = e * ln2_head + (s * 2 + (s * z * p + e * ln2_tail));
    const vec special = choose(x == (vec){0}, splat((attn_real)-INFINITY), x);
    return choose((x > (vec){0}) & (x < splat((attn_real)INFINITY)), y, special);
}
