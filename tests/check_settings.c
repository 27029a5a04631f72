/* The one table of settings: what it takes, refuses, writes and reads back. */
#include "test.h"

#include <locale.h>

#include "attn/settings.h"

static int count_settings(void)
{
    int n = 0;

    while (attn_setting_table[n].name) n++;
    return n;
}

static void expect_refused(const struct attn_setting *t, const char *value)
{
    struct attn_settings s, before;
    struct attn_error e;

    attn_settings_default(&s, attn_tasks[0]);
    before = s;
    ck_assert_msg(attn_settings_set(&s, t, value, &e) != NULL, "--%s %s was taken", t->name, value);
    ck_assert_int_eq(e.fault, ATTN_BAD_USAGE);
    ck_assert_msg(strstr(e.text, t->name) && strstr(e.text, "expected"), "%s", e.text);
    ck_assert_int_eq(memcmp(&s, &before, sizeof s), 0);
}

START_TEST(numbers_are_read_whole)
{
    static const char *const wrong[] = {"", "3x2", "x", "1e999", "nan", "inf", "--", "1 2", "0x10"};
    const struct attn_setting *t = &attn_setting_table[_i];
    char below[32];

    if (t->type == ATTN_SETTING_TEXT) return;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) expect_refused(t, wrong[i]);
    if (t->type == ATTN_SETTING_INTEGER || t->type == ATTN_SETTING_LONG) {
        expect_refused(t, "1.5");
        expect_refused(t, "99999999999999999999");
        snprintf(below, sizeof below, "%.0f", t->min - 1);
        expect_refused(t, below);
        expect_refused(t, "9007199254740993");
    }
}
END_TEST

START_TEST(a_value_reads_back_to_itself)
{
    const struct attn_setting *t = &attn_setting_table[_i];

    for (int k = 0; attn_tasks[k]; k++) {
        struct attn_settings s, again;
        struct attn_text text = {0};
        struct attn_error e;

        attn_settings_default(&s, attn_tasks[k]);
        again = s;
        attn_settings_value(&text, &s, t);
        ck_assert_ptr_null(attn_settings_set(&again, t, text.data ? text.data : "", &e));
        ck_assert_int_eq(memcmp(&s, &again, sizeof s), 0);
        attn_text_free(&text);
    }
}
END_TEST

static void expect_json_round_trip(const struct attn_settings *s)
{
    struct attn_settings back;
    struct attn_text json = {0}, again = {0};
    struct attn_error e;
    char precision[8];

    attn_settings_write(&json, s);
    ck_assert_msg(!attn_settings_read(&back, precision, json.data, json.size, "config.json", &e),
                  "%s", e.text);
    ck_assert_str_eq(precision, attn_precision);
    attn_settings_write(&again, &back);
    ck_assert_str_eq(json.data, again.data);
    attn_text_free(&json);
    attn_text_free(&again);
}

START_TEST(json_reads_back_for_every_task)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_tasks[_i]);
    s.lr = 0.1 + 0.2; /* needs 17 digits */
    s.seed = 9007199254740992;
    s.optimize.epsilon = 1e-30;
    snprintf(s.data, sizeof s.data, "%s", "a \"b\"\\\t\xe6\x88\x91.txt");
    setlocale(LC_ALL, "de_DE.UTF-8");
    expect_json_round_trip(&s);
}
END_TEST

START_TEST(json_with_mistakes_is_refused)
{
    static const struct {
        const char *json, *says;
    } wrong[] = {
        {"", "config.json"},
        {"[1]", "object"},
        {"{}", "task"},
        {"{\"task\": \"nothing\"}", "task"},
        {"{\"task\": \"recall\", \"stepz\": 3}", "stepz"},
        {"{\"task\": \"recall\", \"steps\": \"3x2\"}", "3x2"},
        {"{\"task\": \"recall\", \"steps\": [3]}", "steps"},
        {"{\"task\": \"recall\", \"lr\": 1e999}", "lr"},
        {"{\"task\": \"recall\", \"steps\": 3, \"steps\": 4}", "steps"},
        {"{\"task\": \"recall\", \"length\": 4}", "recall has no such setting"},
        {"{\"task\": \"recall\", \"precision\": \"long double\"}", "precision"},
    };
    struct attn_settings s;
    struct attn_error e;
    char precision[8];

    ck_assert_ptr_nonnull(attn_settings_read(&s, precision, wrong[_i].json, strlen(wrong[_i].json),
                                             "config.json", &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, "config.json") && strstr(e.text, wrong[_i].says), "%s", e.text);
}
END_TEST

/* What config.json could not hold would come back as another name. */
START_TEST(a_file_name_is_utf8)
{
    expect_refused(attn_setting_find("data"), "caf\xe9.txt");
}
END_TEST

START_TEST(only_settings_of_the_task_apply)
{
    const struct attn_task *recall = attn_task_find("recall"), *text = attn_task_find("text");

    ck_assert(attn_setting_applies(attn_setting_find("pairs"), recall));
    ck_assert(!attn_setting_applies(attn_setting_find("pairs"), text));
    ck_assert(attn_setting_applies(attn_setting_find("data"), text));
    ck_assert(attn_setting_applies(attn_setting_find("words"), text));
    ck_assert(!attn_setting_applies(attn_setting_find("data"), recall));
    ck_assert(attn_setting_applies(attn_setting_find("lr"), text));
    ck_assert(attn_setting_applies(attn_setting_find("task"), text));
}
END_TEST

void add_tests(Suite *suite)
{
    int tasks = 0;

    while (attn_tasks[tasks]) tasks++;
    add_loop_test(suite, "numbers are read whole", numbers_are_read_whole, count_settings());
    add_loop_test(suite, "a value reads back to itself", a_value_reads_back_to_itself,
                  count_settings());
    add_loop_test(suite, "json reads back", json_reads_back_for_every_task, tasks);
    add_loop_test(suite, "json with mistakes", json_with_mistakes_is_refused, 11);
    add_test(suite, "a file name is UTF-8", a_file_name_is_utf8);
    add_test(suite, "only settings of the task apply", only_settings_of_the_task_apply);
}
