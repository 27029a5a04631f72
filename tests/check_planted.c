/* Trainings with a fault in them are told by its name, with numbers. */
#include "test.h"

#include <math.h>

#include "planted_run.h"

enum { MOST_NAMES = 2 };

/* head, layer: of the first finding; -1 for the whole run. */
static const struct illness {
    const char *name;
    struct planted_settings settings;
    double scale, init, lr;
    const char *optimizer, *scale_by;
    void (*plant)(struct attn_run *);
    const char *found[MOST_NAMES];
    int head;
} illnesses[] = {
    {"scale missing", {.width = 128, .steps = 20}, .scale = 1, .found = {"scale-missing"}},
    {"scale missing, learned all the same", {.steps = 100}, .scale = 1, .found = {"scale-missing"}},
    {"scale missing by name",
     {.width = 128, .steps = 20},
     .scale_by = "none",
     .found = {"scale-missing"}},
    {"scale missing in two heads",
     {.task = "reverse", .width = 256, .heads = 2, .length = 8, .steps = 10},
     .scale = 1,
     .found = {"scale-missing", "scale-missing"}},
    {"weights a hundredth", {.steps = 100}, .init = 0.01, .found = {"weights-too-small"}},
    {"weights a hundredth, not learned yet",
     {.steps = 20},
     .init = 0.01,
     .found = {"weights-too-small"}},
    {"weights threefold", {.steps = 20}, .init = 3, .found = {"weights-too-large"}},
    {"learning rate 0.1", {.steps = 150}, .lr = 0.1, .found = {"rate-too-large"}},
    {"learning rate 0.1, sorting",
     {.task = "sort", .length = 8, .steps = 150},
     .lr = 0.1,
     .found = {"rate-too-large"}},
    {"learning rate 1e-6", {.steps = 50}, .lr = 1e-6, .found = {"untrained"}, .head = -1},
    {"five steps", {.steps = 5}, .found = {"untrained"}, .head = -1},
    {"targets shuffled",
     {.steps = 150},
     .plant = plant_shuffled_targets,
     .found = {"targets-unrelated"},
     .head = -1},
    {"targets shuffled, reversing",
     {.task = "reverse", .length = 8, .width = 32, .steps = 150},
     .plant = plant_shuffled_targets,
     .found = {"targets-unrelated"},
     .head = -1},
    {"the same heads",
     {.heads = 2, .steps = 60},
     .plant = plant_same_heads,
     .found = {"duplicate-head"},
     .head = 1},
    {"tokens alike",
     {.steps = 100},
     .plant = plant_tokens_alike,
     .found = {"tokens-alike"},
     .head = -1},
    {"one symbol",
     {.task = "histogram", .symbols = 1, .length = 8, .steps = 20},
     .found = {"tokens-alike"},
     .head = -1},
    {"a dead head", {.heads = 2, .steps = 60}, .plant = plant_dead_head, .found = {"dead-head"}},
    {"not finite",
     {.steps = 50},
     .lr = 1e30,
     .optimizer = "sgd",
     .found = {"diverged"},
     .head = -1},
};

static void open_ill(struct planted_run *r, const struct illness *i, int seed)
{
    struct attn_settings s = planted_settings(&i->settings);

    s.seed = seed;
    if (i->scale > 0) s.model.scale = i->scale;
    if (i->init > 0) s.model.init = i->init;
    if (i->lr > 0) s.lr = i->lr;
    if (i->optimizer) s.optimizer = i->optimizer;
    if (i->scale_by) s.model.scale_by = i->scale_by;
    planted_run_open(r, "ill", &s, i->plant);
}

START_TEST(each_is_told_by_name)
{
    const struct illness *i = &illnesses[_i / 2];
    struct planted_run r;
    int n = 0;

    open_ill(&r, i, _i % 2 + 1);
    while (n < MOST_NAMES && i->found[n]) n++;
    planted_run_expect(&r, i->found, n);
    ck_assert_int_eq(r.diagnosis.finding[0].head, i->head);
    ck_assert_int_eq(r.diagnosis.finding[0].layer, i->head < 0 ? -1 : 0);
    planted_run_close(&r);
}
END_TEST

/* The numbers in the sentence are those of the files. */
START_TEST(its_numbers_are_those_of_the_run)
{
    struct attn_settings s = planted_settings(&(struct planted_settings){.width = 128, .steps = 5});
    char want[ATTN_NUMBER_SIZE];
    struct planted_run r;
    const char *text;

    s.model.scale = 1;
    planted_run_open(&r, "ill", &s, NULL);
    text = r.diagnosis.finding[0].text;
    const struct study_head *h = study_head_at(&r.study, 0, 0);
    const double numbers[] = {h->frame[0].score_variance,
                              1,
                              1 / sqrt(128),
                              h->frame[0].normalized_entropy,
                              study_series(&r.study, h, "normalized_entropy")[r.study.logged - 1],
                              h->frame[0].target_mass,
                              study_series(&r.study, h, "target_mass")[r.study.logged - 1],
                              study_series(&r.study, h, "wq_grad_norm")[0]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        attn_number_format(want, numbers[i], 3);
        ck_assert_msg(strstr(text, want) != NULL, "no %s in: %s", want, text);
    }
    planted_run_close(&r);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "planted", each_is_told_by_name, 2 * sizeof illnesses / sizeof *illnesses);
    add_test(suite, "numbers", its_numbers_are_those_of_the_run);
}
