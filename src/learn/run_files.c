#include "run_files.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "attn/file.h"
#include "attn/json.h"
#include "attn/npy.h"

void attn_run_path(char path[ATTN_RUN_FILE], const struct attn_run *run, const char *name)
{
    const bool fits = attn_path_join(path, ATTN_RUN_FILE, run->directory, name);

    assert(fits);
    (void)fits;
}

static const char *write_text(const struct attn_run *run, const char *name, struct attn_text *text,
                              struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    const char *wrong;

    attn_run_path(path, run, name);
    wrong =
        text->failed ? attn_fail_memory(e, name) : attn_file_write(path, text->data, text->size, e);
    attn_text_free(text);
    return wrong;
}

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

static const char *write_probe(const struct attn_run *run, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    const struct attn_batch *b = &t->probe;
    struct attn_text text = {0};
    char label[64];

    attn_text_print(&text, "sequence\tposition\ttoken\tright\n");
    for (int i = 0; i < b->B; i++)
        for (int j = 0; j < b->T; j++) {
            const size_t row = (size_t)i * (size_t)b->T + (size_t)j;
            attn_dataset_label(&t->data, b->tokens + row * (size_t)b->fields, label, sizeof label);
            attn_text_print(&text, "%d\t%d\t", i, j);
            add_token(&text, label);
            attn_text_print(&text, "\t");
            add_right(&text, b->right + row * (size_t)b->T, b->T);
            attn_text_print(&text, "\n");
        }
    return write_text(run, "probe.tsv", &text, e);
}

static const char *write_frames(const struct attn_run *run, struct attn_error *e)
{
    struct attn_text text = {0};

    attn_text_print(&text, "frame\tstep\n0\t%ld\n", run->trainer.step);
    return write_text(run, "frames.tsv", &text, e);
}

const char *attn_run_write_attention(struct attn_run *run, struct attn_error *e)
{
    struct attn_trainer *t = &run->trainer;
    const size_t T = (size_t)t->data.T;
    const size_t shape[] = {
        1, (size_t)t->probe.B, (size_t)t->settings.model.layers, (size_t)t->settings.model.heads, T,
        T};
    float *p = attn_alloc(attn_trainer_attention_count(t), sizeof *p);
    char path[ATTN_RUN_FILE];
    const char *wrong;

    if (!p) return attn_fail_memory(e, "attention maps");
    attn_trainer_attention(t, p);
    attn_run_path(path, run, "attention.npy");
    wrong = attn_npy_write_float(path, p, 6, shape, e);
    attn_free(p);
    if (!wrong) wrong = write_frames(run, e);
    return wrong ? wrong : write_probe(run, e);
}

/* JSON has no NaN: what is not finite is null. */
static void add_number(struct attn_text *t, const char *name, double x, int digits)
{
    attn_text_print(t, ", \"%s\": ", name);
    if (isfinite(x))
        attn_text_number(t, x, digits);
    else
        attn_text_print(t, "null");
}

const char *attn_run_write_result(struct attn_run *run, double seconds, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    const struct attn_scores none = {
        .loss = (double)NAN, .accuracy = (double)NAN, .target_mass = (double)NAN};
    const struct attn_scores s = run->fault == ATTN_FINE ? run->scores : none;
    struct attn_text line = {0}, copy = {0};

    attn_text_print(
        &line, "{\"status\": \"%s\", \"task\": ", run->fault == ATTN_FINE ? "done" : "diverged");
    attn_json_quote(&line, t->settings.task);
    attn_text_print(&line, ", \"seed\": %lld, \"steps\": %ld", (long long)t->settings.seed,
                    t->step);
    add_number(&line, "loss", t->loss, ATTN_REAL_DIGITS);
    add_number(&line, "eval_loss", s.loss, ATTN_REAL_DIGITS);
    add_number(&line, "accuracy", s.accuracy, ATTN_REAL_DIGITS);
    add_number(&line, "target_mass", s.target_mass, ATTN_REAL_DIGITS);
    if (isfinite(t->data.unigram_loss))
        add_number(&line, "unigram_loss", t->data.unigram_loss, ATTN_REAL_DIGITS);
    attn_text_print(&line, ", \"parameters\": %zu", t->model.count);
    add_number(&line, "seconds", seconds, 4);
    add_number(&line, "steps_per_second",
               seconds > 0 ? (double)(t->step - run->first_step) / seconds : (double)NAN, 4);
    attn_text_print(&line, "}\n");
    attn_text_add(&copy, line.data ? line.data : "", line.size);
    copy.failed |= line.failed;
    attn_text_free(&run->result);
    run->result = line;
    return write_text(run, "result.json", &copy, e);
}
