/* diagnosis_words.h (private) - the sentence of each finding. */
#ifndef ATTN_SRC_DIAGNOSIS_WORDS_H
#define ATTN_SRC_DIAGNOSIS_WORDS_H

#include "attn/diagnosis.h"

/* h: the head that it is about; of a finding about the run, its best head. */
typedef void attn_say(char text[ATTN_FINDING_TEXT], const struct attn_run_facts *r,
                      const struct attn_head_facts *h);

attn_say attn_say_diverged, attn_say_tokens_alike, attn_say_scale_missing,
    attn_say_weights_too_large, attn_say_weights_too_small, attn_say_rate_too_large,
    attn_say_collapsed, attn_say_untrained, attn_say_targets_unrelated, attn_say_wrong_key,
    attn_say_uniform, attn_say_dead_head, attn_say_duplicate_head, attn_say_sink,
    attn_say_mlp_instead, attn_say_other_keys, attn_say_by_heart;

/* The longest way that W_Q or W_K of a head went, as a share of its norm; NAN: not known. */
double attn_diagnosis_path(const struct attn_run_facts *r);

/* The scale of the scores was given, and is far below the usual. */
bool attn_diagnosis_small_scale(const struct attn_run_facts *r);

#endif
