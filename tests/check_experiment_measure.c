/* Measures of an experiment: numbers of runs made by hand. */
#include <math.h>

#include "attn/safetensors.h"
#include "experiment_measure.h"
#include "experiment_result.h"
#include "experiment_tensor.h"
#include "test.h"

/* A run by hand: five logged steps, one head. */
static const char *made_run(void)
{
    static char path[300], file[400];
    static const char config[] = "{\"task\": \"recall\", \"layers\": 1, \"heads\": 1}",
                      metrics[] = "step\tloss\teval_loss\taccuracy\tprogress\n"
                                  "1\t3\t3\t0.1\t0.0\n10\t3\t2.9\t0.2\t0.3\n20\t1\t2.8\t0.1\t0.4\n"
                                  "30\t0.2\t0.3\t0.9\t0.8\n40\t0.1\t0.2\t1\t0.7\n",
                      heads[] =
                          "step\tlayer\thead\tentropy\n1\t0\t0\t2\n20\t0\t0\tnan\n40\t0\t0\t0.5\n",
                      result[] = "{\"status\": \"done\", \"seconds\": 1.5}\n";
    const struct {
        const char *name, *text;
    } files[] = {{"config.json", config},
                 {"metrics.tsv", metrics},
                 {"heads.tsv", heads},
                 {"result.json", result}};

    snprintf(path, sizeof path, "%s", scratch_directory());
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i].name);
        write_file(file, files[i].text, strlen(files[i].text));
    }
    return path;
}

static const struct {
    const char *measure;
    double value;
} measures[] = {
    {"accuracy", 1},
    {"start accuracy", 0.1},
    {"at accuracy 30", 0.9},
    {"at accuracy 31", (double)NAN},
    {"reach accuracy 0.5", 30},
    {"reach accuracy 1.5", (double)NAN},
    {"fall eval_loss", 20},
    {"highest progress", 0.8},
    {"lowest accuracy", 0.1},
    {"highest progress while eval_loss 2.5", 0.4},
    {"highest progress while eval_loss 9", (double)NAN},
    {"lowest eval_loss while accuracy 0.15", 0.2},
    {"layer0.head0.entropy", 0.5},
    {"lowest layer0.head0.entropy", 0.5},
    {"highest layer0.head0.entropy", 2},
    {"result seconds", 1.5},
};
enum { MEASURES = sizeof measures / sizeof *measures };

START_TEST(measures_are_those_of_the_files)
{
    struct study s;
    struct attn_error e;
    double x = 7;

    ck_assert_msg(!study_open(&s, made_run(), &e), "%s", e.text);
    ck_assert_msg(!experiment_measure_check(measures[_i].measure, &e), "%s", e.text);
    ck_assert_msg(!experiment_measure(&x, measures[_i].measure, &s, &e), "%s", e.text);
    if (isnan(measures[_i].value))
        ck_assert_double_nan(x);
    else
        ck_assert_double_eq(x, measures[_i].value);
    study_close(&s);
}
END_TEST

START_TEST(what_a_run_has_not_is_told)
{
    static const char *const none[] = {"nothing",
                                       "layer0.head0.nothing",
                                       "layer1.head0.entropy",
                                       "layer0.head7.entropy",
                                       "result nothing",
                                       "highest progress while nothing 1",
                                       "cosine w 1,2",
                                       "highest loss while layer0.head0.entropy 0"};
    struct study s;
    struct attn_error e;
    double x;

    ck_assert_msg(!study_open(&s, made_run(), &e), "%s", e.text);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(experiment_measure(&x, none[i], &s, &e) != NULL, "%s", none[i]);
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(e.text, s.directory));
    }
    study_close(&s);
}
END_TEST

START_TEST(words_that_are_no_measure)
{
    static const char *const none[] = {"",
                                       "   ",
                                       "at accuracy",
                                       "at accuracy x",
                                       "reach accuracy",
                                       "highest a until b 1",
                                       "highest a while b x",
                                       "a b",
                                       "1 2 3 4 5 6",
                                       "result a b"};
    struct attn_error e;

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(experiment_measure_check(none[i], &e) != NULL, "%s", none[i]);
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    }
}
END_TEST

START_TEST(numbers_of_a_checkpoint)
{
    const float narrow[] = {3, 4, 9};
    const double wide[] = {-1, 0, 5};
    const struct attn_tensor tensors[] = {
        {.name = "n", .dtype = "F32", .rank = 1, .shape = {3}, .data = narrow, .bytes = 12},
        {.name = "w", .dtype = "F64", .rank = 1, .shape = {3}, .data = wide, .bytes = 24}};
    char path[400];
    struct attn_error e;
    double x;

    snprintf(path, sizeof path, "%s/checkpoint.safetensors", scratch_directory());
    ck_assert_ptr_null(attn_safetensors_write(path, tensors, 2, NULL, 0, &e));
    ck_assert_ptr_null(experiment_tensor_norm(&x, scratch_directory(), "n", 2, &e));
    ck_assert_double_eq(x, 5);
    ck_assert_ptr_null(experiment_tensor_cosine(&x, scratch_directory(), "n", "4,-3", &e));
    ck_assert_double_eq(x, 0);
    ck_assert_ptr_null(experiment_tensor_cosine(&x, scratch_directory(), "w", "2,0", &e));
    ck_assert_double_eq(x, -1);
    ck_assert_ptr_nonnull(experiment_tensor_norm(&x, scratch_directory(), "n", 4, &e));
    ck_assert_ptr_nonnull(experiment_tensor_norm(&x, scratch_directory(), "n", 0.5, &e));
    ck_assert_ptr_nonnull(experiment_tensor_cosine(&x, scratch_directory(), "n", "1,", &e));
    ck_assert_ptr_nonnull(experiment_tensor_cosine(&x, scratch_directory(), "z", "1", &e));
}
END_TEST

/* d = C = 1, two pairs: A_xx = (2 5) (2 7), A_xy = (2 5) (3 7), u = 11 13 times 2, 3. */
START_TEST(the_size_of_a_step_of_descent)
{
    static const char config[] =
        "{\"task\": \"regression\", \"kind\": \"linear-identity\", \"output\": false, "
        "\"scale\": 0, \"layers\": 1, \"heads\": 1, \"dimension\": 1, \"pairs\": 2, "
        "\"width\": 1, \"position\": \"none\", \"scale-by\": \"own\", \"log-length\": false, "
        "\"softcap\": 0, \"qk-norm\": false, \"bias\": %s, \"residual\": false, "
        "\"norm\": false, \"mlp\": 0}";
    static const double numbers[] = {2, 3, 5, 7, 11, 13};
    const struct attn_tensor tensors[] = {
        {.name = "input.w", .dtype = "F64", .rank = 1, .shape = {2}, .data = numbers, .bytes = 16},
        {.name = "layer0.wq",
         .dtype = "F64",
         .rank = 1,
         .shape = {1},
         .data = numbers + 2,
         .bytes = 8},
        {.name = "layer0.wk",
         .dtype = "F64",
         .rank = 1,
         .shape = {1},
         .data = numbers + 3,
         .bytes = 8},
        {.name = "layer0.wv",
         .dtype = "F64",
         .rank = 1,
         .shape = {1},
         .data = numbers + 4,
         .bytes = 8},
        {.name = "readout.w",
         .dtype = "F64",
         .rank = 1,
         .shape = {1},
         .data = numbers + 5,
         .bytes = 8}};
    char path[400], text[1024];
    struct study s;
    struct attn_error e;
    double x;

    ck_assert_ptr_null(study_open(&s, made_run(), &e));
    ck_assert_ptr_nonnull(experiment_measure(&x, "descent-size", &s, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "expected task regression"));
    study_close(&s);
    snprintf(path, sizeof path, "%s/config.json", made_run());
    snprintf(text, sizeof text, config, "true");
    write_file(path, text, strlen(text));
    ck_assert_ptr_null(study_open(&s, scratch_directory(), &e));
    ck_assert_ptr_nonnull(experiment_measure(&x, "descent-size", &s, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "nothing beside it"));
    study_close(&s);
    snprintf(text, sizeof text, config, "false");
    write_file(path, text, strlen(text));
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", scratch_directory());
    ck_assert_ptr_null(attn_safetensors_write(path, tensors, 5, NULL, 0, &e));
    ck_assert_ptr_null(study_open(&s, scratch_directory(), &e));
    ck_assert_msg(!experiment_measure(&x, "descent-size", &s, &e), "%s", e.text);
    ck_assert_double_eq(x, 2 * (140 * 429 + 210 * 286));
    study_close(&s);
}
END_TEST

/* Seed 1 never gets there, seed 2 does: that one of them has no number is not forgotten. */
START_TEST(a_seed_without_a_number_is_seen)
{
    static const char text[] =
        "{\"title\": \"T\", \"seeds\": 2, \"settings\": {\"task\": \"recall\"}, \"runs\": {\"a\": "
        "{}}, "
        "\"checks\": [{\"what\": \"w\", \"run\": \"a\", \"measure\": \"reach accuracy 0.5\", "
        "\"least\": 0}, "
        "{\"what\": \"w\", \"run\": \"a\", \"measure\": \"accuracy\", \"least\": 0}]}";
    char path[400], found[EXPERIMENT_RANGE];
    struct experiment_outcome o;
    struct experiment x;
    struct attn_error e;

    made_run();
    ck_assert_int_eq(run("cd '%s' && mkdir -p x/mine/a-2 && cp *.json *.tsv x/mine/a-2 && cp -r "
                         "x/mine/a-2 x/mine/a-1 && sed -i '/^[34]0/d' x/mine/a-1/metrics.tsv",
                         scratch_directory()),
                     0);
    snprintf(path, sizeof path, "%s/mine.json", scratch_directory());
    write_file(path, text, strlen(text));
    ck_assert_msg(!experiment_read(&x, path, &e), "%s", e.text);
    snprintf(path, sizeof path, "%s/x", scratch_directory());
    ck_assert_msg(!experiment_judge(&o, &x, path, 1, &e), "%s", e.text);
    ck_assert_double_nan(o.check[0].value[0]);
    ck_assert_double_eq(o.check[0].value[1], 30);
    ck_assert_double_nan(o.check[0].least);
    ck_assert_double_nan(o.check[0].most);
    ck_assert_str_eq(experiment_found(found, &o.check[0]), "-");
    ck_assert(!o.check[0].holds && o.check[1].holds && !o.holds);
    ck_assert_str_eq(experiment_found(found, &o.check[1]), "0.1 to 1");
    experiment_outcome_free(&o);
    experiment_free(&x);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "measures", measures_are_those_of_the_files, MEASURES);
    add_test(suite, "not there", what_a_run_has_not_is_told);
    add_test(suite, "no measure", words_that_are_no_measure);
    add_test(suite, "checkpoint", numbers_of_a_checkpoint);
    add_test(suite, "no number", a_seed_without_a_number_is_seen);
    add_test(suite, "descent", the_size_of_a_step_of_descent);
}
