#include "cli.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attn/text.h"

const char *cli_integer(int64_t *x, const struct cli_option *option, const char *value, int64_t low,
                        int64_t high, struct attn_error *e)
{
    int64_t got;

    if (attn_integer_parse(value, &got) && got >= low && got <= high) {
        *x = got;
        return NULL;
    }
    if (low == INT64_MIN && high == INT64_MAX)
        return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected a whole number", option->name,
                         value);
    return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected a whole number from %lld to %lld",
                     option->name, value, (long long)low, (long long)high);
}

const char *cli_int(int *x, const struct cli_option *option, const char *value, int low, int high,
                    struct attn_error *e)
{
    int64_t got = 0;

    if (cli_integer(&got, option, value, low, high, e)) return e->text;
    *x = (int)got;
    return NULL;
}

/* "a number from 0 to 1", "a number above 0", "a finite number of 0 or more" */
static void describe_range(char out[96], double low, double high)
{
    char a[ATTN_NUMBER_SIZE], b[ATTN_NUMBER_SIZE];

    attn_number_format(a, low, 6);
    attn_number_format(b, high, 6);
    if (low == DBL_MIN && isinf(high))
        snprintf(out, 96, "a finite number above 0");
    else if (low == DBL_MIN)
        snprintf(out, 96, "a number above 0 and at most %s", b);
    else if (isinf(low) && isinf(high))
        snprintf(out, 96, "a finite number");
    else if (isinf(high))
        snprintf(out, 96, "a finite number of %s or more", a);
    else if (isinf(low))
        snprintf(out, 96, "a finite number of %s or less", b);
    else
        snprintf(out, 96, "a number from %s to %s", a, b);
}

const char *cli_number(double *x, const struct cli_option *option, const char *value, double low,
                       double high, struct attn_error *e)
{
    char range[96];
    double got;

    if (attn_number_parse(value, &got) && isfinite(got) && got >= low && got <= high) {
        *x = got;
        return NULL;
    }
    describe_range(range, low, high);
    return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected %s", option->name, value, range);
}

const char *cli_path(const char **path, const struct cli_option *option, const char *value,
                     struct attn_error *e)
{
    if (!*value) return attn_fail(e, ATTN_BAD_USAGE, "--%s '': expected a path", option->name);
    *path = value;
    return NULL;
}

const char *cli_choice(int *index, const struct cli_option *option, const char *value,
                       const char *const *names, int n, struct attn_error *e)
{
    const char *nearest = cli_nearest(value, names, n);
    char list[400];
    int used = 0;

    for (int i = 0; i < n; i++)
        if (!strcmp(value, names[i])) {
            *index = i;
            return NULL;
        }
    list[0] = '\0';
    for (int i = 0; i < n && used < (int)sizeof list; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", i ? ", " : "", names[i]);
    if (nearest)
        return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: did you mean %s? (one of %s)", option->name,
                         value, nearest, list);
    return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected one of %s", option->name, value, list);
}

enum { LONGEST = 64 };

/* The restricted edit distance (optimal string alignment): three rows of its table. */
static int edit_distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];

    if (n > LONGEST || m > LONGEST) return INT_MAX;
    for (int j = 0; j <= m; j++) last[j] = j;
    for (int i = 1; i <= n; i++) {
        int *spare = before;
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

/* An abbreviation is far from its word in letters, yet clearly means it. */
static bool abbreviates(const char *word, const char *name)
{
    return strlen(word) >= 2 && !strncmp(word, name, strlen(word));
}

const char *cli_nearest(const char *word, const char *const *names, int n)
{
    const char *nearest = NULL;
    int best = ((int)strlen(word) + 2) / 3 + 1;

    for (int i = 0; i < n; i++) {
        const int distance = abbreviates(word, names[i]) ? 0 : edit_distance(word, names[i]);
        if (distance >= best) continue;
        best = distance;
        nearest = names[i];
    }
    return nearest;
}
