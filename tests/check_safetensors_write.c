#include "attn/safetensors.h"

#include "test.h"

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/rng.h"
#include "mutate.h"
#include "scratch.h"

static const float weights[6] = {1, -2, 0.1f, 0, -0.0f, 1e-40f};
static const double moments[3] = {0.1, 5e-324, -1e308};
static const int64_t step[1] = {123456789};

static const struct attn_tensor tensors[] = {
    {"w", "F32", 2, {2, 3}, weights, sizeof weights},
    {"empty", "F32", 2, {0, 3}, NULL, 0},
    {"adam \"m\" \xc3\xa9", "F64", 1, {3}, moments, sizeof moments},
    {"step", "I64", 0, {0}, step, sizeof step},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };

static const struct attn_metadata metadata[] = {
    {"config", "{\"task\":\"copy\",\n\"lr\":0.001}"}, {"format", ""}, {"\xe4\xbd\xa0", "\x01\x7f"}};
enum { ENTRIES = sizeof metadata / sizeof *metadata };

static char *write_sample(size_t *size)
{
    const char *path = scratch_path("sample.safetensors");
    struct attn_error e;
    char *bytes;
    const char *wrong = attn_safetensors_write(path, tensors, TENSORS, metadata, ENTRIES, &e);

    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert_ptr_null(attn_file_read(&bytes, size, path, 1 << 20, &e));
    return bytes;
}

START_TEST(what_is_written_is_read)
{
    struct attn_safetensors s;
    struct attn_error e;
    size_t size;

    attn_free(write_sample(&size));
    ck_assert_ptr_null(attn_safetensors_read(&s, scratch_path("sample.safetensors"), &e));
    ck_assert(s.checked);
    ck_assert_int_eq(s.tensors, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        const struct attn_tensor *t = attn_safetensors_find(&s, tensors[i].name);
        ck_assert_ptr_eq(t, &s.tensor[i]);
        ck_assert_str_eq(t->dtype, tensors[i].dtype);
        ck_assert_int_eq(t->rank, tensors[i].rank);
        for (int r = 0; r < t->rank; r++) ck_assert_uint_eq(t->shape[r], tensors[i].shape[r]);
        ck_assert_uint_eq(t->bytes, tensors[i].bytes);
        if (t->bytes) ck_assert_int_eq(memcmp(t->data, tensors[i].data, t->bytes), 0);
    }
    ck_assert_int_eq(s.entries, ENTRIES);
    for (int i = 0; i < ENTRIES; i++)
        ck_assert_str_eq(attn_safetensors_metadata(&s, metadata[i].key), metadata[i].value);
    ck_assert_ptr_null(attn_safetensors_metadata(&s, "sha256"));
    attn_safetensors_free(&s);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* The same bytes each time, data at a multiple of 8, and the digest as promised. */
START_TEST(the_file_is_what_the_format_says)
{
    size_t size, again, n = 0;
    char *bytes = write_sample(&size), *second = write_sample(&again), *digits, hex[65];
    struct attn_error e;

    ck_assert_uint_eq(size, again);
    ck_assert_int_eq(memcmp(bytes, second, size), 0);
    for (int i = 8; i-- > 0;) n = n << 8 | (unsigned char)bytes[i];
    ck_assert_uint_eq(n % 8, 0);
    ck_assert_int_eq(bytes[8], '{');
    ck_assert_uint_eq(size, 8 + n + sizeof weights + sizeof moments + sizeof step);
    ck_assert_int_eq(memcmp(bytes + 8 + n, weights, sizeof weights), 0);

    digits = strstr(bytes + 8, "\"sha256\":\"");
    ck_assert_ptr_nonnull(digits);
    digits += 10;
    snprintf(hex, sizeof hex, "%s", digits);
    memset(digits, '0', 64);
    ck_assert_ptr_null(attn_file_write(scratch_path("zeroed"), bytes, size, &e));
    if (run("sha256sum < %s", scratch_path("zeroed")) == 0) {
        ck_assert_msg(memcmp(hex, run_output, 64) == 0, "%s, expected %s", hex, run_output);
    } else {
        fprintf(stderr, "skipped: no sha256sum\n");
    }
    attn_free(bytes);
    attn_free(second);
}
END_TEST

static bool last_checked;

static const char *reader(const void *bytes, size_t n, struct attn_error *e)
{
    struct attn_safetensors s;
    const char *wrong = attn_safetensors_parse(&s, bytes, n, "test", e);

    last_checked = s.checked;
    attn_safetensors_free(&s);
    return wrong;
}

/* Every bit of the file counts. Only where the word "sha256" itself is hit is
 * the file one that never had a checksum, and says so. */
START_TEST(every_flipped_bit_is_noticed)
{
    size_t size;
    char *bytes = write_sample(&size);
    const size_t key = (size_t)(strstr(bytes + 8, "\"sha256\"") - bytes);

    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        const char *wrong = refusal(reader, bytes, size);
        if (!wrong && (last_checked || bit / 8 <= key || bit / 8 > key + 6))
            ck_abort_msg("bit %zu of byte %zu accepted", bit % 8, bit / 8);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    attn_free(bytes);
}
END_TEST

START_TEST(other_lengths_are_refused)
{
    size_t size;
    char *bytes = write_sample(&size);

    expect_other_lengths_refused(reader, bytes, size);
    ck_assert_int_eq(expect_clean_out_of_memory(reader, bytes, size), 4);
    attn_free(bytes);
}
END_TEST

/* The same from files: each prefix is refused with the path in the message. */
START_TEST(cut_files_are_refused)
{
    const char *path = scratch_path("cut.safetensors");
    struct attn_safetensors s;
    struct attn_error e;
    size_t size;
    char *bytes = write_sample(&size);

    for (size_t k = 0; k < size; k += k < 16 || k + 16 > size ? 1 : 7) {
        write_file(path, bytes, k);
        const char *wrong = attn_safetensors_read(&s, path, &e);
        ck_assert_msg(wrong && strstr(wrong, path), "%zu bytes: %s", k, wrong ? wrong : "accepted");
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
        ck_assert_int_eq(s.tensors, 0);
    }
    attn_free(bytes);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(no_memory_is_said)
{
    const char *path = scratch_path("sample.safetensors");
    struct attn_safetensors s;
    struct attn_error e;
    size_t size;
    char *before = write_sample(&size), *after;
    int failures = 0;

    for (int writing = 0; writing < 2; writing++)
        for (int k = 1;; k++) {
            attn_alloc_fail_from(k);
            const char *wrong =
                writing ? attn_safetensors_write(path, tensors, TENSORS, metadata, ENTRIES, &e)
                        : attn_safetensors_read(&s, path, &e);
            attn_alloc_fail_from(0);
            if (!wrong) {
                if (!writing) attn_safetensors_free(&s);
                break;
            }
            ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
            ck_assert_int_eq(attn_alloc_live(), 1);
            ck_assert_ptr_null(attn_file_read(&after, &size, path, 1 << 20, &e));
            ck_assert_int_eq(memcmp(before, after, size), 0);
            attn_free(after);
            failures++;
        }
    ck_assert_int_ge(failures, 10);
    attn_free(before);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

/* What could not be read back is not written. */
START_TEST(nonsense_is_not_written)
{
    static const struct attn_tensor twins[] = {{"a", "F32", 0, {0}, weights, 4},
                                               {"a", "F32", 0, {0}, weights, 4}},
                                    unknown[] = {{"a", "F31", 0, {0}, weights, 4}},
                                    short_of[] = {{"a", "F32", 1, {2}, weights, 4}},
                                    reserved[] = {{"__metadata__", "F32", 0, {0}, weights, 4}};
    static const struct attn_metadata own[] = {{"sha256", "mine"}};
    const char *path = scratch_path("nonsense.safetensors");
    struct attn_error e;

    ck_assert_ptr_nonnull(attn_safetensors_write(path, twins, 2, NULL, 0, &e));
    ck_assert_int_eq(e.fault, ATTN_CANNOT_WRITE);
    ck_assert_ptr_nonnull(attn_safetensors_write(path, unknown, 1, NULL, 0, &e));
    ck_assert_ptr_nonnull(attn_safetensors_write(path, short_of, 1, NULL, 0, &e));
    ck_assert_ptr_nonnull(attn_safetensors_write(path, reserved, 1, NULL, 0, &e));
    ck_assert_ptr_nonnull(attn_safetensors_write(path, NULL, 0, own, 1, &e));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_ptr_null(attn_safetensors_write(path, NULL, 0, NULL, 0, &e));
}
END_TEST

enum { SAVED = 50000 };

static void save_floats(const char *path, float value)
{
    static float a[SAVED];
    const struct attn_tensor t = {"a", "F32", 1, {SAVED}, a, sizeof a};
    struct attn_error e;

    for (int i = 0; i < SAVED; i++) a[i] = value;
    const char *wrong = attn_safetensors_write(path, &t, 1, NULL, 0, &e);
    if (wrong) ck_abort_msg("%s", wrong);
}

static void save_for_ever(const char *path)
{
    for (int i = 0;; i++) save_floats(path, (float)(i % 1000));
}

static void expect_whole(const char *path)
{
    struct attn_safetensors s;
    struct attn_error e;
    const char *wrong = attn_safetensors_read(&s, path, &e);
    float first, last;

    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert(s.checked && s.tensors == 1 && s.tensor[0].bytes == SAVED * sizeof(float));
    memcpy(&first, s.tensor[0].data, sizeof first);
    memcpy(&last, (const char *)s.tensor[0].data + s.tensor[0].bytes - sizeof last, sizeof last);
    ck_assert(first == last);
    attn_safetensors_free(&s);
}

/* What was killed leaves one temporary file at most, and the next save takes it over. */
START_TEST(a_killed_save_leaves_the_old_or_the_new_file)
{
    struct attn_rng rng = attn_rng_at(40, ATTN_STREAM_TEST, 0, 0);
    const char *folder = scratch_folder("killed"), *path = scratch_path("killed/a.safetensors");

    save_floats(path, -1);
    for (int i = 0; i < 30; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) save_for_ever(path);
        usleep(2000 + attn_rng_below(&rng, 20000));
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        expect_whole(path);
    }
    ck_assert_int_eq(run("test $(ls -A %s | wc -l) -le 2", folder), 0);
    save_floats(path, 7);
    expect_whole(path);
    expect_files(folder, 1);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "round trip", what_is_written_is_read);
    add_test(suite, "the file", the_file_is_what_the_format_says);
    add_test(suite, "flipped bits", every_flipped_bit_is_noticed);
    add_test(suite, "lengths", other_lengths_are_refused);
    add_test(suite, "cut files", cut_files_are_refused);
    add_test(suite, "no memory", no_memory_is_said);
    add_test(suite, "nonsense", nonsense_is_not_written);
    add_test(suite, "kill -9", a_killed_save_leaves_the_old_or_the_new_file);
}
