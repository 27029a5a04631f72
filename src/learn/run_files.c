#include "run_files.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "attn/file.h"
#include "attn/json.h"

void attn_run_path(char path[ATTN_RUN_FILE], const struct attn_run *run, const char *name)
{
    const bool fits = attn_path_join(path, ATTN_RUN_FILE, run->directory, name);

    assert(fits);
    (void)fits;
}

const char *attn_run_write_text(const struct attn_run *run, const char *name,
                                struct attn_text *text, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    const char *wrong;

    attn_run_path(path, run, name);
    wrong =
        text->failed ? attn_fail_memory(e, name) : attn_file_write(path, text->data, text->size, e);
    attn_text_free(text);
    return wrong;
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
    return attn_run_write_text(run, "result.json", &copy, e);
}
