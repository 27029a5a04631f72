/* The next token of a text, at every position. The last tenth of the text is
 * held out of training; a text too short for that is evaluated on itself. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "attn/memory.h"
#include "attn/task.h"
#include "tasks/task_setting.h"
#include "tasks/text_corpus.h"

enum { SHORT_TEXT = 200 };

struct part {
    const int *ids;
    size_t tokens;
};

struct text_state {
    struct attn_corpus corpus;
    struct part train, held_out;
    char note[200];
};

static void close_text(struct attn_dataset *d)
{
    struct text_state *s = d->state;

    if (!s) return;
    attn_corpus_close(&s->corpus);
    attn_free(s);
    d->state = NULL;
}

/* Cuts the text in two, and sequences to what the shorter part can hold with the token behind. */
static void split(struct attn_dataset *d, struct text_state *s)
{
    const struct attn_corpus *c = &s->corpus;
    const bool is_short = c->tokens < SHORT_TEXT;
    const size_t held = is_short ? c->tokens : c->tokens / 10;
    const int length = d->options.length;

    s->train = (struct part){c->ids, is_short ? c->tokens : c->tokens - held};
    s->held_out = (struct part){c->ids + c->tokens - held, held};
    d->T = (size_t)length < held ? length : (int)(held - 1);
    if (is_short)
        snprintf(s->note, sizeof s->note,
                 "the text has only %zu tokens: it is evaluated on what it is trained on, in "
                 "sequences of %d",
                 c->tokens, d->T);
    else if (d->T < length)
        snprintf(s->note, sizeof s->note,
                 "the held-out tenth of the text has only %zu tokens: sequences are %d long, not "
                 "%d",
                 held, d->T, length);
    d->note = s->note[0] ? s->note : NULL;
}

/* Nats per held-out token when token v is expected with the probability
 * (n_v + 1) / (N + V), n_v of N counted in training: what a model reaches that
 * looks at nothing. The added one keeps tokens that training never saw possible. */
static const char *measure_unigram(struct attn_dataset *d, struct attn_error *e)
{
    const struct text_state *s = d->state;
    const size_t V = (size_t)d->vocabulary;
    size_t *seen = attn_alloc(V, 2 * sizeof *seen), *held;
    double sum = 0;

    if (!seen) return attn_fail_memory(e, "counts of a text");
    held = seen + V;
    for (size_t t = 0; t < s->train.tokens; t++) seen[s->train.ids[t]]++;
    for (size_t t = 0; t < s->held_out.tokens; t++) held[s->held_out.ids[t]]++;
    for (size_t v = 0; v < V; v++)
        sum += (double)held[v] * log((double)(s->train.tokens + V) / ((double)seen[v] + 1));
    d->unigram_loss = sum / (double)s->held_out.tokens;
    attn_free(seen);
    return NULL;
}

static const char *check_options(const struct attn_task_options *o, struct attn_error *e)
{
    const char *problem = attn_task_setting("length", o->length, 1, ATTN_SETTING_MOST, e);

    if (!problem) problem = attn_task_setting("vocabulary", o->vocabulary, 0, INT_MAX, e);
    if (!problem && !o->data)
        problem = attn_fail(e, ATTN_BAD_USAGE, "--data: expected the name of a text file");
    return problem;
}

static const char *open_text(struct attn_dataset *d, struct attn_error *e)
{
    const struct attn_task_options *o = &d->options;
    const char *problem = check_options(o, e);
    struct text_state *s;

    if (problem) return problem;
    s = d->state = attn_alloc(1, sizeof *s);
    if (!s) return attn_fail_memory(e, "text");
    problem = attn_corpus_open(&s->corpus, o->data, o->words, o->vocabulary, e);
    if (!problem) {
        split(d, s);
        d->fields = 1;
        d->vocabulary = d->outputs = s->corpus.vocabulary;
        d->causal = true;
        problem = measure_unigram(d, e);
    }
    if (problem) close_text(d);
    return problem;
}

/* Training draws windows anywhere in its part; other sets lie evenly over what was held out. */
static const int *choose_window(const struct attn_dataset *d, enum attn_stream stream, int index,
                                int count, struct attn_rng *rng)
{
    const struct text_state *s = d->state;
    const size_t T = (size_t)d->T;

    if (stream == ATTN_STREAM_EVAL || stream == ATTN_STREAM_PROBE)
        return s->held_out.ids + (s->held_out.tokens - T) * (size_t)index / (size_t)count;
    return s->train.ids + attn_rng_below(rng, (uint32_t)(s->train.tokens - T));
}

static void fill(const struct attn_dataset *d, struct attn_batch *b, enum attn_stream stream,
                 int index, int count, struct attn_rng *rng)
{
    const int *window = choose_window(d, stream, index, count, rng);

    for (int i = 0; i < b->T; i++) {
        b->tokens[i] = window[i];
        b->targets[i] = window[i + 1];
    }
    b->lengths[0] = b->T;
}

static void label(const struct attn_dataset *d, const int *ids, char *out, int size)
{
    const struct text_state *s = d->state;
    const struct attn_word *word = s->corpus.word + ids[0];

    snprintf(out, (size_t)size, "%.*s", word->length, word->bytes);
}

const struct attn_task attn_task_text = {
    .name = "text",
    .summary = "the next character or word of a text",
    .defaults = "length=64 width=64 heads=4 position=learned residual=yes norm=yes mlp=256 "
                "causal=yes batch=16 steps=1500 lr=0.002 schedule=cosine warmup=50 clip=1 "
                "data=devils-dictionary.txt words=no vocabulary=0",
    .open = open_text,
    .close = close_text,
    .fill = fill,
    .label = label,
};
