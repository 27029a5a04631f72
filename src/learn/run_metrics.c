#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "run_files.h"

static const char HEADER[] =
    "step\tloss\teval_loss\taccuracy\ttarget_mass\tlr\tgrad_norm\ttokens\n";

enum { LARGEST_METRICS = 1 << 30 };

static const char *write_all(const struct attn_run *run, const char *text, size_t n,
                             struct attn_error *e)
{
    while (n) {
        const ssize_t written = write(run->metrics, text, n);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return attn_fail(e, ATTN_CANNOT_WRITE, "%s/metrics.tsv: %s", run->directory,
                             strerror(errno));
        text += written;
        n -= (size_t)written;
    }
    return NULL;
}

/* The bytes to keep: the header and whole rows of steps up to `step`. */
static size_t kept(const char *text, size_t size, long step)
{
    const size_t header = sizeof HEADER - 1;
    size_t end = header;

    if (size < header || memcmp(text, HEADER, header)) return 0;
    while (end < size) {
        const char *line = text + end, *newline = memchr(line, '\n', size - end);
        long row;
        if (!newline || sscanf(line, "%ld\t", &row) != 1 || row > step) break;
        end = (size_t)(newline - text) + 1;
    }
    return end;
}

const char *attn_run_open_metrics(struct attn_run *run, struct attn_error *e)
{
    char path[ATTN_RUN_FILE], *text = NULL;
    size_t size = 0, keep = 0;
    const char *wrong = NULL;

    attn_run_path(path, run, "metrics.tsv");
    if (run->trainer.step > 0 && access(path, F_OK) == 0) {
        wrong = attn_file_read(&text, &size, path, LARGEST_METRICS, e);
        if (wrong) return wrong;
        keep = kept(text, size, run->trainer.step);
        attn_free(text);
    }
    run->metrics = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (run->metrics < 0 || ftruncate(run->metrics, (off_t)keep))
        return attn_fail(e, ATTN_CANNOT_WRITE, "%s: %s", path, strerror(errno));
    return keep ? NULL : write_all(run, HEADER, sizeof HEADER - 1, e);
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
