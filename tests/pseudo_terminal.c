#define _GNU_SOURCE /* posix_openpt */
#include "test.h"

#include "pseudo_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "attn/text.h"

bool pseudo_terminal_open(struct pseudo_terminal *p, unsigned short rows, unsigned short columns)
{
    const struct winsize size = {rows, columns, 0, 0};

    p->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (p->master < 0) {
        fprintf(stderr, "skipped: there are no pseudo-terminals here\n");
        return false;
    }
    ck_assert(grantpt(p->master) == 0 && unlockpt(p->master) == 0);
    snprintf(p->path, sizeof p->path, "%s", ptsname(p->master));
    ck_assert(ioctl(p->master, TIOCSWINSZ, &size) == 0);
    return true;
}

pid_t pseudo_terminal_run(const struct pseudo_terminal *p, int (*work)(FILE *out, void *context),
                          void *context)
{
    const pid_t pid = fork();

    ck_assert(pid >= 0);
    if (pid == 0) {
        FILE *out;
        int end;
        /* Check has handlers of its own for the first two; what runs in the background
         * may ignore the third. */
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        setsid();
        end = open(p->path, O_RDWR);
        if (end < 0 || ioctl(end, TIOCSCTTY, 0) < 0) _exit(99);
        close(p->master);
        out = fdopen(end, "r+");
        _exit(out ? work(out, context) : 98);
    }
    return pid;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t pseudo_terminal_read(const struct pseudo_terminal *p, char *text, size_t used, size_t size,
                            const char *until, double seconds)
{
    const double end = now() + seconds;

    text[used] = '\0';
    while (used + 1 < size && now() < end && !(until && strstr(text, until))) {
        struct pollfd fd = {p->master, POLLIN, 0};
        ssize_t n;
        if (poll(&fd, 1, 20) <= 0) continue;
        n = read(p->master, text + used, size - 1 - used);
        if (n <= 0) break; /* on Linux an error, once the other end is closed */
        used += (size_t)n;
        text[used] = '\0';
    }
    return used;
}

enum { MOST_ROWS = 100, MOST_COLUMNS = 300, GLYPH = 24 };

struct cells {
    char glyph[MOST_ROWS][MOST_COLUMNS][GLYPH];
    int rows, columns, row, column;
    struct screen *screen;
};

static void clear(struct cells *c, int row, int from)
{
    for (int i = from; i < c->columns; i++) strcpy(c->glyph[row][i], " ");
}

static void feed_line(struct cells *c)
{
    if (++c->row < c->rows) return;
    memmove(c->glyph, c->glyph + 1, (size_t)(c->rows - 1) * sizeof *c->glyph);
    c->row = c->rows - 1;
    clear(c, c->row, 0);
}

/* Behind ESC [. */
static const char *obey(struct cells *c, const char *at)
{
    const size_t n = strspn(at, "?0123456789;");
    const char what = at[n];

    if (what == 'A')
        c->row = c->row > atoi(at) ? c->row - atoi(at) : 0;
    else if (what == 'm')
        c->screen->painted = !(n == 0 || (n == 1 && *at == '0'));
    else if (what == 'K' && n == 0)
        clear(c, c->row, c->column);
    else if (what == 'J' && n == 0)
        for (int row = c->row; row < c->rows; row++) clear(c, row, row == c->row ? c->column : 0);
    else if ((what == 'l' || what == 'h') && strncmp(at, "?25", 3) == 0)
        c->screen->hidden = what == 'l';
    else
        ck_abort_msg("an escape that moves who knows what: ESC [%.10s", at);
    return at + n + 1;
}

static const char *put(struct cells *c, const char *at)
{
    const char *from = at;
    const int32_t code = attn_utf8_next(&at, at + strlen(at));
    const int width = attn_utf8_width(code);

    ck_assert_msg(code >= 0 && width >= 0, "byte %02x on a terminal", (unsigned char)*from);
    if (width == 0) return at;
    if (c->column + width > c->columns) {
        c->screen->wrapped++;
        c->column = 0;
        feed_line(c);
    }
    snprintf(c->glyph[c->row][c->column], GLYPH, "%.*s", (int)(at - from), from);
    if (width == 2) *c->glyph[c->row][c->column + 1] = '\0';
    c->column += width;
    return at;
}

static char *text_of(const struct cells *c)
{
    const size_t line = (size_t)c->columns * GLYPH + 2;
    char *text = calloc((size_t)c->rows, line), *end = text, *last = text;

    ck_assert_ptr_nonnull(text);
    for (int row = 0; row < c->rows; row++) {
        char *begin = end;
        for (int i = 0; i < c->columns; i++) end = stpcpy(end, c->glyph[row][i]);
        while (end > begin && end[-1] == ' ') end--;
        *end++ = '\n';
        if (end > begin + 1) last = end;
    }
    *last = '\0';
    return text;
}

struct screen screen_after(const char *text, int rows, int columns)
{
    struct screen screen = {0};
    struct cells *c = calloc(1, sizeof *c);

    ck_assert(c && rows <= MOST_ROWS && columns <= MOST_COLUMNS);
    c->rows = rows;
    c->columns = columns;
    c->screen = &screen;
    for (int row = 0; row < rows; row++) clear(c, row, 0);
    while (*text) {
        if (*text == '\r') {
            c->column = 0;
            text++;
        } else if (*text == '\n') {
            feed_line(c);
            text++;
        } else if (strncmp(text, "\033[", 2) == 0) {
            text = obey(c, text + 2);
        } else {
            text = put(c, text);
        }
    }
    screen.text = text_of(c);
    free(c);
    return screen;
}
