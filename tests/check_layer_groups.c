/* Layers whose batch goes in several groups and slices, and whose weights are brought into strips.
 */
#include "compare.h"
#include "layer_rules.h"
#include "numeric.h"
#include "test.h"

static struct attn_layer dot_layer(int B, int Tq, int Tk, int H, int D, int C)
{
    return (struct attn_layer){.C = C,
                               .Cy = C,
                               .Co = H * D,
                               .position = attn_position_find("rope"),
                               .core = {.n = {B, H, H, Tq, Tk, D, D},
                                        .kind = attn_kind_find("dot"),
                                        .no_weights = true,
                                        .mask = {.causal = true}}};
}

/* Two slices of several groups and more than two; with and without heads; tied weights; y shorter
 * than x, so wide that its products are copied where they are many; long sequences, which alone go
 * in runs of their rows, of which x and y have more or fewer. */
START_TEST(batches_of_many_groups_equal_their_sequences)
{
    static const struct {
        int B, Tq, Tk, H, D, C, Cy;
        bool tied;
    } c[] = {{55, 48, 48, 2, 4, 6, 6, false},  {75, 48, 48, 1, 8, 5, 5, true},
             {70, 60, 60, 3, 2, 4, 4, false},  {4, 200, 16, 1, 8, 8, 144, false},
             {9, 70, 20, 1, 8, 8, 132, false}, {5, 100, 31, 1, 8, 8, 136, false},
             {3, 300, 300, 2, 4, 6, 6, false}, {2, 700, 290, 3, 4, 6, 5, false},
             {2, 290, 700, 2, 4, 6, 6, false}, {2, 900, 900, 1, 8, 5, 5, true}};
    struct attn_layer l = dot_layer(c[_i].B, c[_i].Tq, c[_i].Tk, c[_i].H, c[_i].D, c[_i].C);

    l.Cy = c[_i].Cy;
    expect_sequences_of(&l, (struct layer_options){.cross = c[_i].Tq != c[_i].Tk,
                                                   .biases = true,
                                                   .output = _i % 2,
                                                   .tied = c[_i].tied});
}
END_TEST

START_TEST(room_for_many_groups_serves_fewer)
{
    const struct attn_layer l = dot_layer(_i ? 55 : 3, 48, 48, 2, 4, 6);

    expect_room_without_effect(&l, (struct layer_options){.biases = true, .output = true}, 80, 64);
}
END_TEST

START_TEST(room_for_more_sequences_serves_one_long_one)
{
    const struct attn_layer l = dot_layer(1, _i ? 700 : 2200, _i ? 700 : 2200, 2, 4, 6);

    expect_room_without_effect(&l, (struct layer_options){.biases = true, .output = true},
                               _i ? 2 : 4, l.core.n.Tq);
}
END_TEST

/* Their gradients are summed over all rows. */
START_TEST(long_sequences_with_codes_and_norms)
{
    static const char *const position[] = {"learned", "sinusoidal", "rope"};
    struct attn_layer l = dot_layer(2, 300, 300, 2, 4, 8);

    l.position = attn_position_find(position[_i]);
    l.qk_norm = _i == 2;
    expect_sequences_of(&l, (struct layer_options){.biases = true, .output = true});
}
END_TEST

/* Without room for weights each product reads them as they are: the same sums. */
START_TEST(weights_in_strips_are_the_same)
{
    const struct attn_layer l = _i % 2 ? dot_layer(1, 300, 300, 4, 32, _i & 2 ? 40 : 64)
                                       : dot_layer(12, 48, 48, 2, 64, _i & 2 ? 33 : 64);
    struct layer_trial t;
    attn_real *grad[TENSORS];

    layer_trial_make(&t, &l, (struct layer_options){.biases = true, .output = _i & 4}, 0, 9);
    layer_trial_run(&t);
    const attn_real *out = copied(t.out, t.nout);
    for (int i = 0; i < TENSORS; i++) grad[i] = copied(t.grad[i], t.count[i]);
    for (int i = 0; i < 4; i++) t.saved.weights[i] = NULL;
    layer_trial_clear(&t);
    layer_trial_run(&t);
    expect_same(t.out, out, t.nout, "out");
    for (int i = 0; i < TENSORS; i++) expect_same(t.grad[i], grad[i], t.count[i], tensor_name[i]);
    layer_trial_free(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "groups", batches_of_many_groups_equal_their_sequences, 10);
    add_loop_test(suite, "room", room_for_many_groups_serves_fewer, 2);
    add_loop_test(suite, "room of one", room_for_more_sequences_serves_one_long_one, 2);
    add_loop_test(suite, "codes and norms", long_sequences_with_codes_and_norms, 3);
    add_loop_test(suite, "strips", weights_in_strips_are_the_same, 8);
}
