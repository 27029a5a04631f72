/* Checkpoints: saved exactly, loaded exactly, and refused when anything is off. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "attn/checkpoint.h"
#include "attn/file.h"
#include "attn/memory.h"

static struct attn_settings small_settings(const char *optimizer)
{
    struct attn_settings s;

    attn_settings_default(&s, attn_task_find("recall"));
    s.options.pairs = 3;
    s.options.keys = 5;
    s.options.values = 4;
    s.model.width = 6;
    s.batch = s.eval_size = 4;
    s.probes = 1;
    s.steps = 20;
    s.optimizer = optimizer;
    return s;
}

static void open_trainer(struct attn_trainer *t, const struct attn_settings *s, int steps)
{
    struct attn_error e;

    ck_assert_msg(!attn_trainer_open(t, s, NULL, NULL, &e), "%s", e.text);
    for (int i = 0; i < steps; i++) ck_assert(attn_trainer_step(t));
}

static const char *checkpoint_path(void)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/checkpoint.safetensors", scratch_directory());
    return path;
}

static void save(const struct attn_trainer *t)
{
    struct attn_error e;

    ck_assert_msg(!attn_checkpoint_save(t, checkpoint_path(), &e), "%s", e.text);
}

static void expect_same_state(const struct attn_trainer *a, const struct attn_trainer *b)
{
    const size_t bytes = a->model.count * sizeof(attn_real);

    ck_assert_int_eq(a->step, b->step);
    ck_assert_int_eq(memcmp(a->model.w, b->model.w, bytes), 0);
    for (int i = 0; i < a->optimizer->moments; i++)
        ck_assert_int_eq(memcmp(a->moment[i], b->moment[i], bytes), 0);
}

/* Goes on from a checkpoint to the same bits, for every optimizer. */
START_TEST(loads_what_was_saved)
{
    const struct attn_settings s = small_settings(attn_optimizers[_i]->name);
    struct attn_trainer straight, resumed;
    struct attn_error e;

    open_trainer(&straight, &s, 7);
    save(&straight);
    open_trainer(&resumed, &s, 0);
    ck_assert_msg(!attn_checkpoint_load(&resumed, checkpoint_path(), &e), "%s", e.text);
    expect_same_state(&straight, &resumed);
    for (int i = 0; i < 5; i++) {
        ck_assert(attn_trainer_step(&straight));
        ck_assert(attn_trainer_step(&resumed));
    }
    expect_same_state(&straight, &resumed);
    ck_assert(straight.loss == resumed.loss);
    attn_trainer_close(&straight);
    attn_trainer_close(&resumed);
}
END_TEST

START_TEST(saving_again_gives_the_same_bytes)
{
    const struct attn_settings s = small_settings("adam");
    struct attn_trainer t;
    struct attn_error e;
    char *first, *second;
    size_t n, m;

    open_trainer(&t, &s, 3);
    save(&t);
    ck_assert_ptr_null(attn_file_read(&first, &n, checkpoint_path(), 1 << 20, &e));
    ck_assert_ptr_null(attn_checkpoint_load(&t, checkpoint_path(), &e));
    save(&t);
    ck_assert_ptr_null(attn_file_read(&second, &m, checkpoint_path(), 1 << 20, &e));
    ck_assert_uint_eq(n, m);
    ck_assert_int_eq(memcmp(first, second, n), 0);
    attn_free(first);
    attn_free(second);
    attn_trainer_close(&t);
}
END_TEST

/* Refused with a message that names the path, and nothing changed. */
static void expect_refused(struct attn_trainer *t, const void *bytes, size_t n, const char *says)
{
    const size_t size = t->model.count * sizeof(attn_real);
    attn_real *before = malloc(size);
    const long step = t->step;
    struct attn_error e;

    memcpy(before, t->model.w, size);
    write_file(checkpoint_path(), bytes, n);
    ck_assert_ptr_nonnull(attn_checkpoint_load(t, checkpoint_path(), &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, "checkpoint.safetensors") && strstr(e.text, says), "%s", e.text);
    ck_assert_int_eq(memcmp(before, t->model.w, size), 0);
    ck_assert_int_eq(t->step, step);
    free(before);
}

START_TEST(a_damaged_file_is_refused)
{
    const struct attn_settings s = small_settings("adam");
    struct attn_trainer t;
    struct attn_error e;
    char *bytes;
    size_t n;

    open_trainer(&t, &s, 3);
    save(&t);
    ck_assert_ptr_null(attn_file_read(&bytes, &n, checkpoint_path(), 1 << 20, &e));
    for (size_t k = 0; k < n; k += k < 64 ? 1 : 97) expect_refused(&t, bytes, k, "");
    char *longer = malloc(n + 1);
    memcpy(longer, bytes, n);
    longer[n] = 0;
    expect_refused(&t, longer, n + 1, "");
    for (size_t k = 0; k < 200; k++) {
        const size_t at = k < 40 ? k : k * 7919 % n;
        bytes[at] ^= (char)(1 << k % 8);
        expect_refused(&t, bytes, n, "");
        bytes[at] ^= (char)(1 << k % 8);
    }
    write_file(checkpoint_path(), bytes, n);
    ck_assert_ptr_null(attn_checkpoint_load(&t, checkpoint_path(), &e));
    free(longer);
    attn_free(bytes);
    attn_trainer_close(&t);
}
END_TEST

static void expect_refused_by(const struct attn_settings *other, const char *says,
                              const char *also_says)
{
    struct attn_trainer t;
    struct attn_error e;

    open_trainer(&t, other, 0);
    ck_assert_ptr_nonnull(attn_checkpoint_load(&t, checkpoint_path(), &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, says) && strstr(e.text, also_says), "%s", e.text);
    attn_trainer_close(&t);
}

START_TEST(another_runs_checkpoint_is_refused)
{
    struct attn_settings s = small_settings("adam");
    struct attn_trainer t;

    open_trainer(&t, &s, 2);
    save(&t);
    attn_trainer_close(&t);
    s.model.width = 12;
    expect_refused_by(&s, "(9, 6)", "(9, 12)"); /* both sizes are named */
    s = small_settings("sgd");
    expect_refused_by(&s, "tensors", "");
    s = small_settings("adam");
    s.lr = 0.5;
    expect_refused_by(&s, "other settings", "");
}
END_TEST

START_TEST(weights_that_are_not_finite_are_refused)
{
    const struct attn_settings s = small_settings("adam");
    struct attn_trainer t;
    struct attn_error e;

    open_trainer(&t, &s, 2);
    t.model.w[3] = (attn_real)NAN;
    save(&t);
    ck_assert_ptr_nonnull(attn_checkpoint_load(&t, checkpoint_path(), &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strstr(e.text, "element 3 is not finite"), "%s", e.text);
    attn_trainer_close(&t);
}
END_TEST

START_TEST(no_memory_is_told_and_nothing_leaks)
{
    const struct attn_settings s = small_settings("adam");
    struct attn_trainer t;
    struct attn_error e;
    const char *wrong = "not yet";

    open_trainer(&t, &s, 2);
    save(&t);
    const long live = attn_alloc_live();
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = attn_checkpoint_save(&t, checkpoint_path(), &e);
        attn_alloc_fail_from(0);
        if (wrong) ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_int_eq(attn_alloc_live(), live);
        ck_assert_int_lt(n, 1000);
    }
    wrong = "not yet";
    for (long n = 1; wrong; n++) {
        attn_alloc_fail_from(n);
        wrong = attn_checkpoint_load(&t, checkpoint_path(), &e);
        attn_alloc_fail_from(0);
        if (wrong) ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_int_eq(attn_alloc_live(), live);
    }
    attn_trainer_close(&t);
}
END_TEST

START_TEST(a_failed_save_keeps_the_old_file)
{
    const struct attn_settings s = small_settings("adam");
    struct attn_trainer t;
    struct attn_error e;

    open_trainer(&t, &s, 2);
    ck_assert_ptr_nonnull(attn_checkpoint_save(&t, "/nonexistent/checkpoint", &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_ptr_nonnull(attn_checkpoint_load(&t, scratch_directory(), &e));
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    attn_trainer_close(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    int optimizers = 0;

    while (attn_optimizers[optimizers]) optimizers++;
    add_loop_test(suite, "loads what was saved", loads_what_was_saved, optimizers);
    add_test(suite, "same bytes again", saving_again_gives_the_same_bytes);
    add_test(suite, "damaged", a_damaged_file_is_refused);
    add_test(suite, "another run", another_runs_checkpoint_is_refused);
    add_test(suite, "not finite", weights_that_are_not_finite_are_refused);
    add_test(suite, "no memory", no_memory_is_told_and_nothing_leaks);
    add_test(suite, "cannot write", a_failed_save_keeps_the_old_file);
}
