#include "tasks/text_corpus.h"

#include <stdlib.h>
#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/text.h"
#include "tasks/text_split.h"

static const size_t file_limit = (size_t)1 << 30;
static const char rest[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Distinct tokens in order of appearance, found by open addressing. */
struct lexicon {
    struct attn_word *word;
    int words, room; /* room: a power of two */
    int *slot;       /* (2 room): 1 + index of a word, 0: free */
};

static uint32_t hash(const char *bytes, int length)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (int i = 0; i < length; i++) h = (h ^ (unsigned char)bytes[i]) * 16777619u;
    return h;
}

static int *find_slot(const struct lexicon *l, const char *bytes, int length)
{
    const uint32_t last = 2 * (uint32_t)l->room - 1;

    for (uint32_t i = hash(bytes, length) & last;; i = (i + 1) & last) {
        const struct attn_word *w = l->slot[i] ? l->word + l->slot[i] - 1 : NULL;
        if (!w) return l->slot + i;
        if (w->length == length && memcmp(w->bytes, bytes, (size_t)length) == 0) return l->slot + i;
    }
}

static void lexicon_free(struct lexicon *l)
{
    attn_free(l->word);
    attn_free(l->slot);
    *l = (struct lexicon){0};
}

/* A lexicon of the same words with twice the room. */
static bool lexicon_grow(struct lexicon *l)
{
    struct lexicon larger = {.words = l->words, .room = l->room ? 2 * l->room : 256};

    larger.word = attn_alloc((size_t)larger.room, sizeof *larger.word);
    larger.slot = attn_alloc((size_t)larger.room, 2 * sizeof *larger.slot);
    if (!larger.word || !larger.slot) {
        lexicon_free(&larger);
        return false;
    }
    if (l->words) memcpy(larger.word, l->word, (size_t)l->words * sizeof *l->word);
    for (int i = 0; i < l->words; i++)
        *find_slot(&larger, larger.word[i].bytes, larger.word[i].length) = i + 1;
    lexicon_free(l);
    *l = larger;
    return true;
}

/* The word's index, counted once more; -1: out of memory. */
static int lexicon_add(struct lexicon *l, const char *bytes, int length)
{
    int *slot;

    if (l->words == l->room && !lexicon_grow(l)) return -1;
    slot = find_slot(l, bytes, length);
    if (!*slot) {
        l->word[l->words] = (struct attn_word){.bytes = bytes, .length = length, .order = l->words};
        *slot = ++l->words;
    }
    l->word[*slot - 1].count++;
    return *slot - 1;
}

static int by_count(const void *a, const void *b)
{
    const struct attn_word *x = a, *y = b;

    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_bytes(const void *a, const void *b)
{
    const struct attn_word *x = a, *y = b;
    const int shorter = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->bytes, y->bytes, (size_t)shorter);

    return order ? order : x->length - y->length;
}

/* Gives the kept words their final ids; c->ids held indices into the lexicon. */
static const char *number_words(struct attn_corpus *c, int words, int most, struct attn_error *e)
{
    const bool cut = most > 0 && most < words;
    const int kept = cut ? most - 1 : words;
    int *id = attn_alloc((size_t)words, sizeof *id);

    if (!id) return attn_fail_memory(e, "vocabulary");
    if (cut) qsort(c->word, (size_t)words, sizeof *c->word, by_count);
    qsort(c->word, (size_t)kept, sizeof *c->word, by_bytes);
    for (int i = 0; i < words; i++) id[c->word[i].order] = i < kept ? i : kept;
    for (size_t t = 0; t < c->tokens; t++) c->ids[t] = id[c->ids[t]];
    if (cut) c->word[kept] = (struct attn_word){.bytes = rest, .length = sizeof rest - 1};
    c->vocabulary = kept + cut;
    attn_free(id);
    return NULL;
}

static bool is_control(int32_t code)
{
    return code < 0x20 && code != '\t' && code != '\n' && code != '\r' && code != '\f';
}

static const char *check_text(const char *text, size_t size, const char *path, struct attn_error *e)
{
    for (const char *at = text, *end = text + size; at < end;) {
        const size_t offset = (size_t)(at - text);
        const int32_t code = attn_utf8_next(&at, end);

        if (code < 0)
            return attn_fail(e, ATTN_BAD_INPUT, "%.350s: not UTF-8 at byte offset %zu", path,
                             offset);
        if (is_control(code))
            return attn_fail(e, ATTN_BAD_INPUT,
                             "%.350s: no text: control character 0x%02x at byte offset %zu", path,
                             (unsigned)code, offset);
    }
    return NULL;
}

static size_t count_tokens(const char *at, const char *end, bool words)
{
    size_t n = 0;

    for (const char *start; at < end; n++) attn_text_split(&start, &at, end, words);
    return n;
}

static const char *read_tokens(struct attn_corpus *c, const char *at, const char *end, bool words,
                               int most, struct attn_error *e)
{
    struct lexicon lexicon = {0};

    c->ids = attn_alloc(c->tokens, sizeof *c->ids);
    if (!c->ids) return attn_fail_memory(e, "tokens of a text");
    for (size_t t = 0; at < end; t++) {
        const char *start;

        attn_text_split(&start, &at, end, words);
        c->ids[t] = lexicon_add(&lexicon, start, (int)(at - start));
        if (c->ids[t] >= 0) continue;
        lexicon_free(&lexicon);
        return attn_fail_memory(e, "vocabulary");
    }
    c->word = lexicon.word;
    attn_free(lexicon.slot);
    return number_words(c, lexicon.words, most, e);
}

const char *attn_corpus_open(struct attn_corpus *c, const char *path, bool words, int most,
                             struct attn_error *e)
{
    size_t size;
    const char *problem, *begin, *end;

    *c = (struct attn_corpus){0};
    problem = attn_file_read(&c->text, &size, path, file_limit, e);
    if (problem) return problem;
    problem = check_text(c->text, size, path, e);
    begin = c->text + (size >= 3 && memcmp(c->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
    end = c->text + size;
    if (!problem) {
        c->tokens = count_tokens(begin, end, words);
        if (c->tokens < 2)
            problem =
                attn_fail(e, ATTN_BAD_INPUT, "%.350s: %s; expected a text of at least 2 tokens",
                          path, c->tokens ? "only one token" : "empty");
    }
    if (!problem) problem = read_tokens(c, begin, end, words, most, e);
    if (problem) attn_corpus_close(c);
    return problem;
}

void attn_corpus_close(struct attn_corpus *c)
{
    attn_free(c->text);
    attn_free(c->ids);
    attn_free(c->word);
    *c = (struct attn_corpus){0};
}
