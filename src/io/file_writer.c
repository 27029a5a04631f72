#include "attn/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *refuse(const char *path, const char *why, struct attn_error *e)
{
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: cannot write: %s", path, why);
}

/* A link is kept, and what it points to is replaced. */
static const char *follow_link(struct attn_file_writer *w)
{
    char target[PATH_MAX];
    struct stat st;

    if (lstat(w->path, &st) || !S_ISLNK(st.st_mode)) return NULL;
    if (!realpath(w->path, target)) return strerror(errno);
    if (strlen(target) >= sizeof w->path) return strerror(ENAMETOOLONG);
    strcpy(w->path, target);
    return NULL;
}

/* A rename would also replace what must not be: a device, a pipe, or a file
 * that its owner has made read-only. *mode is that of the file to replace, or 0. */
static const char *may_replace(const char *path, mode_t *mode)
{
    struct stat st;

    *mode = 0;
    if (stat(path, &st)) return errno == ENOENT ? NULL : strerror(errno);
    if (S_ISDIR(st.st_mode)) return "it is a directory, expected a file";
    if (!S_ISREG(st.st_mode)) return "it is a device, pipe or socket, expected a regular file";
    if (access(path, W_OK)) return strerror(errno);
    *mode = st.st_mode & 07777;
    return NULL;
}

static bool is_named(const struct stat *held, const char *name)
{
    struct stat named;

    return lstat(name, &named) == 0 && held->st_dev == named.st_dev && held->st_ino == named.st_ino;
}

static const char *give_up(int fd, const char *why)
{
    close(fd);
    return why;
}

/* The temporary name is a fixed one, so that what a killed process leaves
 * behind is used again and never piles up. A lock, which ends with its process,
 * keeps two writers apart (a file system without locks has to do without);
 * between our open and our lock the owner before us may have renamed the file,
 * and then we hold the wrong one and try again. */
static const char *open_temporary(int *fd, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat held;
    const char *why;

    for (int attempt = 0; attempt < 100; attempt++) {
        *fd = open(name, flags, 0666);
        if (*fd < 0 && errno == EINTR) continue;
        if (*fd < 0) return strerror(errno);
        if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
            return give_up(*fd, "another process is writing it");
        if (fstat(*fd, &held)) return give_up(*fd, strerror(errno));
        if (!S_ISREG(held.st_mode) || held.st_nlink > 1)
            return give_up(*fd, "its temporary name is taken by something else");
        if (!is_named(&held, name)) {
            close(*fd);
            continue;
        }
        if (ftruncate(*fd, 0) == 0) return NULL;
        why = strerror(errno);
        unlink(name);
        return give_up(*fd, why);
    }
    return "its temporary name is fought over";
}

const char *attn_file_begin(struct attn_file_writer *w, const char *path, struct attn_error *e)
{
    const char *why;
    mode_t mode;
    int fd;

    w->fd = -1;
    if (strlen(path) >= sizeof w->path) return refuse(path, strerror(ENAMETOOLONG), e);
    strcpy(w->path, path);
    if ((why = follow_link(w))) return refuse(path, why, e);
    snprintf(w->temporary, sizeof w->temporary, "%s.attn-tmp", w->path);
    if ((why = may_replace(w->path, &mode))) return refuse(path, why, e);
    if ((why = open_temporary(&fd, w->temporary))) return refuse(path, why, e);
    w->fd = fd;
    if (mode && fchmod(fd, mode)) {
        why = strerror(errno);
        attn_file_abandon(w);
        return refuse(path, why, e);
    }
    return NULL;
}

static const char *refuse_and_abandon(struct attn_file_writer *w, struct attn_error *e)
{
    const char *why = strerror(errno);

    attn_file_abandon(w);
    return refuse(w->path, why, e);
}

const char *attn_file_add(struct attn_file_writer *w, const void *data, size_t n,
                          struct attn_error *e)
{
    const unsigned char *bytes = data;

    assert(w->fd >= 0);
    while (n > 0) {
        const ssize_t done = write(w->fd, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO;
        if (done <= 0) return refuse_and_abandon(w, e);
        bytes += done;
        n -= (size_t)done;
    }
    return NULL;
}

static int sync_to_disk(int fd)
{
    int failed;

    do {
        failed = fsync(fd);
    } while (failed && errno == EINTR);
    return failed;
}

/* The new name is in the folder's own data. A folder that may be written but
 * not read, or a file system that syncs no folders, is no failure. */
static const char *sync_folder(const char *path, struct attn_error *e)
{
    const char *slash = strrchr(path, '/'), *wrong = NULL;
    char folder[4096] = ".";
    int fd;

    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return NULL;
    if (sync_to_disk(fd) && errno != EINVAL && errno != ENOTSUP)
        wrong = attn_fail(e, ATTN_CANNOT_WRITE,
                          "%.350s: written, but may be lost in a power failure: %s", path,
                          strerror(errno));
    close(fd);
    return wrong;
}

/* Closed only after the rename: the lock must hold until the temporary name is
 * free. After a successful fsync, close has nothing left that could fail. */
const char *attn_file_end(struct attn_file_writer *w, struct attn_error *e)
{
    const char *wrong;

    assert(w->fd >= 0);
    if (sync_to_disk(w->fd) || rename(w->temporary, w->path)) return refuse_and_abandon(w, e);
    wrong = sync_folder(w->path, e);
    close(w->fd);
    w->fd = -1;
    return wrong;
}

void attn_file_abandon(struct attn_file_writer *w)
{
    if (w->fd < 0) return;
    unlink(w->temporary);
    close(w->fd);
    w->fd = -1;
}

const char *attn_file_write(const char *path, const void *data, size_t n, struct attn_error *e)
{
    struct attn_file_writer w;
    const char *wrong = attn_file_begin(&w, path, e);

    if (!wrong) wrong = attn_file_add(&w, data, n, e);
    return wrong ? wrong : attn_file_end(&w, e);
}

static const char *make_one(const char *path, struct attn_error *e)
{
    struct stat st;
    int why;

    if (mkdir(path, 0777) == 0) return NULL;
    why = errno;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return NULL;
        why = ENOTDIR;
    }
    return attn_fail(e, ATTN_CANNOT_WRITE, "%.350s: cannot make this folder: %s", path,
                     strerror(why));
}

const char *attn_directory_make(const char *path, struct attn_error *e)
{
    char prefix[4096];
    const size_t n = strlen(path);

    if (n >= sizeof prefix) return refuse(path, strerror(ENAMETOOLONG), e);
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/' || path[i - 1] == '/') continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        const char *wrong = make_one(prefix, e);
        if (wrong) return wrong;
    }
    return make_one(path, e);
}
