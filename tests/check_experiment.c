/* Experiments as files: what is read of them, and what is refused. */
#include <math.h>

#include "experiment.h"
#include "experiment_plot.h"
#include "test.h"

#define RUNS                                                                                       \
    "\"settings\": {\"task\": \"recall\", \"width\": 8}, \"runs\": {\"a\": {}, \"b\": {\"lr\": "   \
    "0.5}}"
#define CHECK "\"what\": \"w\", \"measure\": \"accuracy\", \"least\": 0"

static const char *write_experiment(const char *text)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/mine.json", scratch_directory());
    write_file(path, text, strlen(text));
    return path;
}

/* One of everything. */
START_TEST(all_of_a_file_is_read)
{
    static const char text[] =
        "{\"title\": \"T\", \"source\": \"S\", \"program\": \"train64\", \"seeds\": 2,\n"
        "\"needs\": \"x.txt\", \"question\": \"q\", \"setting\": [\"s\"],\n" RUNS ",\n"
        "\"checks\": [{\"what\": \"one\", \"run\": \"b\", \"measure\": \"reach accuracy 0.5\", "
        "\"near\": 2, \"within\": \"25 %\", \"published\": \"2\", \"seen\": \"3\"},\n"
        "{\"what\": \"two\", \"runs\": [\"a\", \"b\"], \"minus\": [\"b\", \"a\"], \"fit\": "
        "\"log-log slope\", \"against\": \"lr\", \"measure\": \"result loss\", \"most\": 3},\n"
        "{\"what\": \"three\", \"run\": \"a\", \"over\": \"b\", \"measure\": \"loss\", "
        "\"near\": -2, \"within\": 0.5}]}";
    struct experiment x;
    struct attn_error e;

    ck_assert_msg(!experiment_read(&x, write_experiment(text), &e), "%s", e.text);
    ck_assert_str_eq(x.name, "mine");
    ck_assert_str_eq(x.title, "T");
    ck_assert_str_eq(x.needs, "x.txt");
    ck_assert_str_eq(x.program, "train64");
    ck_assert_int_eq(x.seeds, 2);
    ck_assert_int_eq(x.runs, 2);
    ck_assert_int_eq(x.run[0].settings.model.width, 8);
    ck_assert_double_eq(x.run[0].settings.lr, 0.001);
    ck_assert_double_eq(x.run[1].settings.lr, 0.5);
    ck_assert_int_eq(x.run[1].from, -1);
    ck_assert_int_eq(x.checks, 3);
    ck_assert_int_eq(x.check[0].run[0], 1);
    ck_assert_double_eq(x.check[0].least, 1.5);
    ck_assert_double_eq(x.check[0].most, 2.5);
    ck_assert_int_eq(x.check[1].fit, EXPERIMENT_SLOPE);
    ck_assert_int_eq(x.check[1].beside, EXPERIMENT_MINUS);
    ck_assert_int_eq(x.check[1].run[1], 1);
    ck_assert_int_eq(x.check[1].other[0], 1);
    ck_assert_int_eq(x.check[1].other[1], 0);
    ck_assert(isinf(x.check[1].least));
    ck_assert_int_eq(x.check[2].beside, EXPERIMENT_OVER);
    ck_assert_double_eq(x.check[2].least, -2.5);
    ck_assert_double_eq(x.check[2].most, -1.5);
    experiment_free(&x);
}
END_TEST

static const struct {
    const char *text, *says;
} refused[] = {
    {"[]", "expected an object"},
    {"{\"title\": 3}", "\"title\": expected a string"},
    {"{\"title\": \"a\\nb\"}", "expected a string of one line"},
    {"{\"title\": \"a\\u001b[2J\"}", "expected a string of one line"},
    {"{\"title\": \"a\\u0000b\"}", "expected a string of one line"},
    {"{\"title\": \"t\", \"lesson\": 3}", "\"lesson\": expected a string, or a list"},
    {"{\"title\": \"t\", \"question\": [\"a\", 3]}", "\"question\": expected a string, or a list"},
    {"{}", "no \"title\""},
    {"{\"title\": \"t\", \"colour\": 1}", "\"colour\" is not known here"},
    {"{\"title\": \"t\", \"program\": \"rm\"}", "expected train or train64"},
    {"{\"title\": \"t\", \"seeds\": 0}", "\"seeds\": expected 1 to"},
    {"{\"title\": \"t\", \"seeds\": 1.5}", "\"seeds\": expected 1 to"},
    {"{\"title\": \"t\"}", "\"runs\": expected an object"},
    {"{\"title\": \"t\", \"runs\": {\"../x\": {}}}", "a run's name has"},
    {"{\"title\": \"t\", \"runs\": {\"a\": 1}}", "\"a\": expected an object"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {}}}", "runs, \"a\": \"task\": expected the name"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"nothing\"}}}", "expected the name of one"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"widht\": 3}}}",
     "train has no setting \"widht\""},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"seed\": 3}}}", "command line"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"width\": \"3x\"}}}", "width"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"width\": [3]}}}",
     "expected a word or number"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"words\": true}}}",
     "task recall has no such setting"},
    {"{\"title\": \"t\", \"runs\": {\"a\": {\"task\": \"recall\", \"from\": \"a\"}}}",
     "no run \"a\" before it"},
    {"{\"title\": \"t\", \"settings\": {\"task\": \"recall\"}, \"runs\": {\"a\": {}, \"b\": "
     "{\"from\": "
     "\"a\", \"weights\": \"w\"}}}",
     "\"from\" and \"weights\": only one"},
    {"{\"title\": \"t\", " RUNS "}", "\"checks\": expected a list"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": []}", "\"checks\": expected a list"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK "}]}", "either \"run\" or \"runs\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK ", \"run\": \"c\"}]}",
     "check 1: \"run\": expected names of runs, not c"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK ", \"run\": []}]}", "names of runs"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"run\": [\"a\", \"b\", \"a\", \"b\", \"a\", \"b\", \"a\", \"b\", \"a\", \"b\", \"a\", "
     "\"b\"]}]}",
     "one run, or several and a \"fit\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK ", \"runs\": [\"a\", \"b\"]}]}",
     "one run, or several and a \"fit\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK ", \"run\": \"a\", \"fit\": \"best\"}]}",
     "\"fit\": no \"best\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"runs\": [\"a\", \"b\"], \"fit\": \"log-log slope\"}]}",
     "\"against\": expected a setting"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"runs\": [\"a\", \"b\"], \"fit\": \"log-log slope\", \"against\": \"optimizer\"}]}",
     "\"against\": expected a setting that is a number"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"runs\": [\"a\", \"b\"], \"fit\": \"log-log slope\", \"against\": \"dimension\"}]}",
     "\"against\": expected a setting that is a number in all these runs"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK ", \"run\": \"a\", \"within\": 1}]}",
     "\"near\" and \"within\" together"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"run\": \"a\", \"near\": 1, \"within\": 1}]}",
     "without \"least\" and \"most\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{\"what\": \"w\", \"measure\": \"loss\", \"run\": "
     "\"a\", \"near\": 2, \"within\": \"3 % or so\"}]}",
     "\"within\": expected"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"run\": \"a\", \"minus\": [\"a\", \"b\"]}]}",
     "\"minus\": expected as many runs"},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{" CHECK
     ", \"run\": \"a\", \"minus\": \"a\", \"over\": \"b\"}]}",
     "only one"},
    {"{\"title\": \"t\", " RUNS
     ", \"checks\": [{\"what\": \"w\", \"measure\": \"best of\", \"run\": \"a\", \"least\": 0}]}",
     "\"best of\" is none"},
    {"{\"title\": \"t\", " RUNS
     ", \"checks\": [{\"what\": \"w\", \"measure\": \"loss\", \"run\": \"a\"}]}",
     "expected \"least\" or \"most\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{\"what\": \"w\", \"measure\": \"loss\", \"run\": "
     "\"a\", \"least\": 2, \"most\": 1}]}",
     "expected \"least\" or \"most\""},
    {"{\"title\": \"t\", " RUNS ", \"checks\": [{\"what\": \"w\", \"measure\": \"loss\", \"run\": "
     "\"a\", \"near\": 2, \"within\": \"3\"}]}",
     "\"within\": expected"},
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(what_is_wrong_in_a_file_is_told)
{
    const char *path = write_experiment(refused[_i].text);
    struct experiment x;
    struct attn_error e;

    ck_assert_ptr_nonnull(experiment_read(&x, path, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, refused[_i].says) && strstr(e.text, path), "%s", e.text);
}
END_TEST

START_TEST(a_list_of_runs_may_be_called_run)
{
    static const char text[] = "{\"title\": \"T\", " RUNS ", \"checks\": [{" CHECK
                               ", \"run\": [\"a\", \"b\", \"a\"], \"minus\": [\"b\", \"b\", "
                               "\"a\"], \"fit\": \"smallest\"}, "
                               "{" CHECK ", \"run\": \"b\"}]}";
    struct experiment x;
    struct attn_error e;

    ck_assert_msg(!experiment_read(&x, write_experiment(text), &e), "%s", e.text);
    ck_assert_int_eq(x.check[0].runs, 3);
    ck_assert_int_eq(x.check[0].run[1], 1);
    ck_assert_int_eq(x.check[0].other[0], 1);
    ck_assert_int_eq(x.check[0].other[2], 0);
    ck_assert_ptr_eq(x.check[1].run, x.check[0].other + 3);
    experiment_free(&x);
}
END_TEST

#define TEN "abcdefghij"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN

/* It becomes a folder's, and a place in the page. */
START_TEST(a_name_is_letters_digits_and_lines)
{
    static const char *const bad[] = {"..json",           "...json",  ".json",
                                      "a b.json",         "a'b.json", "<b>.json",
                                      "report.html.json", "a/",       LONG_NAME ".json"};
    struct experiment x;
    struct attn_error e;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_nonnull(experiment_read(&x, bad[i], &e));
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
        ck_assert_msg(strstr(e.text, "expected a name of up to 63 letters") != NULL, "%s", e.text);
    }
    ck_assert_ptr_nonnull(experiment_read(&x, "not there/A-b_9.json", &e));
    ck_assert_ptr_null(strstr(e.text, "expected a name"));
}
END_TEST

static const struct {
    const char *picture, *says;
} pictures[] = {
    {"3", "expected an object"},
    {"{}", "\"panels\": expected a list"},
    {"{\"panels\": [{}]}", "\"curves\": expected a list"},
    {"{\"panels\": [{\"curves\": []}]}", "\"curves\": expected a list"},
    {"{\"panels\": [{\"curves\": [], \"log\": 1}]}", "\"log\": expected true or false"},
    {"{\"log-x\": \"yes\"}", "\"log-x\": expected true or false"},
    {"{\"panels\": [{\"curves\": [{\"run\": \"c\", \"measure\": \"loss\"}]}]}",
     "names of runs, not c"},
    {"{\"panels\": [{\"curves\": [{\"run\": \"a\", \"measure\": \"at loss 3\"}]}]}",
     "a series of one run"},
    {"{\"panels\": [{\"curves\": [{\"runs\": [\"a\", \"b\"], \"measure\": \"loss\"}]}]}",
     "a series of one run"},
    {"{\"panels\": [{\"curves\": [{\"run\": \"a\", \"measure\": \"\"}]}]}",
     "\"measure\": \"\" is none"},
    {"{\"x\": \"kind\", \"panels\": [{\"curves\": [{\"run\": \"a\", \"measure\": \"loss\"}]}]}",
     "\"x\": expected step, or a setting that is a number"},
    {"{\"x\": \"Step\", \"panels\": [{\"curves\": [{\"run\": \"a\", \"measure\": \"loss\"}]}]}",
     "\"x\": expected step, or a setting that is a number"},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

START_TEST(a_wrong_picture_is_told_before_anything_is_trained)
{
    char text[1024];
    struct experiment x;
    struct attn_error e;

    snprintf(text, sizeof text,
             "{\"title\": \"T\", " RUNS ", \"checks\": [{" CHECK
             ", \"run\": \"a\"}], \"picture\": %s}",
             pictures[_i].picture);
    ck_assert_msg(!experiment_read(&x, write_experiment(text), &e), "%s", e.text);
    ck_assert_ptr_nonnull(experiment_plot_check(&x, &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, "mine, picture: ") && strstr(e.text, pictures[_i].says), "%s",
                  e.text);
    experiment_free(&x);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "file", all_of_a_file_is_read);
    add_loop_test(suite, "refused", what_is_wrong_in_a_file_is_told, REFUSED);
    add_test(suite, "run is a list", a_list_of_runs_may_be_called_run);
    add_test(suite, "name", a_name_is_letters_digits_and_lines);
    add_loop_test(suite, "picture", a_wrong_picture_is_told_before_anything_is_trained, PICTURES);
}
