#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "run_files.h"

static const char HEADER[] =
    "step\tloss\teval_loss\taccuracy\ttarget_mass\tlr\tgrad_norm\ttokens\n";

enum { HEADER_BYTES = sizeof HEADER - 1, LARGEST_METRICS = 1 << 30 };

static const char *write_all(const struct attn_run *run, const char *text, size_t n,
                             struct attn_error *e)
{
    while (n) {
        const ssize_t written = write(run->metrics, text, n);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s/metrics.tsv: %s", run->directory,
                             strerror(errno));
        text += written;
        n -= (size_t)written;
    }
    return NULL;
}

/* The bytes to keep, behind the header: whole rows of steps up to `step`. */
static size_t kept(const char *text, size_t size, long step)
{
    size_t end = HEADER_BYTES;

    while (end < size) {
        const char *line = text + end, *newline = memchr(line, '\n', size - end);
        char *tab;
        const long row = strtol(line, &tab, 10);
        if (!newline || tab == line || *tab != '\t' || row > step) break;
        end = (size_t)(newline - text) + 1;
    }
    return end;
}

/* The rows of a run that goes on belong to its result: without them it must not. */
static const char *read_rows(size_t *keep, const char *path, long step, struct attn_error *e)
{
    char *text;
    size_t size;
    const char *wrong = attn_file_read(&text, &size, path, LARGEST_METRICS, e);

    if (wrong) return wrong;
    if (size < HEADER_BYTES || memcmp(text, HEADER, HEADER_BYTES))
        wrong = attn_fail(e, ATTN_BAD_INPUT,
                          "%.350s: line 1 is not the names of the columns that this program writes",
                          path);
    else
        *keep = kept(text, size, step);
    attn_free(text);
    return wrong;
}

const char *attn_run_open_metrics(struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    size_t keep = 0;
    const char *wrong = NULL;

    attn_run_path(path, run, "metrics.tsv");
    if (run->trainer.step > 0) wrong = read_rows(&keep, path, run->trainer.step, e);
    if (wrong) return wrong;
    run->metrics = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (run->metrics < 0 || ftruncate(run->metrics, (off_t)keep))
        return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: %s", path, strerror(errno));
    return keep ? NULL : write_all(run, HEADER, HEADER_BYTES, e);
}

const char *attn_run_append_metrics(struct attn_run *run, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    const double column[] = {
        t->loss, run->scores.loss, run->scores.accuracy, run->scores.target_mass,
        t->lr,   t->grad_norm};
    const long long tokens = (long long)t->step * t->batch.B * t->batch.T;
    struct attn_text row = {0};
    const char *wrong;

    attn_text_print(&row, "%ld", t->step);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
        attn_text_print(&row, "\t");
        attn_text_number(&row, column[i], ATTN_REAL_DIGITS);
    }
    attn_text_print(&row, "\t%lld\n", tokens);
    wrong = row.failed ? attn_fail_memory(e, "row of metrics.tsv")
                       : write_all(run, row.data, row.size, e);
    attn_text_free(&row);
    return wrong;
}
