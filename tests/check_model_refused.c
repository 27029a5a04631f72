/* Settings of a model that do not fit together. */
#include "test.h"

#include "attn/model.h"

static const struct attn_model_settings plain = {.vocabulary = 7,
                                                 .fields = 2,
                                                 .outputs = 4,
                                                 .layers = 1,
                                                 .width = 6,
                                                 .heads = 2,
                                                 .kind = "dot",
                                                 .position = "none",
                                                 .activation = "gelu",
                                                 .output = true,
                                                 .init = 1};

START_TEST(settings_that_do_not_fit_are_refused)
{
    struct attn_model_settings s = plain;
    struct attn_error e;

    switch (_i) {
    case 0:
        s.heads = 0;
        break;
    case 1:
        s.heads = 4;
        break; /* does not divide the width 6 */
    case 2:
        s.kv_heads = 4;
        break;
    case 3:
        s.kind = "none";
        break;
    case 4:
        s.position = "rope";
        break; /* odd head width 3 */
    case 5:
        s.tied = true;
        s.kv_heads = 1;
        break;
    case 6:
        s.output = false;
        s.head_width = 2;
        break;
    case 7:
        s.init = 0;
        break;
    case 8:
        s.softcap = -1;
        break;
    case 9:
        s.width = 0;
        break;
    case 10:
        s.fields = 0;
        break;
    case 11:
        s.activation = "tanh";
        break;
    case 12:
        s.outputs = 0;
        break;
    default:
        s.layers = -1;
        break;
    }
    ck_assert_ptr_nonnull(attn_model_check(&s, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
}
END_TEST

/* Where inputs are queries, keys and values, nothing that a layer has may be asked for. */
START_TEST(given_inputs_want_attention_alone)
{
    const struct attn_model_settings right = {.given = true,
                                              .features = 7,
                                              .outputs = 1,
                                              .layers = 1,
                                              .width = 3,
                                              .heads = 1,
                                              .kind = "gauss",
                                              .position = "none",
                                              .activation = "gelu",
                                              .init = 1};
    struct attn_model_settings s[14];
    struct attn_error e;

    for (int i = 0; i < 14; i++) s[i] = right;
    s[0].layers = 2;
    s[1].heads = 2;
    s[2].kv_heads = 2;
    s[3].output = true;
    s[4].head_width = right.width;
    s[5].residual = true;
    s[6].norm = true;
    s[7].mlp = 3;
    s[8].tied = true;
    s[9].bias = true;
    s[10].pool = true;
    s[11].position = "alibi";
    s[12].width++;
    s[13].vocabulary = s[13].fields = 1;
    ck_assert_ptr_null(attn_model_check(&right, &e));
    for (int i = 0; i < 14; i++) {
        ck_assert_ptr_nonnull(attn_model_check(&s[i], &e));
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert_ptr_nonnull(strstr(e.text, i < 12 ? "one layer and head" : "expected a width"));
    }
}
END_TEST

/* A table of logits by token takes one id and one class a token, at every position. */
START_TEST(a_table_wants_ids_and_classes)
{
    struct attn_model_settings right = plain, s[4];
    struct attn_error e;

    right.layers = 0;
    right.fields = 1;
    right.heads = 4; /* of a layer: not looked at */
    ck_assert_ptr_null(attn_model_check(&right, &e));
    for (int i = 0; i < 4; i++) s[i] = right;
    s[0].fields = 2;
    s[1].regression = true;
    s[2].pool = true;
    s[3].vocabulary = 0;
    s[3].features = 3;
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_nonnull(attn_model_check(&s[i], &e));
        ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
        ck_assert_ptr_nonnull(strstr(e.text, "layers 0"));
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "refused settings", settings_that_do_not_fit_are_refused, 14);
    add_test(suite, "given inputs", given_inputs_want_attention_alone);
    add_test(suite, "table", a_table_wants_ids_and_classes);
}
