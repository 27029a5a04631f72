#include "progress.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const double redraw_seconds = 0.1, log_seconds = 10, memory_seconds = 5;

static double monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void format_seconds(char *out, size_t size, double seconds)
{
    const double whole = ceil(seconds);
    const int s = whole < 86400 ? (int)whole : 0;

    if (whole >= 86400)
        snprintf(out, size, "%.1f days", whole / 86400);
    else if (s >= 3600)
        snprintf(out, size, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%d:%02d", s / 60, s % 60);
}

static void format_rate(char *out, size_t size, double rate)
{
    if (rate >= 10)
        snprintf(out, size, "%.0f steps/s", rate);
    else if (rate >= 1)
        snprintf(out, size, "%.1f steps/s", rate);
    else
        snprintf(out, size, "%.1f s/step", 1 / rate);
}

/* Adds a field if it fits whole, and says whether it did. */
static bool add_field(char *out, size_t size, int width, const char *name, const char *value)
{
    const size_t used = strlen(out), room = width < 0 ? 0 : (size_t)width;
    const char *gap = used ? "  " : "";
    const size_t more = strlen(gap) + strlen(name) + strlen(value);

    if (used + more >= size || used + more > room) return false;
    snprintf(out + used, size - used, "%s%s%s", gap, name, value);
    return true;
}

void progress_line(char *out, size_t size, const struct progress *p, int width)
{
    const struct {
        const char *name;
        double value;
    } shares[] = {{"accuracy ", p->accuracy}, {"target mass ", p->target_mass}};
    char text[64];

    *out = '\0';
    snprintf(text, sizeof text, "%ld/%ld", p->step, p->steps);
    if (!add_field(out, size, width, "step ", text)) return;
    /* The sign of a NaN means nothing, and is printed. */
    snprintf(text, sizeof text, fabs(p->loss) < 1000 ? "%.4f" : "%.4g",
             isnan(p->loss) ? fabs(p->loss) : p->loss);
    if (!add_field(out, size, width, "loss ", text)) return;
    for (int i = 0; i < 2; i++) {
        if (!isfinite(shares[i].value)) continue;
        snprintf(text, sizeof text, "%.3f", shares[i].value);
        if (!add_field(out, size, width, shares[i].name, text)) return;
    }
    if (!(p->rate > 0)) return;
    if (p->step < p->steps) {
        format_seconds(text, sizeof text - 5, (double)(p->steps - p->step) / p->rate);
        if (!add_field(out, size, width, "", strcat(text, " left"))) return;
    }
    format_rate(text, sizeof text, p->rate);
    add_field(out, size, width, "", text);
}

void progress_start(struct progress *p, FILE *stream, const struct terminal *terminal, long step,
                    long steps)
{
    if (!p->clock) p->clock = monotonic;
    p->stream = stream;
    p->redraw = terminal->redraw;
    p->steps = steps;
    p->step = p->marked_step = step;
    p->loss = p->accuracy = p->target_mass = (double)NAN;
    p->shown = true;
    p->open = false;
    p->rate = 0;
    p->marked = p->clock();
    p->due = p->marked + (p->redraw ? 0 : log_seconds);
}

/* The speed fades: after memory_seconds, what was before counts by 1/e. So the
 * time left follows a machine that slows down, and does not jump at each step. */
static void measure(struct progress *p, double now)
{
    const double seconds = now - p->marked;
    double old;

    if (seconds < 0.05 || p->step <= p->marked_step) return;
    old = p->rate > 0 ? exp(-seconds / memory_seconds) : 0;
    p->rate = old * p->rate + (1 - old) * (double)(p->step - p->marked_step) / seconds;
    p->marked = now;
    p->marked_step = p->step;
}

/* In place, the cursor stays at the end of the line and short of the last
 * column, where some terminals would wrap. What is written over goes last, so
 * that nothing flickers. */
static void draw(struct progress *p)
{
    char line[256];

    progress_line(line, sizeof line, p, p->redraw ? terminal_width(p->stream) - 1 : 255);
    fprintf(p->stream, p->redraw ? "\r%s\033[K" : "%s\n", line);
    fflush(p->stream);
    p->shown = true;
    p->open = p->redraw;
}

void progress_update(struct progress *p, long step, double loss, double accuracy,
                     double target_mass)
{
    const double now = p->clock();

    p->step = step;
    p->loss = loss;
    p->accuracy = accuracy;
    p->target_mass = target_mass;
    p->shown = false;
    if (now < p->due) return;
    measure(p, now);
    draw(p);
    p->due = now + (p->redraw ? redraw_seconds : log_seconds);
}

void progress_finish(struct progress *p)
{
    if (!p->shown) {
        measure(p, p->clock());
        draw(p);
    }
    if (p->open) fputc('\n', p->stream);
    fflush(p->stream);
    p->open = false;
}
