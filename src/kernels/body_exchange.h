/* body_exchange.h (private) - lanes that change their places.
 *
 * In the exchange of s = 1, 2, 4, .. two vectors trade every second run of s lanes:
 * even_s is what becomes of the first, odd_s of the second. */
#if LANES == 16
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                   31);
}

static inline vec even_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
}

static inline vec odd_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30,
                                   31);
}

static inline vec even_8(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

static inline vec odd_8(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
}

#elif LANES == 8
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline vec even_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}

static inline vec odd_4(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

#elif LANES == 4
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 4, 2, 6);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 5, 3, 7);
}

static inline vec even_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 1, 4, 5);
}

static inline vec odd_2(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

#elif LANES == 2
static inline vec even_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 2);
}

static inline vec odd_1(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 1, 3);
}

#endif

/* The second half of a run of 2 s lanes is combined with the first, for runs that get shorter:
 * as many dependent steps as LANES has bits. Of lane 0 only is the result used. */
static inline __attribute__((always_inline)) attn_real across(vec v, vec (*const both)(vec, vec))
{
#if LANES > 8
    v = both(v, odd_8(v, v));
#endif
#if LANES > 4
    v = both(v, odd_4(v, v));
#endif
#if LANES > 2
    v = both(v, odd_2(v, v));
#endif
    return both(v, odd_1(v, v))[0];
}

static inline vec plus(vec a, vec b)
{
    return a + b;
}

static inline attn_real add_lanes(vec v)
{
    return across(v, plus);
}

static inline attn_real max_lanes(vec v)
{
    return across(v, larger);
}
