#include "attn/settings.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct attn_setting *attn_setting_find(const char *name)
{
    for (const struct attn_setting *t = attn_setting_table; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

static void *place(struct attn_settings *s, const struct attn_setting *t)
{
    return (char *)s + t->offset;
}

static const char *set_name(const char **to, const struct attn_setting *t, const char *value,
                            struct attn_error *e)
{
    struct attn_text names = {0};

    for (int i = 0; t->choice(i); i++) {
        if (strcmp(t->choice(i), value) == 0) {
            *to = t->choice(i);
            attn_text_free(&names);
            return NULL;
        }
        attn_text_print(&names, "%s%s", i ? ", " : "", t->choice(i));
    }
    attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected one of %s", t->name, value,
              names.data ? names.data : "the listed names");
    attn_text_free(&names);
    return e->text;
}

static const char *set_whole(void *to, const struct attn_setting *t, const char *value,
                             struct attn_error *e)
{
    int64_t x;

    if (!attn_integer_parse(value, &x) || x < (int64_t)t->min || x > (int64_t)t->max)
        return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected a whole number from %lld to %lld",
                         t->name, value, (long long)t->min, (long long)t->max);
    if (t->type == ATTN_SETTING_LONG)
        *(int64_t *)to = x;
    else
        *(int *)to = (int)x;
    return NULL;
}

static const char *set_number(double *to, const struct attn_setting *t, const char *value,
                              struct attn_error *e)
{
    char min[ATTN_NUMBER_SIZE], max[ATTN_NUMBER_SIZE];
    double x;

    if (attn_number_parse(value, &x) && x >= t->min && x <= t->max) {
        *to = x;
        return NULL;
    }
    return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected a number from %s to %s", t->name, value,
                     attn_number_format(min, t->min, 7), attn_number_format(max, t->max, 7));
}

static const char *set_yes_no(bool *to, const struct attn_setting *t, const char *value,
                              struct attn_error *e)
{
    if (strcmp(value, "yes") && strcmp(value, "no"))
        return attn_fail(e, ATTN_BAD_USAGE, "--%s %s: expected yes or no", t->name, value);
    *to = value[0] == 'y';
    return NULL;
}

static bool is_utf8(const char *s)
{
    const char *end = s + strlen(s);

    while (s < end)
        if (attn_utf8_next(&s, end) < 0) return false;
    return true;
}

static const char *set_text(char *to, const struct attn_setting *t, const char *value,
                            struct attn_error *e)
{
    if (strlen(value) >= ATTN_DATA_PATH)
        return attn_fail(e, ATTN_BAD_USAGE, "--%s: more than %d bytes", t->name,
                         ATTN_DATA_PATH - 1);
    if (!is_utf8(value))
        return attn_fail(e, ATTN_BAD_USAGE,
                         "--%s: no UTF-8, expected a name that config.json can hold", t->name);
    snprintf(to, ATTN_DATA_PATH, "%s", value);
    return NULL;
}

static const char *set(struct attn_settings *s, const struct attn_setting *setting,
                       const char *value, struct attn_error *e)
{
    void *to = place(s, setting);

    switch (setting->type) {
    case ATTN_SETTING_INTEGER:
    case ATTN_SETTING_LONG:
        return set_whole(to, setting, value, e);
    case ATTN_SETTING_NUMBER:
        return set_number(to, setting, value, e);
    case ATTN_SETTING_YES_NO:
        return set_yes_no(to, setting, value, e);
    case ATTN_SETTING_NAME:
        return set_name(to, setting, value, e);
    case ATTN_SETTING_TEXT:
        break;
    }
    return set_text(to, setting, value, e);
}

const char *attn_settings_set(struct attn_settings *s, const struct attn_setting *setting,
                              const char *value, struct attn_error *e)
{
    const char *wrong = set(s, setting, value, e);

    s->options.width = s->model.width; /* one setting, which a task may read too */
    return wrong;
}

/* Defaults are part of the program: one that does not parse is a mistake in it. */
static void set_default(struct attn_settings *s, const char *name, const char *value)
{
    struct attn_error e;
    const struct attn_setting *t = attn_setting_find(name);
    const char *wrong = t ? attn_settings_set(s, t, value, &e) : "no such setting";

    assert(!wrong);
    (void)wrong;
}

void attn_settings_default(struct attn_settings *s, const struct attn_task *task)
{
    char words[512];

    memset(s, 0, sizeof *s);
    for (const struct attn_setting *t = attn_setting_table; t->name; t++)
        set_default(s, t->name, t->fallback);
    s->task = task->name;
    snprintf(words, sizeof words, "%s", task->defaults);
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        set_default(s, word, value);
    }
}

bool attn_setting_applies(const struct attn_setting *setting, const struct attn_task *task)
{
    const size_t n = strlen(setting->name);

    if (strcmp(setting->group, "Task") || strcmp(setting->name, "task") == 0) return true;
    for (const char *at = task->defaults; (at = strstr(at, setting->name)); at += n)
        if ((at == task->defaults || at[-1] == ' ') && at[n] == '=') return true;
    return false;
}
