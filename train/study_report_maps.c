#include "study_report_maps.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "attn/memory.h"

enum {
    CLASSES = 25,
    MOST_ONES = 20,
    ESCAPE_BITS = 24,
    FORGET = 64,
    MOST_DIGITS = 6,
    LEAST_DIGITS = 4,
    MOST_CELLS = 1 << 24 /* a browser keeps four bytes a cell of a sequence */
};

/* Bits into base64, and the statistics of the code. */
struct coder {
    struct attn_text *text;
    size_t limit; /* of text->size */
    uint32_t bits;
    int count;
    uint32_t sum[CLASSES], seen[CLASSES];
};

static const char sign[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool is_full(const struct coder *c)
{
    return c->text->failed || c->text->size > c->limit;
}

static void put_group(struct coder *c)
{
    char four[4];

    for (int i = 0; i < 4; i++) four[i] = sign[c->bits >> (18 - 6 * i) & 63];
    attn_text_add(c->text, four, 4);
    c->bits = 0;
    c->count = 0;
}

static void put_bits(struct coder *c, uint32_t value, int n)
{
    while (n > 0) {
        const int now = n < 24 - c->count ? n : 24 - c->count;

        c->bits |= (value >> (n - now) & ((1u << now) - 1)) << (24 - c->count - now);
        c->count += now;
        n -= now;
        if (c->count == 24) put_group(c);
    }
}

static void put_value(struct coder *c, uint32_t m, int class)
{
    uint32_t *sum = &c->sum[class], *seen = &c->seen[class];
    int k = 0;

    while (*seen << k < *sum) k++;
    if (m >> k < MOST_ONES) {
        put_bits(c, (1u << ((m >> k) + 1)) - 2, (int)(m >> k) + 1);
        put_bits(c, m, k);
    } else {
        put_bits(c, (1u << MOST_ONES) - 1, MOST_ONES);
        put_bits(c, m, ESCAPE_BITS);
    }
    *sum += m;
    if (++*seen == FORGET) *sum /= 2, *seen /= 2;
}

static int bits_of(uint32_t x)
{
    int n = 0;

    while (x >> n) n++;
    return n;
}

static uint32_t units(double weight, double unit)
{
    const double x = rint(weight * unit); /* the product of a float is exact: as printf rounds */

    return x >= 0 && x <= unit ? (uint32_t)x : (uint32_t)unit + 1;
}

/* Of one head, that may be seen. */
static size_t count_cells(const struct study *s, int sequence)
{
    const struct attn_span *span = s->run.span + (size_t)sequence * (size_t)s->run.T;
    size_t n = 0;

    for (int i = 0; i < s->run.T; i++) n += (size_t)(span[i].hi - span[i].lo);
    return n;
}

static void code_map(struct coder *c, uint32_t *before, const float *p, const struct study *s,
                     int sequence, double unit)
{
    const int T = s->run.T;
    const struct attn_span *span = s->run.span + (size_t)sequence * (size_t)T;

    for (int i = 0; i < T; i++, p += T)
        for (int j = span[i].lo; j < span[i].hi; j++, before++) {
            const int32_t now = (int32_t)units(study_shade(s, p[j]), unit);
            const int32_t change = now - (int32_t)*before;

            put_value(c, change < 0 ? (uint32_t)(-change) * 2 - 1 : (uint32_t)change * 2,
                      bits_of(*before));
            *before = (uint32_t)now;
        }
}

static void fill_first(uint32_t *before, const struct study *s, int sequence, double unit)
{
    const struct attn_span *span = s->run.span + (size_t)sequence * (size_t)s->run.T;

    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < s->run.T; i++)
            for (int j = span[i].lo; j < span[i].hi; j++)
                *before++ = (uint32_t)(unit / (span[i].hi - span[i].lo));
}

/* False: it is not whole, because there was no room or no memory. */
static bool code_sequence(struct study_report_maps *m, const struct study *s, int sequence,
                          size_t room)
{
    const size_t cells = count_cells(s, sequence);
    const double unit = pow(10, m->digits);
    uint32_t *before = attn_alloc(attn_size_mul(cells, (size_t)s->heads), sizeof *before);
    struct coder c = {.text = &m->text, .limit = room};

    if (!before) m->text.failed = true;
    if (!before ||
        attn_size_mul(attn_size_mul(cells, (size_t)s->heads), (size_t)m->frames) > MOST_CELLS) {
        attn_free(before);
        return false;
    }
    for (int i = 0; i < CLASSES; i++) c.sum[i] = 4, c.seen[i] = 1;
    fill_first(before, s, sequence, unit);
    attn_text_print(&m->text, "<script type=\"text/plain\" id=\"maps%d\">", sequence);
    for (int f = 0; f < m->frames && !is_full(&c); f++)
        for (int h = 0; h < s->heads && !is_full(&c); h++)
            code_map(&c, before + (size_t)h * cells,
                     study_map(s, m->frame[f], sequence, h / s->run.H, h % s->run.H), s, sequence,
                     unit);
    if (c.count) put_group(&c);
    attn_text_print(&m->text, "</script>\n");
    attn_free(before);
    return !is_full(&c);
}

/* How many of the sequences fit, from the first on; text holds these. */
static int code_all(struct study_report_maps *m, const struct study *s, size_t room)
{
    size_t whole = 0;
    int n = 0;

    attn_text_free(&m->text);
    for (; n < s->run.B && code_sequence(m, s, n, room); n++) whole = m->text.size;
    if (whole < m->text.size) m->text.data[m->text.size = whole] = '\0';
    return n;
}

/* Of the frames that m has, n, evenly, the last one always. */
static void keep_frames(struct study_report_maps *m, int n)
{
    for (int i = 0; i < n; i++)
        m->frame[i] = m->frame[n == 1 ? m->frames - 1 : (long)i * (m->frames - 1) / (n - 1)];
    m->frames = n;
}

void study_report_frames(struct study_report_maps *m, const struct study *s, int most)
{
    const int of = s->run.frames;

    if (most > STUDY_REPORT_FRAMES) most = STUDY_REPORT_FRAMES;
    m->frames = of < most ? of : most;
    for (int i = 0; i < m->frames; i++)
        m->frame[i] = m->frames == of ? i : (int)((long)i * (of - 1) / (m->frames - 1));
}

void study_report_maps(struct study_report_maps *m, const struct study *s, size_t room)
{
    if (!m->frames) return;
    for (;;) {
        m->digits = MOST_DIGITS;
        m->sequences = code_all(m, s, room);
        while (m->sequences < s->run.B && m->digits > LEAST_DIGITS && !m->text.failed) {
            m->digits--;
            m->sequences = code_all(m, s, room);
        }
        if (m->sequences || m->frames == 1 || m->text.failed) return;
        keep_frames(m, m->frames / 2);
    }
}
