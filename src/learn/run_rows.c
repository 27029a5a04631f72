/* Tables that grow a row at a time and are cut when a run goes on. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"
#include "run_files.h"

enum { LARGEST_TABLE = 1 << 30 };

static const char *refuse(const struct attn_run *run, const char *name, struct attn_error *e)
{
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s/%s: %s", run->directory, name, strerror(errno));
}

static const char *write_all(int fd, const struct attn_run *run, const char *name, const char *text,
                             size_t n, struct attn_error *e)
{
    while (n) {
        const ssize_t written = write(fd, text, n);
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = EIO;
        if (written <= 0) return refuse(run, name, e);
        text += written;
        n -= (size_t)written;
    }
    return NULL;
}

/* The step in a line of the table, which ends in a newline; -1: there is none. */
static long step_of(const char *line, int column)
{
    char *end;

    for (; column > 0; column--) {
        line += strcspn(line, "\t\n");
        if (*line != '\t') return -1;
        line++;
    }
    const long step = strtol(line, &end, 10);
    return end == line || (*end != '\t' && *end != '\n') ? -1 : step;
}

/* The bytes to keep: the header and whole rows of steps up to the run's. */
static size_t kept(const struct attn_run *run, const struct attn_run_rows *rows, const char *text,
                   size_t size, long *count)
{
    size_t end = strlen(rows->header);

    for (*count = 0; end < size; ++*count) {
        const char *newline = memchr(text + end, '\n', size - end);
        const long step = newline ? step_of(text + end, rows->step) : -1;
        if (step < 0 || step > run->trainer.step) break;
        end = (size_t)(newline - text) + 1;
    }
    return end;
}

/* The rows of a run that goes on belong to its result: without them it must not. */
static const char *read_rows(size_t *keep, const struct attn_run *run,
                             const struct attn_run_rows *rows, const char *path,
                             struct attn_error *e)
{
    const size_t header = strlen(rows->header);
    char *text;
    size_t size;
    long count;
    const char *wrong = attn_file_read(&text, &size, path, LARGEST_TABLE, e);

    if (wrong) return wrong;
    if (size < header || memcmp(text, rows->header, header)) {
        wrong = attn_fail(e, ATTN_BAD_INPUT,
                          "%.350s: line 1 is not the names of the columns that this program writes",
                          path);
    } else {
        *keep = kept(run, rows, text, size, &count);
        if (count != rows->wanted)
            wrong = attn_fail(e, ATTN_BAD_INPUT, "%.350s: %ld rows up to step %ld, expected %ld",
                              path, count, run->trainer.step, rows->wanted);
    }
    attn_free(text);
    return wrong;
}

const char *attn_run_open_rows(int *fd, const struct attn_run *run,
                               const struct attn_run_rows *rows, struct attn_error *e)
{
    char path[ATTN_RUN_FILE];
    size_t keep = 0;
    const char *wrong = NULL;

    attn_run_path(path, run, rows->name);
    if (run->trainer.step > 0) wrong = read_rows(&keep, run, rows, path, e);
    if (wrong) return wrong;
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*fd < 0 || ftruncate(*fd, (off_t)keep)) return refuse(run, rows->name, e);
    return keep ? NULL : write_all(*fd, run, rows->name, rows->header, strlen(rows->header), e);
}

const char *attn_run_append_rows(int fd, const struct attn_run *run, const char *name,
                                 struct attn_text *text, struct attn_error *e)
{
    const char *wrong = text->failed ? attn_fail_memory(e, name)
                                     : write_all(fd, run, name, text->data, text->size, e);

    attn_text_free(text);
    return wrong;
}

const char *attn_run_sync_rows(int fd, const struct attn_run *run, const char *name,
                               struct attn_error *e)
{
    int failed;

    do {
        failed = fsync(fd);
    } while (failed && errno == EINTR);
    return failed ? refuse(run, name, e) : NULL;
}
