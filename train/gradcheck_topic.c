#include "gradcheck_topic.h"

#include <stdio.h>
#include <string.h>

#include "attn/activation.h"
#include "attn/attention.h"
#include "attn/position.h"

const struct gradcheck_topic *const gradcheck_topics[] = {
    &gradcheck_linear,        &gradcheck_embedding,  &gradcheck_layernorm,
    &gradcheck_rmsnorm,       &gradcheck_activation, &gradcheck_residual,
    &gradcheck_pool,          &gradcheck_softmax,    &gradcheck_mse,
    &gradcheck_cross_entropy, &gradcheck_attention,  &gradcheck_streaming,
    &gradcheck_layer,         &gradcheck_model,      NULL};

const struct gradcheck_topic *gradcheck_topic_find(const char *name)
{
    for (int i = 0; gradcheck_topics[i]; i++)
        if (!strcmp(gradcheck_topics[i]->name, name)) return gradcheck_topics[i];
    return NULL;
}

char *gradcheck_describe(char *out, size_t size, const struct gradcheck_topic *t, const int *choice)
{
    size_t n = 0;

    out[0] = '\0';
    for (int f = 0; f < t->design.factors && n < size; f++)
        n += (size_t)snprintf(out + n, size - n, "%s%s=%s", f ? " " : "", t->design.factor[f].name,
                              gradcheck_level(&t->design.factor[f], choice[f]));
    return out;
}

const char *const gradcheck_no_yes[] = {"no", "yes", NULL};
const char *const gradcheck_stds[] = {"0.3", "1", NULL};
const double gradcheck_std[] = {0.3, 1};

const char *gradcheck_kind_level(int i)
{
    return attn_kinds[i] ? attn_kind_name(attn_kinds[i]) : NULL;
}

const char *gradcheck_position_level(int i)
{
    return attn_positions[i] ? attn_positions[i]->name : NULL;
}

const char *gradcheck_activation_level(int i)
{
    return attn_activations[i] ? attn_activations[i]->name : NULL;
}
