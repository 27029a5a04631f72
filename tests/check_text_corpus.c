/* Whole texts: nothing is lost on the way to ids, large vocabularies, failing
 * memory, and the texts in data/ as data/README.md describes them. */
#include <glob.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/sha256.h"
#include "attn/text.h"
#include "dataset.h"
#include "tasks/text_corpus.h"
#include "test.h"

static void read_whole(char **data, size_t *n, const char *path)
{
    struct attn_error e = {0};
    const char *problem = attn_file_read(data, n, path, (size_t)1 << 30, &e);

    ck_assert_msg(!problem, "%s", problem);
}

static void expect_ascending(const struct attn_word *a, const struct attn_word *b)
{
    const int order =
        memcmp(a->bytes, b->bytes, (size_t)(a->length < b->length ? a->length : b->length));

    if (order > 0 || (order == 0 && a->length >= b->length))
        ck_abort_msg("\"%.*s\" stands before \"%.*s\"", a->length, a->bytes, b->length, b->bytes);
}

/* Puts the tokens together again and compares with the file. */
static void expect_whole(const char *path, bool words)
{
    struct attn_corpus c;
    struct attn_error e = {0};
    const char *problem = attn_corpus_open(&c, path, words, 0, &e);
    size_t n, at = 0;
    char *file;

    ck_assert_msg(!problem, "%s", problem);
    read_whole(&file, &n, path);
    for (size_t t = 0; t < c.tokens; t++) {
        const struct attn_word *w = c.word + c.ids[t];

        if (at + (size_t)w->length > n || memcmp(file + at, w->bytes, (size_t)w->length) != 0)
            ck_abort_msg("%s: token %zu is not what stands at byte offset %zu", path, t, at);
        at += (size_t)w->length;
    }
    ck_assert_uint_eq(at, n);
    for (int v = 1; v < c.vocabulary; v++) expect_ascending(c.word + v - 1, c.word + v);
    attn_free(file);
    attn_corpus_close(&c);
    ck_assert_int_eq(attn_alloc_live(), 0);
}

static glob_t shipped(void)
{
    glob_t found;

    ck_assert_int_eq(glob("data/*.txt", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 3);
    return found;
}

START_TEST(test_shipped_whole)
{
    glob_t found = shipped();

    for (size_t i = 0; i < found.gl_pathc; i++) {
        expect_whole(found.gl_pathv[i], false);
        expect_whole(found.gl_pathv[i], true);
    }
    globfree(&found);
}
END_TEST

static void expect_in_section(const char *section, const char *format, const char *what)
{
    char line[256];
    const char *at, *end = strstr(section + 1, "\n## ");

    snprintf(line, sizeof line, format, what);
    at = strstr(section, line);
    ck_assert_msg(at && (!end || at < end), "data/README.md lacks \"%s\" in the section%.60s", line,
                  section);
}

static void expect_described(const char *path, const char *readme)
{
    size_t n, characters = 0;
    char heading[128], number[32], hex[ATTN_SHA256_HEX];
    char *file;
    const char *section;
    struct attn_sha256 sha;

    read_whole(&file, &n, path);
    snprintf(heading, sizeof heading, "\n## %s\n", strrchr(path, '/') + 1);
    section = strstr(readme, heading);
    ck_assert_msg(section, "data/README.md has no section for %s", path);
    attn_sha256_begin(&sha);
    attn_sha256_add(&sha, file, n);
    attn_sha256_end(&sha, hex);
    expect_in_section(section, "| SHA-256 | %s |", hex);
    snprintf(number, sizeof number, "%zu", n);
    expect_in_section(section, "| bytes | %s |", number);
    for (size_t i = 0; i < n; i++) characters += (file[i] & 0xC0) != 0x80;
    snprintf(number, sizeof number, "%zu", characters);
    expect_in_section(section, "| characters | %s, ", number);
    ck_assert_ptr_null(memchr(file, '\r', n));
    ck_assert_int_eq(file[n - 1], '\n');
    attn_free(file);
}

START_TEST(test_shipped_described)
{
    glob_t found = shipped();
    size_t n;
    char *readme;

    read_whole(&readme, &n, "data/README.md");
    for (size_t i = 0; i < found.gl_pathc; i++) expect_described(found.gl_pathv[i], readme);
    attn_free(readme);
    globfree(&found);
}
END_TEST

/* Sizes of the texts as a task, counted by another program once. */
START_TEST(test_shipped_open)
{
    static const struct {
        const char *path;
        int vocabulary, T;
    } texts[] = {{"data/devils-dictionary.txt", 81, 64},
                 {"data/xiangyu-benji.txt", 1067, 64},
                 {"data/sentences.txt", 14, 15}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct attn_task_options o = {.length = 64, .data = texts[i].path};
        struct attn_dataset d = open_dataset(attn_task_find("text"), &o);

        ck_assert_int_eq(d.vocabulary, texts[i].vocabulary);
        ck_assert_int_eq(d.T, texts[i].T);
        attn_dataset_close(&d);
    }
}
END_TEST

/* count words "w0 w1 w2 ...", each once: more than any first room of the lexicon. */
static const char *write_many_words(int count)
{
    static char path[256];
    struct attn_text text = {0};

    for (int i = 0; i < count; i++) attn_text_print(&text, "w%d ", i);
    ck_assert(!text.failed);
    snprintf(path, sizeof path, "%s/many.txt", scratch_directory());
    write_file(path, text.data, text.size);
    attn_text_free(&text);
    return path;
}

START_TEST(test_many_words)
{
    enum { COUNT = 50000 };
    const char *path = write_many_words(COUNT);
    struct attn_corpus c;
    struct attn_error e = {0};

    expect_whole(path, true);
    ck_assert_ptr_null(attn_corpus_open(&c, path, true, 0, &e));
    ck_assert_uint_eq(c.tokens, 2 * COUNT);
    ck_assert_int_eq(c.vocabulary, COUNT + 1);
    attn_corpus_close(&c);
    ck_assert_ptr_null(attn_corpus_open(&c, path, true, 1000, &e));
    ck_assert_int_eq(c.vocabulary, 1000);
    for (int i = 0; i < 2 * COUNT; i++) {
        /* kept: the blank, and the 998 words that came first */
        const bool kept = i % 2 || i / 2 < 998;
        if ((c.ids[i] < 999) != kept) ck_abort_msg("token %d has id %d", i, c.ids[i]);
    }
    attn_corpus_close(&c);
}
END_TEST

START_TEST(test_out_of_memory)
{
    const char *path = write_many_words(700);
    struct attn_corpus c;
    struct attn_error e = {0};
    long n = 1;

    for (;; n++) {
        const char *problem;

        attn_alloc_fail_from(n);
        problem = attn_corpus_open(&c, path, true, 300, &e);
        attn_alloc_fail_from(0);
        if (!problem) break;
        ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_int_eq(attn_alloc_live(), 0);
    }
    ck_assert_int_ge(n,
                     9); /* the file, ids, three sizes of the lexicon, new ids, and none failed */
    attn_corpus_close(&c);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "shipped texts are whole", test_shipped_whole);
    add_test(suite, "shipped texts are described", test_shipped_described);
    add_test(suite, "shipped texts open", test_shipped_open);
    add_test(suite, "many words", test_many_words);
    add_test(suite, "out of memory", test_out_of_memory);
}
