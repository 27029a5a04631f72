/* The streaming way across its blocks of 64 queries and 256 keys. The other
 * topics are too small to have a second block. One head, one column: what
 * happens inside a block is theirs to check. */
#include "gradcheck_attention.h"
#include "gradcheck_kink.h"
#include "gradcheck_masks.h"
#include "gradcheck_topic.h"

enum factor { KIND, MASK, SCALE, SOFTCAP, SHAPE, FACTORS };

static const char *const shape_names[] = {"65x6", "3x257", "65x257", NULL};
static const struct {
    int Tq, Tk;
} shapes[] = {{65, 6}, {3, 257}, {65, 257}};
enum { BOTH = 2 };

/* No bias among them: its elements would take longer than all the rest. */
static const char *const mask_names[] = {"none", "causal", "window", "lengths", "keep", NULL};

static int level(const int *choice, enum factor f)
{
    return choice[f] == GRADCHECK_OPEN ? 0 : choice[f];
}

static struct attn_attention settings(const int *choice)
{
    const struct attn_kind *const kind = attn_kinds[level(choice, KIND)];
    const int shape = level(choice, SHAPE);
    struct attn_attention a = {
        .n = {.B = 1,
              .H = 1,
              .Hkv = 1,
              .Tq = shapes[shape].Tq,
              .Tk = shapes[shape].Tk,
              .D = gradcheck_kind_has_kink(kind) ? 2 : 1, /* of one column phi(q) would cancel */
              .Dv = 1},
        .kind = kind,
        .way = ATTN_WAY_STREAMING,
        .scale = (attn_real)gradcheck_scales[level(choice, SCALE)],
        .log_length = level(choice, SCALE) == GRADCHECK_LOG_LENGTH,
        .softcap = (attn_real)gradcheck_softcap(level(choice, SOFTCAP), 1),
    };

    gradcheck_attention_strides(&a, attn_stride_rows);
    return a;
}

/* The large shape takes a hundred times longer, so that it is checked once. */
static const char *check_time(const int *choice, struct attn_error *e)
{
    static const int once[FACTORS] = {[MASK] = 1};

    for (int f = 0; choice[SHAPE] == BOTH && f < SHAPE; f++)
        if (choice[f] != GRADCHECK_OPEN && choice[f] != once[f])
            return attn_fail(e, ATTN_BAD_USAGE, "%s takes too long to check twice",
                             shape_names[BOTH]);
    return NULL;
}

static const char *conflict(const int *choice, struct attn_error *e)
{
    struct attn_attention a = settings(choice);

    if (check_time(choice, e)) return e->text;
    if (gradcheck_way_check(&a, e)) return e->text;
    gradcheck_mask_make(NULL, &a, gradcheck_mask_find(mask_names[level(choice, MASK)]));
    return attn_attention_check(&a, e);
}

static void make(struct gradcheck_subject *s, const int *choice)
{
    const struct attn_attention a = settings(choice);

    s->std = 1;
    gradcheck_attention_make(s, &a, gradcheck_mask_find(mask_names[choice[MASK]]));
}

static const struct gradcheck_factor factors[FACTORS] = {
    [KIND] = {.name = "kind", .level = gradcheck_kind_level},
    [MASK] = {.name = "mask", .levels = mask_names},
    [SCALE] = {.name = "scale", .levels = gradcheck_scale_names},
    [SOFTCAP] = {.name = "softcap", .levels = gradcheck_softcap_names},
    [SHAPE] = {.name = "shape", .levels = shape_names}};
const struct gradcheck_topic gradcheck_streaming = {
    .name = "streaming",
    .summary = "attention without the matrix of weights, across blocks",
    .design = {.factors = FACTORS, .factor = factors, .conflict = conflict},
    .make = make};
