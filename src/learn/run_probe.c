/* probe.tsv: the sequences whose attention is recorded. */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "run_files.h"
#include "trainer_heads.h"

/* A token in a column of a table: no tab, newline or control character. */
static void add_token(struct attn_text *t, const char *label)
{
    for (const char *at = label, *end = label + strlen(label); at < end;) {
        const char *begin = at;
        const int32_t code = attn_utf8_next(&at, end);

        assert(code >= 0); /* a label is cut between characters */
        if (code == '\t')
            attn_text_print(t, "\\t");
        else if (code == '\n')
            attn_text_print(t, "\\n");
        else if (code == '\\')
            attn_text_print(t, "\\\\");
        else if (attn_utf8_width(code) < 0)
            attn_text_print(t, "\\x%02X", (unsigned)code);
        else
            attn_text_add(t, begin, (size_t)(at - begin));
    }
}

static void add_right(struct attn_text *t, const unsigned char *right, int keys)
{
    bool any = false;

    for (int j = 0; j < keys; j++)
        if (right[j]) {
            attn_text_print(t, "%s%d", any ? "," : "", j);
            any = true;
        }
    if (!any) attn_text_print(t, "-");
}

static void add_position(struct attn_text *text, const struct attn_trainer *t, int sequence,
                         int position)
{
    const struct attn_batch *b = &t->probe;
    const size_t row = (size_t)sequence * (size_t)b->T + (size_t)position;
    const struct attn_span seen = t->room->span[position];
    char label[64];

    attn_dataset_label_row(&t->data, b, row, label, sizeof label);
    attn_text_print(text, "%d\t%d\t", sequence, position);
    add_token(text, label);
    attn_text_print(text, "\t");
    add_right(text, b->right + row * (size_t)b->T, b->T);
    attn_text_print(text, "\t%d\t%d\t%d\n", seen.lo, seen.hi, attn_batch_counts(b, row));
}

const char *attn_run_write_probe(const struct attn_run *run, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    struct attn_text text = {0};

    attn_text_print(&text, "sequence\tposition\ttoken\tright\tlo\thi\tcounted\n");
    for (int i = 0; i < t->probe.B; i++) {
        const struct attn_batch one = attn_batch_part(&t->probe, i, 1);
        attn_heads_spans(t->room->span, t, &one);
        for (int j = 0; j < t->probe.T; j++) add_position(&text, t, i, j);
    }
    return attn_run_write_text(run, "probe.tsv", &text, e);
}
