#include "io/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *refuse(struct source *s, const char *why, struct attn_error *e)
{
    return attn_fail(e, ATTN_BAD_INPUT, "%.350s: cannot read: %s", s->path, why);
}

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode)) return "it is a directory, expected a file";
    if (S_ISFIFO(mode)) return "it is a pipe (FIFO), expected a regular file";
    return "it is not a regular file";
}

const char *attn_source_open(struct source *s, const char *path, struct attn_error *e)
{
    struct stat st;
    const char *why = NULL;

    *s = (struct source){.path = path};
    do {
        s->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    } while (s->fd < 0 && errno == EINTR);
    if (s->fd < 0) return refuse(s, strerror(errno), e);

    if (fstat(s->fd, &st))
        why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        why = kind_of(st.st_mode);
    else if ((uintmax_t)st.st_size > PTRDIFF_MAX)
        why = "it is larger than the address space";
    if (why) {
        attn_source_close(s);
        return refuse(s, why, e);
    }
    s->size = s->left = (size_t)st.st_size;
    return NULL;
}

/* At most n bytes, fewer only at the end of the file; -1 with errno. */
static ssize_t read_up_to(int fd, unsigned char *bytes, size_t n)
{
    size_t done = 0;

    while (done < n) {
        const ssize_t got = read(fd, bytes + done, n - done);
        if (got < 0 && errno != EINTR) return -1;
        if (got == 0) break;
        if (got > 0) done += (size_t)got;
    }
    return (ssize_t)done;
}

const char *attn_source_take(struct source *s, void *bytes, size_t n, struct attn_error *e)
{
    assert(n <= s->left);
    const ssize_t got = read_up_to(s->fd, bytes, n);
    if (got < 0) return refuse(s, strerror(errno), e);
    if ((size_t)got < n) return refuse(s, "it became shorter while it was read", e);
    s->left -= n;
    return NULL;
}

const char *attn_source_seek(struct source *s, size_t at, struct attn_error *e)
{
    assert(at <= s->size);
    if (lseek(s->fd, (off_t)at, SEEK_SET) < 0) return refuse(s, strerror(errno), e);
    s->left = s->size - at;
    return NULL;
}

const char *attn_source_expect_end(struct source *s, struct attn_error *e)
{
    unsigned char more;
    const ssize_t got = read_up_to(s->fd, &more, 1);

    if (got < 0) return refuse(s, strerror(errno), e);
    return got ? refuse(s, "it became longer while it was read", e) : NULL;
}

void attn_source_close(struct source *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}
