#include "attn/rng.h"

#include "test.h"

#include <math.h>

/* The known answers of the Random123 distribution, philox4x32 with 10 rounds. */
static const struct {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

START_TEST(known_answers)
{
    struct attn_rng rng = {0};

    memcpy(rng.counter, known[_i].counter, sizeof rng.counter);
    memcpy(rng.key, known[_i].key, sizeof rng.key);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(attn_rng_bits(&rng), known[_i].out[i]);
}
END_TEST

static struct attn_rng any(uint32_t step)
{
    return attn_rng_at(20240229, ATTN_STREAM_TEST, step, 0);
}

START_TEST(draws_do_not_depend_on_the_order_of_calls)
{
    enum { STEPS = 50, INDICES = 7, DRAWS = 9 };
    static uint32_t drawn[STEPS][INDICES][DRAWS];

    for (uint32_t s = 0; s < STEPS; s++)
        for (uint32_t i = 0; i < INDICES; i++) {
            struct attn_rng rng = attn_rng_at(5, ATTN_STREAM_TRAIN, s, i);
            for (int d = 0; d < DRAWS; d++) drawn[s][i][d] = attn_rng_bits(&rng);
        }
    for (uint32_t s = STEPS; s-- > 0;)
        for (uint32_t i = INDICES; i-- > 0;) {
            struct attn_rng rng = attn_rng_at(5, ATTN_STREAM_TRAIN, s, i), other = any(s);
            for (int d = 0; d < DRAWS; d++) {
                attn_rng_normal(&other);
                ck_assert_uint_eq(attn_rng_bits(&rng), drawn[s][i][d]);
            }
        }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint64_t first_words(uint64_t seed, enum attn_stream stream, uint32_t step, uint32_t index)
{
    struct attn_rng rng = attn_rng_at(seed, stream, step, index);
    const uint64_t high = attn_rng_bits(&rng);

    return high << 32 | attn_rng_bits(&rng);
}

/* Every part of the address counts, the upper half of the seed too: all first pairs differ. */
START_TEST(no_two_addresses_share_their_draws)
{
    enum { N = 6 * 6 * 6 * 6 };
    static const uint64_t seed[6] = {0, 1, 2, 1ull << 32, 1ull << 63, UINT64_MAX};
    static uint64_t first[N];
    int n = 0;

    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            for (uint32_t c = 0; c < 6; c++)
                for (uint32_t d = 0; d < 6; d++)
                    first[n++] = first_words(seed[a], (enum attn_stream)b, c, d);
    qsort(first, N, sizeof *first, by_value);
    for (int i = 1; i < N; i++) ck_assert_uint_ne(first[i - 1], first[i]);
}
END_TEST

START_TEST(blocks_follow_one_another)
{
    struct attn_rng rng = any(1), second = any(1);

    second.counter[0] = 1;
    for (int i = 0; i < 4; i++) attn_rng_bits(&rng);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(attn_rng_bits(&rng), attn_rng_bits(&second));
}
END_TEST

enum { SAMPLES = 400000 };

/* The mean of x^k over the samples, within five standard errors of what it should be. */
static void expect_moment(const double *x, int k, double mean, double deviation)
{
    double sum = 0;

    for (int i = 0; i < SAMPLES; i++) sum += pow(x[i], k);
    sum /= SAMPLES;
    ck_assert_msg(fabs(sum - mean) < 5 * deviation / sqrt(SAMPLES),
                  "moment %d: %.6f, expected %.6f", k, sum, mean);
}

START_TEST(uniform_is_uniform)
{
    static double x[SAMPLES];
    struct attn_rng rng = any(2);
    double together = 0;

    for (int i = 0; i < SAMPLES; i++) {
        x[i] = attn_rng_uniform(&rng);
        if (x[i] < 0 || x[i] >= 1 || x[i] * 0x1p53 != floor(x[i] * 0x1p53))
            ck_abort_msg("%.17g is not in [0, 1) in steps of 2^-53", x[i]);
    }
    for (int k = 1; k <= 4; k++)
        expect_moment(x, k, 1.0 / (k + 1), sqrt(1.0 / (2 * k + 1) - 1.0 / ((k + 1) * (k + 1))));
    for (int i = 1; i < SAMPLES; i++) together += (x[i - 1] - 0.5) * (x[i] - 0.5);
    ck_assert_msg(fabs(together / SAMPLES) < 5.0 / 12 / sqrt(SAMPLES), "neighbours: %g", together);
}
END_TEST

/* E x^k = 0, 1, 0, 3 and E x^2k = 1, 3, 15, 105. */
START_TEST(normal_is_normal)
{
    static double x[SAMPLES];
    struct attn_rng rng = any(3);
    int beyond = 0;

    for (int i = 0; i < SAMPLES; i++) x[i] = attn_rng_normal(&rng);
    expect_moment(x, 1, 0, 1);
    expect_moment(x, 2, 1, sqrt(3 - 1));
    expect_moment(x, 3, 0, sqrt(15));
    expect_moment(x, 4, 3, sqrt(105 - 9));
    for (int i = 0; i < SAMPLES; i++) beyond += fabs(x[i]) > 2;
    ck_assert_msg(fabs(beyond - 0.0455003 * SAMPLES) < 5 * sqrt(0.0455 * SAMPLES), "%d beyond 2",
                  beyond);
}
END_TEST

START_TEST(filling_rounds_the_same_normals)
{
    struct attn_rng one = any(4), all = any(4);
    attn_real a[101];

    attn_rng_fill_normal(&all, a, 101, 0.3);
    for (int i = 0; i < 101; i++) ck_assert(a[i] == (attn_real)(0.3 * attn_rng_normal(&one)));
}
END_TEST

static double chi_square(const int *count, int n, int samples)
{
    const double expected = (double)samples / n;
    double sum = 0;

    for (int i = 0; i < n; i++) sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

START_TEST(below_is_uniform)
{
    int count[32];

    for (int n = 1; n <= 32; n++) {
        struct attn_rng rng = attn_rng_at(6, ATTN_STREAM_TEST, 0, (uint32_t)n);
        memset(count, 0, sizeof count);
        for (int i = 0; i < 20000; i++) {
            const uint32_t x = attn_rng_below(&rng, (uint32_t)n);
            if (x >= (uint32_t)n) ck_abort_msg("%u is not below %d", x, n);
            count[x]++;
        }
        const double chi = chi_square(count, n, 20000), limit = n - 1 + 5 * sqrt(2.0 * n);
        ck_assert_msg(chi <= limit, "below %d: chi-square %.1f", n, chi);
    }
}
END_TEST

/* With n = 3 * 2^30 of 2^32 a remainder would be in the first third every
 * second time, and a scaled word would be 0 modulo 3 every second time. */
START_TEST(below_has_no_bias_where_n_is_large)
{
    const uint32_t n = 3u << 30;
    struct attn_rng rng = any(7);
    int third[3] = {0}, residue[3] = {0};

    for (int i = 0; i < SAMPLES; i++) {
        const uint32_t x = attn_rng_below(&rng, n);
        if (x >= n) ck_abort_msg("%u is not below %u", x, n);
        third[x >> 30]++;
        residue[x % 3]++;
    }
    ck_assert_msg(chi_square(third, 3, SAMPLES) < 25, "thirds %d %d %d", third[0], third[1],
                  third[2]);
    ck_assert_msg(chi_square(residue, 3, SAMPLES) < 25, "modulo 3: %d %d %d", residue[0],
                  residue[1], residue[2]);
}
END_TEST

START_TEST(a_shuffle_is_a_permutation)
{
    int a[200], seen[200];

    for (int n = 0; n <= 200; n += n < 5 ? 1 : 39) {
        struct attn_rng rng = attn_rng_at(8, ATTN_STREAM_TEST, 0, (uint32_t)n);
        for (int i = 0; i < n; i++) a[i] = i;
        attn_rng_shuffle(&rng, a, n);
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < n; i++) seen[a[i]]++;
        for (int i = 0; i < n; i++) ck_assert_int_eq(seen[i], 1);
    }
}
END_TEST

START_TEST(all_shuffles_are_as_likely)
{
    int count[256] = {0}, reached[24], n = 0;

    for (uint32_t i = 0; i < 24000; i++) {
        struct attn_rng rng = any(i);
        int a[4] = {0, 1, 2, 3};
        attn_rng_shuffle(&rng, a, 4);
        count[a[0] << 6 | a[1] << 4 | a[2] << 2 | a[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (count[i]) {
            ck_assert_int_lt(n, 24);
            reached[n++] = count[i];
        }
    ck_assert_int_eq(n, 24);
    ck_assert_double_lt(chi_square(reached, 24, 24000), 23 + 5 * sqrt(46));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "known answers", known_answers, sizeof known / sizeof *known);
    add_test(suite, "order of calls", draws_do_not_depend_on_the_order_of_calls);
    add_test(suite, "addresses", no_two_addresses_share_their_draws);
    add_test(suite, "blocks", blocks_follow_one_another);
    add_test(suite, "uniform", uniform_is_uniform);
    add_test(suite, "normal", normal_is_normal);
    add_test(suite, "fill", filling_rounds_the_same_normals);
    add_test(suite, "below", below_is_uniform);
    add_test(suite, "below, large", below_has_no_bias_where_n_is_large);
    add_test(suite, "shuffle", a_shuffle_is_a_permutation);
    add_test(suite, "shuffles", all_shuffles_are_as_likely);
}
