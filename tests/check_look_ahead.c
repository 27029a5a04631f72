/* A causal model must not see what it has to predict. */
#include "test.h"

#include "attn/memory.h"
#include "attn/model.h"
#include "attn/optimizer.h"
#include "attn/rng.h"

static void random_tokens(struct attn_batch *b, int vocabulary, uint32_t step)
{
    for (int i = 0; i < b->B; i++) {
        struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, step, (uint32_t)i);
        int next = (int)attn_rng_below(&rng, (uint32_t)vocabulary);
        for (int t = 0; t < b->T; t++) {
            b->tokens[i * b->T + t] = next;
            b->targets[i * b->T + t] = next = (int)attn_rng_below(&rng, (uint32_t)vocabulary);
        }
        b->lengths[i] = b->T;
    }
}

/* The next of independent tokens cannot be known: a causal model that does
 * better than chance looks ahead. */
START_TEST(a_causal_model_cannot_look_ahead)
{
    enum { SEQUENCES = 64, LENGTH = 16, TOKENS = 8, STEPS = 150 };
    const struct attn_optimizer *adam = attn_optimizer_find("adam");
    const struct attn_optimizer_settings o = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    const struct attn_model_settings s = {.vocabulary = TOKENS,
                                          .fields = 1,
                                          .outputs = TOKENS,
                                          .layers = 1,
                                          .width = 16,
                                          .heads = 2,
                                          .kind = "dot",
                                          .position = "learned",
                                          .causal = true,
                                          .residual = true,
                                          .activation = "gelu",
                                          .output = true,
                                          .init = 1};
    struct attn_arena arena = {0};
    struct attn_loss fresh = {0};
    struct attn_error e;
    struct attn_model m;

    attn_batch_take(&arena, SEQUENCES, LENGTH, 1, 0, 0);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    struct attn_batch b = attn_batch_take(&arena, SEQUENCES, LENGTH, 1, 0, 0);
    ck_assert_ptr_null(attn_model_new(&m, &s, NULL, SEQUENCES, LENGTH, &e));
    attn_model_start(&m, 5);
    attn_real *moment[2] = {calloc(m.count, sizeof(attn_real)), calloc(m.count, sizeof(attn_real))};
    for (uint32_t step = 1; step <= STEPS; step++) {
        random_tokens(&b, TOKENS, step);
        const struct attn_loss l = attn_model_forward(&m, &b);
        attn_model_zero(&m);
        attn_model_backward(&m, &b, (attn_real)(1.0 / (double)l.count));
        adam->step(m.w, m.g, moment, m.count, 0.01, (long)step, &o);
    }
    for (uint32_t step = STEPS + 1; fresh.count < 10000; step++) {
        random_tokens(&b, TOKENS, step);
        const struct attn_loss l = attn_model_forward(&m, &b);
        fresh.sum += l.sum;
        fresh.count += l.count;
    }
    ck_assert_double_ge(attn_loss_mean(fresh), 2.07);
    ck_assert_double_le(attn_loss_mean(fresh), 2.4);
    free(moment[0]);
    free(moment[1]);
    attn_model_free(&m);
    attn_free(arena.base);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "no look ahead", a_causal_model_cannot_look_ahead);
}
