/* Attention and RotaryEmbedding as ONNX defines them, on its own node tests.
 *
 * All of them run. What the layer has no word for is done around it: past keys
 * and values are put in front of the present ones; a length per sequence moves
 * the causal line of each, so sequences run one by one; a mask with fewer keys
 * than there are hides the rest. softmax_precision is left alone: the softmax
 * here has the precision of the build. */
#include <math.h>

#include "attn/position.h"
#include "compare.h"
#include "onnx_node.h"
#include "test.h"
#include "trial.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, NONPAD }; /* inputs */
enum { OUT, PRESENT_KEY, PRESENT_VALUE, SCORES };     /* outputs */
enum { RAW, CAPPED, BIASED, WEIGHTS };                /* qk_matmul_output_mode */
enum { ATTENTION_TESTS = 66, ROTARY_TESTS = 6 };

static const double absolute = TOLERANCE(1e-6, 2e-6), relative = TOLERANCE(1e-5, 2e-5);

static const char *const attention_attributes[] = {"is_causal",
                                                   "q_num_heads",
                                                   "kv_num_heads",
                                                   "scale",
                                                   "softcap",
                                                   "left_window_size",
                                                   "right_window_size",
                                                   "softmax_precision",
                                                   "qk_matmul_output_mode",
                                                   NULL};
static const char *const rotary_attributes[] = {"interleaved", "num_heads", "rotary_embedding_dim",
                                                NULL};

static bool is_given(const struct attn_npy *a)
{
    return a->rank >= 0;
}

/* (B, heads, T, width) of an array of rank 4, or of rank 3 with so many heads side by side. */
static struct strided view(const struct attn_npy *a, int heads)
{
    struct strided s = {.B = (int)a->shape[0]};

    if (a->rank == 4) {
        s.heads = (int)a->shape[1];
        s.T = (int)a->shape[2];
        s.width = (int)a->shape[3];
        s.stride = attn_stride_heads(s.T, s.heads, s.width);
    } else {
        ck_assert_int_eq(a->rank, 3);
        s.heads = heads;
        s.T = (int)a->shape[1];
        s.width = (int)a->shape[2] / heads;
        s.stride = attn_stride_rows(s.T, s.heads, s.width);
    }
    s.room = a->count;
    s.x = malloc((a->count + 1) * sizeof *s.x);
    for (size_t i = 0; i < a->count; i++) s.x[i] = (attn_real)a->values[i];
    return s;
}

/* The rows of past, then those of now. Frees now's numbers. */
static struct strided joined(const struct attn_npy *past, struct strided now)
{
    struct strided before, all = now;

    if (!is_given(past)) return now;
    before = view(past, now.heads);
    all.T = before.T + now.T;
    all.stride = attn_stride_heads(all.T, all.heads, all.width);
    all.room = strided_count(&all);
    all.x = malloc((all.room + 1) * sizeof *all.x);
    for (int b = 0; b < all.B; b++)
        for (int h = 0; h < all.heads; h++)
            for (int t = 0; t < all.T; t++)
                memcpy(strided_at(&all, b, h, t),
                       t < before.T ? strided_at(&before, b, h, t)
                                    : strided_at(&now, b, h, t - before.T),
                       all.width * sizeof *all.x);
    free(before.x);
    free(now.x);
    return all;
}

/* Element (b, h, i, j) of a mask of any rank, its last axes those of (B, H, Tq, Tk). */
static double mask_at(const struct attn_npy *mask, int b, int h, int i, int j, double beyond)
{
    const int index[] = {b, h, i, j};
    size_t at = 0;

    if (mask->rank && (size_t)j >= mask->shape[mask->rank - 1] && mask->shape[mask->rank - 1] > 1)
        return beyond;
    for (int axis = 0; axis < mask->rank; axis++) {
        const size_t n = mask->shape[axis];
        at = at * n + (n == 1 ? 0 : (size_t)index[4 - mask->rank + axis]);
    }
    return mask->values[at];
}

struct problem {
    const struct onnx_node *node;
    struct attn_attention a;
    struct strided q, k, v, o;
    unsigned char *keep;
    attn_real *bias;
    attn_real *p, *lse, *score; /* (B, H, Tq, Tk) and (B, H, Tq) */
};

static void set_mask(struct problem *r)
{
    const struct attn_npy *mask = &r->node->input[MASK];
    const struct attn_shape n = r->a.n;
    const size_t head = (size_t)n.Tq * n.Tk, count = n.B * n.H * head;
    size_t at = 0;

    if (!is_given(mask)) return;
    if (mask->type == 'b')
        r->a.mask.keep = r->keep = malloc(count + 1);
    else
        r->a.mask.bias = r->bias = malloc((count + 1) * sizeof *r->bias);
    r->a.mask.keep_batch = r->a.mask.bias_batch = n.H * head;
    r->a.mask.keep_head = r->a.mask.bias_head = head;
    for (int b = 0; b < n.B; b++)
        for (int h = 0; h < n.H; h++)
            for (int i = 0; i < n.Tq; i++)
                for (int j = 0; j < n.Tk; j++, at++)
                    if (r->keep)
                        r->keep[at] = mask_at(mask, b, h, i, j, 0) != 0;
                    else
                        r->bias[at] = (attn_real)mask_at(mask, b, h, i, j, -(double)INFINITY);
}

static void set_up(struct problem *r, const struct onnx_node *node)
{
    const int q_heads = onnx_integer(node, "q_num_heads", 1);
    const int kv_heads = onnx_integer(node, "kv_num_heads", 1);
    struct attn_mask *m = &r->a.mask;

    *r = (struct problem){.node = node};
    r->q = view(&node->input[Q], q_heads);
    r->k = joined(&node->input[PAST_KEY], view(&node->input[K], kv_heads));
    r->v = joined(&node->input[PAST_VALUE], view(&node->input[V], kv_heads));
    r->o = view(&node->output[OUT], q_heads);
    for (size_t i = 0; i < r->o.room; i++) r->o.x[i] = (attn_real)NAN;
    r->a = (struct attn_attention){.kind = attn_kind_find("dot"),
                                   .scale = (attn_real)onnx_number(node, "scale", 0),
                                   .softcap = (attn_real)onnx_number(node, "softcap", 0),
                                   .q = r->q.stride,
                                   .k = r->k.stride,
                                   .v = r->v.stride,
                                   .o = r->o.stride};
    r->a.n =
        (struct attn_shape){r->q.B, r->q.heads, r->k.heads, r->q.T, r->k.T, r->q.width, r->v.width};
    ck_assert_int_eq(r->v.T, r->k.T);
    ck_assert_int_eq(r->v.heads, r->k.heads);
    m->causal = onnx_integer(node, "is_causal", 0);
    m->window = true;
    m->left = onnx_integer(node, "left_window_size", -1);
    m->right = onnx_integer(node, "right_window_size", -1);
    m->has_offset = true;
    if (is_given(&node->input[PAST_KEY])) m->offset = (int)node->input[PAST_KEY].shape[2];
    set_mask(r);
}

static void run_sequence(struct problem *r, int b)
{
    const struct attn_npy *nonpad = &r->node->input[NONPAD];
    struct attn_attention a = r->a;
    const size_t rows = (size_t)a.n.H * a.n.Tq, map = rows * a.n.Tk;
    struct attn_arena arena = {0};
    struct attn_saved saved;
    struct attn_error e;
    int length;

    a.n.B = 1;
    if (r->keep) a.mask.keep += b * a.mask.keep_batch;
    if (r->bias) a.mask.bias += b * a.mask.bias_batch;
    if (is_given(nonpad)) {
        length = (int)nonpad->values[b];
        a.mask.lengths = &length;
        a.mask.offset = length - a.n.Tq;
    }
    ck_assert_msg(!attn_attention_check(&a, &e), "%s", e.text);
    attn_saved_take(&arena, &a);
    arena = (struct attn_arena){.base = attn_alloc(arena.used, 1)};
    ck_assert_ptr_nonnull(arena.base);
    saved = attn_saved_take(&arena, &a);
    attn_attention_forward(strided_at(&r->o, b, 0, 0), &saved, strided_at(&r->q, b, 0, 0),
                           strided_at(&r->k, b, 0, 0), strided_at(&r->v, b, 0, 0), NULL, &a);
    memcpy(r->p + b * map, saved.p, map * sizeof *r->p);
    memcpy(r->lse + b * rows, saved.lse, rows * sizeof *r->lse);
    if (a.softcap != 0) memcpy(r->score + b * map, saved.score, map * sizeof *r->score);
    attn_free(arena.base);
}

/* The scores at the stage that the node asks for, from what forward keeps. */
static double score_of(const struct problem *r, size_t at, int mode)
{
    const double p = (double)r->p[at], biased = log(p) + (double)r->lse[at / r->a.n.Tk];
    const bool is_capped = r->a.softcap != 0;

    if (mode == WEIGHTS) return p;
    if (mode == BIASED) return p > 0 ? biased : -(double)INFINITY;
    ck_assert_msg(!(mode == RAW && is_capped), "%s: scores before the cap", r->node->directory);
    if (is_capped) return (double)r->score[at];
    ck_assert_msg(p > 0, "%s: the score of a hidden key", r->node->directory);
    return r->bias ? biased - (double)r->bias[at] : biased;
}

static bool agrees(double got, double want)
{
    return got == want || is_near(got, want, absolute, relative);
}

static void expect_array(const attn_real *got, const struct attn_npy *want, const char *where)
{
    for (size_t i = 0; i < want->count; i++)
        expect(agrees((double)got[i], want->values[i]), "%s: [%zu] = %.9g, expected %.9g", where, i,
               (double)got[i], want->values[i]);
}

static void run_attention(const struct onnx_node *node)
{
    struct problem r;
    size_t rows, map;

    onnx_expect_attributes(node, attention_attributes);
    set_up(&r, node);
    rows = (size_t)r.a.n.B * r.a.n.H * r.a.n.Tq;
    map = rows * r.a.n.Tk;
    r.p = malloc((map + 1) * sizeof *r.p);
    r.score = malloc((map + 1) * sizeof *r.score);
    r.lse = malloc((rows + 1) * sizeof *r.lse);
    for (int b = 0; b < r.a.n.B; b++) run_sequence(&r, b);
    expect_array(r.o.x, &node->output[OUT], node->directory);
    if (is_given(&node->output[PRESENT_KEY]))
        expect_array(r.k.x, &node->output[PRESENT_KEY], node->directory);
    if (is_given(&node->output[PRESENT_VALUE]))
        expect_array(r.v.x, &node->output[PRESENT_VALUE], node->directory);
    for (size_t i = 0; is_given(&node->output[SCORES]) && i < map; i++) {
        const double want = node->output[SCORES].values[i];
        const double got = score_of(&r, i, onnx_integer(node, "qk_matmul_output_mode", 0));
        expect(agrees(got, want), "%s: score[%zu] = %.9g, expected %.9g", node->directory, i, got,
               want);
    }
    free(r.q.x);
    free(r.k.x);
    free(r.v.x);
    free(r.o.x);
    free(r.keep);
    free(r.bias);
    free(r.p);
    free(r.lse);
    free(r.score);
}

/* cos and sin of place t of sequence b: from the row of its position, or its own. */
static void fill_turn(attn_real *turn, const struct onnx_node *node, int b, int T, int D)
{
    const struct attn_npy *cosine = &node->input[1], *sine = &node->input[2];
    const struct attn_npy *places = &node->input[3];

    for (int t = 0; t < T; t++) {
        const size_t own = (size_t)b * T + t;
        const size_t row = is_given(places) ? (size_t)places->values[own] : own;

        for (int i = 0; i < D / 2; i++) {
            turn[t * D + 2 * i] = (attn_real)cosine->values[row * (D / 2) + i];
            turn[t * D + 2 * i + 1] = (attn_real)sine->values[row * (D / 2) + i];
        }
    }
}

static void run_rotary(const struct onnx_node *node)
{
    const bool pairs = onnx_integer(node, "interleaved", 0);
    const struct attn_position *p = attn_position_find(pairs ? "rope" : "rope-half");
    struct strided x = view(&node->input[0], onnx_integer(node, "num_heads", 1));
    const int D = onnx_integer(node, "rotary_embedding_dim", x.width);
    attn_real *turn = malloc((size_t)x.T * D * sizeof *turn);

    onnx_expect_attributes(node, rotary_attributes);
    for (int b = 0; b < x.B; b++) {
        fill_turn(turn, node, b, x.T, D);
        for (int h = 0; h < x.heads; h++)
            p->rotate(strided_at(&x, b, h, 0), x.stride.row, turn, 1, x.T, D);
    }
    expect_array(x.x, &node->output[0], node->directory);
    free(turn);
    free(x.x);
}

START_TEST(all_attention_nodes_agree)
{
    const int count = onnx_each("test_attention_", run_attention);

    if (count >= 0) ck_assert_int_eq(count, ATTENTION_TESTS);
}
END_TEST

START_TEST(all_rotary_nodes_agree)
{
    const int count = onnx_each("test_rotary_embedding", run_rotary);

    if (count >= 0) ck_assert_int_eq(count, ROTARY_TESTS);
}
END_TEST

START_TEST(a_wrong_number_is_seen)
{
    ck_assert(agrees(1, 1 + 1e-6));
    ck_assert(agrees(-(double)INFINITY, -(double)INFINITY));
    ck_assert(!agrees(1, 1 + 1e-4));
    ck_assert(!agrees((double)NAN, 0));
    ck_assert(!agrees((double)NAN, (double)NAN));
    ck_assert(!agrees(-(double)INFINITY, -1e30));
    ck_assert(!agrees(0, 1e-5));
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "attention", all_attention_nodes_agree);
    add_test(suite, "rotary", all_rotary_nodes_agree);
    add_test(suite, "wrong number", a_wrong_number_is_seen);
}
