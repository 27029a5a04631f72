/* Settings as the JSON object of config.json: flat, one a line, in the order of
 * the table, so that two equal settings are equal files. */
#include <stdio.h>
#include <string.h>

#include "attn/json.h"
#include "attn/memory.h"
#include "attn/settings.h"

static const void *place(const struct attn_settings *s, const struct attn_setting *t)
{
    return (const char *)s + t->offset;
}

/* The shortest decimal that reads back to the same bits. */
static void write_number(struct attn_text *out, double x)
{
    char text[ATTN_NUMBER_SIZE];
    double back;

    for (int digits = 1; digits <= 17; digits++) {
        attn_number_format(text, x, digits);
        if (attn_number_parse(text, &back) && memcmp(&back, &x, sizeof x) == 0) break;
    }
    attn_text_print(out, "%s", text);
}

void attn_settings_value(struct attn_text *t, const struct attn_settings *s,
                         const struct attn_setting *setting)
{
    const void *at = place(s, setting);

    switch (setting->type) {
    case ATTN_SETTING_INTEGER:
        attn_text_print(t, "%d", *(const int *)at);
        break;
    case ATTN_SETTING_LONG:
        attn_text_print(t, "%lld", (long long)*(const int64_t *)at);
        break;
    case ATTN_SETTING_NUMBER:
        write_number(t, *(const double *)at);
        break;
    case ATTN_SETTING_YES_NO:
        attn_text_print(t, "%s", *(const bool *)at ? "yes" : "no");
        break;
    case ATTN_SETTING_NAME:
        attn_text_print(t, "%s", *(const char *const *)at);
        break;
    case ATTN_SETTING_TEXT:
        attn_text_print(t, "%s", (const char *)at);
        break;
    }
}

static void write_value(struct attn_text *out, const struct attn_settings *s,
                        const struct attn_setting *t)
{
    struct attn_text value = {0};

    attn_settings_value(&value, s, t);
    if (value.failed)
        out->failed = true;
    else if (t->type == ATTN_SETTING_YES_NO)
        attn_text_print(out, "%s", strcmp(value.data, "yes") ? "false" : "true");
    else if (t->type == ATTN_SETTING_NAME || t->type == ATTN_SETTING_TEXT)
        attn_json_quote(out, value.data ? value.data : "");
    else
        attn_text_print(out, "%s", value.data);
    attn_text_free(&value);
}

void attn_settings_write(struct attn_text *t, const struct attn_settings *s)
{
    const struct attn_task *task = attn_task_find(s->task);

    attn_text_print(t, "{\n");
    for (const struct attn_setting *setting = attn_setting_table; setting->name; setting++) {
        if (!attn_setting_applies(setting, task)) continue;
        attn_text_print(t, "  \"%s\": ", setting->name);
        write_value(t, s, setting);
        attn_text_print(t, ",\n");
    }
    attn_text_print(t, "  \"weights-sha256\": \"%s\",\n", s->weights_sha256);
    attn_text_print(t, "  \"data-sha256\": \"%s\",\n", s->data_sha256);
    attn_text_print(t, "  \"precision\": \"%s\"\n}\n", attn_precision);
}

/* A member as the text that the command line would give. */
static const char *as_text(const struct attn_json *member)
{
    switch (member->type) {
    case ATTN_JSON_TRUE:
        return "yes";
    case ATTN_JSON_FALSE:
        return "no";
    case ATTN_JSON_NUMBER:
    case ATTN_JSON_STRING:
        return strlen(member->text) == member->size ? member->text : NULL;
    default:
        return NULL;
    }
}

static const char *copy_word(char *to, size_t size, const struct attn_json *member,
                             const char *name, struct attn_error *e)
{
    const char *text = as_text(member);

    if (!text || strlen(text) >= size)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.200s: \"%.64s\": expected a word of less than %zu letters", name,
                         member->name, size);
    snprintf(to, size, "%s", text);
    return NULL;
}

static const char *read_member(struct attn_settings *s, char precision[8],
                               const struct attn_json *member, const char *name,
                               struct attn_error *e)
{
    const struct attn_setting *t = attn_setting_find(member->name);
    const char *text = as_text(member);
    struct attn_error why;

    if (strcmp(member->name, "data-sha256") == 0)
        return copy_word(s->data_sha256, sizeof s->data_sha256, member, name, e);
    if (strcmp(member->name, "weights-sha256") == 0)
        return copy_word(s->weights_sha256, sizeof s->weights_sha256, member, name, e);
    if (strcmp(member->name, "precision") == 0) return copy_word(precision, 8, member, name, e);
    if (!t)
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: \"%.64s\" is no setting", name, member->name);
    if (!attn_setting_applies(t, attn_task_find(s->task)))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: \"%s\": task %s has no such setting", name,
                         t->name, s->task);
    if (!text)
        return attn_fail(e, ATTN_BAD_INPUT,
                         "%.200s: \"%.64s\": expected a number, a string, true or false", name,
                         member->name);
    if (attn_settings_set(s, t, text, &why))
        return attn_fail(e, ATTN_BAD_INPUT, "%.200s: %.300s", name, why.text);
    return NULL;
}

static const char *read_object(struct attn_settings *s, char precision[8],
                               const struct attn_json *root, const char *name, struct attn_error *e)
{
    const struct attn_json *task;
    const char *wrong = NULL;

    if (root->type != ATTN_JSON_OBJECT)
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: expected a JSON object of settings", name);
    task = attn_json_member(root, "task");
    if (!task || task->type != ATTN_JSON_STRING || !attn_task_find(task->text))
        return attn_fail(e, ATTN_BAD_INPUT, "%.350s: expected \"task\" with the name of a task",
                         name);
    attn_settings_default(s, attn_task_find(task->text));
    precision[0] = '\0';
    for (const struct attn_json *m = root->first; m && !wrong; m = m->next)
        wrong = read_member(s, precision, m, name, e);
    return wrong;
}

const char *attn_settings_read(struct attn_settings *s, char precision[8], const char *json,
                               size_t n, const char *name, struct attn_error *e)
{
    const struct attn_json *root;
    const char *wrong = attn_json_parse(&root, json, n, name, e);

    if (wrong) return wrong;
    wrong = read_object(s, precision, root, name, e);
    attn_free(root);
    return wrong;
}
