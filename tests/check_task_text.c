#include <limits.h>
#include <math.h>

#include "attn/text.h"
#include "dataset.h"
#include "test.h"

static const char *scratch_file(const void *bytes, size_t n)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/sample.txt", scratch_directory());
    write_file(path, bytes, n);
    return path;
}

static struct attn_dataset open_sample(const void *bytes, size_t n, struct attn_task_options o)
{
    o.data = scratch_file(bytes, n);
    return open_dataset(attn_task_find("text"), &o);
}

/* The tokens of a text that fits one sequence, with a bar between each two. */
static void join_tokens(const struct attn_dataset *d, char *out, size_t size)
{
    struct attn_batch b = new_batch(d, 1);

    attn_dataset_fill(d, &b, 1, ATTN_STREAM_PROBE, 0);
    out[0] = '\0';
    for (int t = 0; t <= d->T; t++) {
        const int *id = t < d->T ? b.tokens + t : b.targets + t - 1;
        char label[64];

        attn_dataset_label(d, id, label, sizeof label);
        ck_assert_uint_lt(strlen(out) + strlen(label) + 2, size);
        if (t) strcat(out, "|");
        strcat(out, label);
    }
    free_batch(&b);
}

static const struct {
    bool words;
    int most;
    const char *text, *tokens;
} splits[] = {
    {false, 0, "ab a", "a|b| |a"},
    {false, 0,
     "\xEF\xBB\xBF"
     "ab",
     "a|b"},
    {false, 0,
     "a\xEF\xBB\xBF"
     "b",
     "a|\xEF\xBB\xBF|b"},
    {false, 0, "a\r\nb\r\n", "a|\n|b|\n"},
    {false, 0, "a\rb", "a|\r|b"},
    {false, 0, "a\r\r\n\n", "a|\r|\n|\n"},
    {false, 0, "a\t\f", "a|\t|\f"},
    {false, 0, "é我😀", "é|我|😀"},
    {false, 0, "e\xCC\x81", "e|\xCC\x81"},
    {true, 0, "ab a", "ab| |a"},
    {true, 0, "don't stop", "don't| |stop"},
    {true, 0, "don’t stop", "don’t| |stop"},
    {true, 0, "'tis dogs' x''y", "'|tis| |dogs|'| |x|'|'|y"},
    {true, 0, "rock 'n' roll'", "rock| |'|n|'| |roll|'"},
    {true, 0, "A1b2_c-3", "A1b2|_|c|-|3"},
    {true, 0, "[`@{~", "[|`|@|{|~"},
    {true, 0, "a\r\nb\r\n", "a|\n|b|\n"},
    {true, 0, "  \n\n", " | |\n|\n"},
    {true, 0, "naïve Größe Привет λόγος", "naïve| |Größe| |Привет| |λόγος"},
    {true, 0, "e\xCC\x81t\xC3\xA9 ", "e\xCC\x81t\xC3\xA9| "},
    {true, 0, "ªº µm 3×4÷2", "ªº| |µm| |3|×|4|÷|2"},
    {true, 0, "“so”—he…«x»", "“|so|”|—|he|…|«|x|»"},
    {true, 0, "我爱C语言。", "我|爱|C|语|言|。"},
    {true, 0, "カナかな한국어", "カ|ナ|か|な|한|국|어"},
    {true, 0, "我's", "我|'|s"},
    {true, 0, "नमस्ते।", "नमस्ते|।"},
    {true, 0, "a😀b𠀀", "a|😀|b|𠀀"},
    {false, 3, "bbbaaacd", "b|b|b|a|a|a|\xEF\xBF\xBD|\xEF\xBF\xBD"},
    {false, 2, "xyyz", "\xEF\xBF\xBD|y|y|\xEF\xBF\xBD"},
    {false, 3, "wxyyzz", "\xEF\xBF\xBD|\xEF\xBF\xBD|y|y|z|z"},
    {false, 2, "zzyyxx", "z|z|\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD"},
    {false, 2, "xyzzy", "\xEF\xBF\xBD|y|\xEF\xBF\xBD|\xEF\xBF\xBD|y"},
    {false, 1, "xy", "\xEF\xBF\xBD|\xEF\xBF\xBD"},
    {true, 4, "to be or not to be", "to| |be| |\xEF\xBF\xBD| |\xEF\xBF\xBD| |to| |be"},
    {false, 3, "abc", "a|b|c"},
    {false, 3, "\xEF\xBF\xBD\xEF\xBF\xBDxxab",
     "\xEF\xBF\xBD|\xEF\xBF\xBD|x|x|\xEF\xBF\xBD|\xEF\xBF\xBD"},
};

START_TEST(test_split)
{
    struct attn_dataset d =
        open_sample(splits[_i].text, strlen(splits[_i].text),
                    (struct attn_task_options){
                        .length = 100, .words = splits[_i].words, .vocabulary = splits[_i].most});
    char tokens[256];

    join_tokens(&d, tokens, sizeof tokens);
    ck_assert_str_eq(tokens, splits[_i].tokens);
    attn_dataset_close(&d);
}
END_TEST

/* Ids in order of code points; where they are cut, the most frequent tokens
 * and, of two alike, the one that came first are kept; the rest comes last. */
START_TEST(test_vocabulary)
{
    static const struct {
        int most, vocabulary;
        const char *order;
    } cuts[] = {{0, 7, " amwzéλ"},           {7, 7, " amwzéλ"},          {8, 7, " amwzéλ"},
                {6, 6, " mwzé\xEF\xBF\xBD"}, {5, 5, " mzé\xEF\xBF\xBD"}, {3, 3, " z\xEF\xBF\xBD"},
                {2, 2, " \xEF\xBF\xBD"},     {1, 1, "\xEF\xBF\xBD"}};
    const char *text = "zzzz ééé mm  wa λ";

    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct attn_dataset d =
            open_sample(text, strlen(text),
                        (struct attn_task_options){.length = 5, .vocabulary = cuts[i].most});
        char order[64] = "", label[8];

        ck_assert_int_eq(d.vocabulary, cuts[i].vocabulary);
        ck_assert_int_eq(d.outputs, cuts[i].vocabulary);
        for (int v = 0; v < d.vocabulary; v++) {
            attn_dataset_label(&d, &v, label, sizeof label);
            strcat(order, label);
        }
        ck_assert_str_eq(order, cuts[i].order);
        attn_dataset_close(&d);
    }
}
END_TEST

static const struct {
    size_t n;
    const char *bytes, *message;
    bool words;
} refused[] = {
    {0, "", "empty", false},
    {3, "\xEF\xBB\xBF", "empty", false},
    {1, "a", "only one token", false},
    {2, "\r\n", "only one token", false},
    {5, "hello", "only one token", true},
    {4,
     "\xEF\xBB\xBF"
     "a",
     "only one token", false},
    {4, "ab\0c", "control character 0x00 at byte offset 2", false},
    {4, "abc\x1B", "control character 0x1b at byte offset 3", false},
    {3,
     "\x0B"
     "ab",
     "control character 0x0b at byte offset 0", true},
    {8,
     "\x7F"
     "ELF\x02\x01\x01\x00",
     "control character 0x02 at byte offset 4", false},
    {3, "ab\xFF", "not UTF-8 at byte offset 2", false},
    {4, "ab\xC0\xAF", "not UTF-8 at byte offset 2", false},
    {5, "ab\xED\xA0\x80", "not UTF-8 at byte offset 2", true},
    {4, "ab\xE6\x88", "not UTF-8 at byte offset 2", false},
    {6,
     "\xFF\xFE"
     "a\0b\0",
     "not UTF-8 at byte offset 0", false},
    {4, "na\xEFve", "not UTF-8 at byte offset 2", true},
};

START_TEST(test_refused)
{
    const char *path = scratch_file(refused[_i].bytes, refused[_i].n);
    const struct attn_task_options o = {.length = 4, .data = path, .words = refused[_i].words};
    struct attn_dataset d;
    struct attn_error e = {0};
    const char *problem = attn_dataset_open(&d, attn_task_find("text"), &o, &e);

    ck_assert_ptr_nonnull(problem);
    ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
    ck_assert_msg(strncmp(problem, path, strlen(path)) == 0 && strstr(problem, refused[_i].message),
                  "\"%s\" does not name %s and \"%s\"", problem, path, refused[_i].message);
    ck_assert_int_eq(attn_alloc_live(), 0);
}
END_TEST

START_TEST(test_no_file)
{
    const char *const paths[] = {"/nonexistent/text.txt", scratch_directory()};

    for (int i = 0; i < 2; i++) {
        const struct attn_task_options o = {.length = 4, .data = paths[i]};
        struct attn_dataset d;
        struct attn_error e = {0};
        const char *problem = attn_dataset_open(&d, attn_task_find("text"), &o, &e);

        ck_assert_ptr_nonnull(problem);
        ck_assert_int_eq(e.fault, ATTN_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(problem, paths[i]));
        ck_assert_int_eq(attn_alloc_live(), 0);
    }
}
END_TEST

/* n different characters, ascending: a token's id is its place in the text. */
static struct attn_dataset open_ascending(int n, int length)
{
    char *text = malloc(3 * (size_t)n), *at = text;
    struct attn_dataset d;

    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < n; i++) at += attn_utf8_put(at, 0x4E00 + i);
    d = open_sample(text, (size_t)(at - text), (struct attn_task_options){.length = length});
    ck_assert_int_eq(d.vocabulary, n);
    free(text);
    return d;
}

/* Tokens of the text, the length asked for, the one got, first token held out,
 * what the note says. */
static const struct {
    int n, length, T, held_from;
    const char *note;
} parts[] = {
    {1000, 10, 10, 900, NULL},       {1000, 99, 99, 900, NULL},
    {1000, 100, 99, 900, "not 100"}, {1000, 1 << 20, 99, 900, "not 1048576"},
    {1009, 1, 1, 909, NULL},         {200, 64, 19, 180, "19 long, not 64"},
    {200, 19, 19, 180, NULL},        {199, 64, 64, 0, "only 199 tokens"},
    {199, 198, 198, 0, "only 199"},  {199, 199, 198, 0, "sequences of 198"},
    {2, 64, 1, 0, "only 2 tokens"},  {16, 64, 15, 0, "sequences of 15"},
};

static void expect_window(const struct attn_batch *one, int first)
{
    for (int t = 0; t < one->T; t++)
        if (one->tokens[t] != first + t || one->targets[t] != first + t + 1)
            ck_abort_msg("token %d of the window from %d is %d, its target %d", t, first,
                         one->tokens[t], one->targets[t]);
    ck_assert_int_eq(one->lengths[0], one->T);
}

START_TEST(test_held_out_windows)
{
    struct attn_dataset d = open_ascending(parts[_i].n, parts[_i].length);
    const int held = parts[_i].n - parts[_i].held_from;

    ck_assert_int_eq(d.T, parts[_i].T);
    ck_assert_int_eq(d.options.length, parts[_i].length);
    ck_assert_int_eq(!d.note, !parts[_i].note);
    if (d.note) ck_assert_ptr_nonnull(strstr(d.note, parts[_i].note));
    for (int count = 1; count <= 30; count++) {
        struct attn_batch b = new_batch(&d, count);

        attn_dataset_fill(&d, &b, (uint64_t)count, count % 2 ? ATTN_STREAM_EVAL : ATTN_STREAM_PROBE,
                          (uint32_t)count);
        for (int i = 0; i < count; i++) {
            const struct attn_batch one = attn_batch_part(&b, i, 1);
            expect_window(&one, parts[_i].held_from + (held - d.T) * i / count);
        }
        for (int i = 0; i < count * d.T * d.T; i++)
            if (b.right[i]) ck_abort_msg("a text has no right keys");
        free_batch(&b);
    }
    attn_dataset_close(&d);
}
END_TEST

/* Each start that leaves a whole window and its last target in the training
 * part is drawn, all about equally often, and no other. */
START_TEST(test_training_windows)
{
    struct attn_dataset d = open_ascending(parts[_i].n, parts[_i].length);
    const int train = parts[_i].held_from ? parts[_i].held_from : parts[_i].n;
    const int starts = train - d.T;
    long *drawn = calloc((size_t)starts, sizeof *drawn);
    struct attn_batch b = new_batch(&d, 100);
    double statistic = 0;
    const int steps = starts / 2 + 1;

    ck_assert_ptr_nonnull(drawn);
    for (int step = 0; step < steps; step++) {
        attn_dataset_fill(&d, &b, 1, ATTN_STREAM_TRAIN, (uint32_t)step);
        for (int i = 0; i < b.B; i++) {
            const struct attn_batch one = attn_batch_part(&b, i, 1);
            if (one.tokens[0] >= starts) ck_abort_msg("window from %d", one.tokens[0]);
            expect_window(&one, one.tokens[0]);
            drawn[one.tokens[0]]++;
        }
    }
    for (int s = 0; s < starts; s++) {
        const double expected = (double)steps * b.B / starts;
        ck_assert_int_gt(drawn[s], 0);
        statistic += ((double)drawn[s] - expected) * ((double)drawn[s] - expected) / expected;
    }
    ck_assert_double_le(statistic, starts - 1 + 6 * sqrt(2.0 * starts));
    free(drawn);
    free_batch(&b);
    attn_dataset_close(&d);
}
END_TEST

/* Letters with skewed frequencies, some of them only in the held-out tenth. */
static size_t write_letters(char *text, size_t n)
{
    struct attn_rng rng = attn_rng_at(1, ATTN_STREAM_TEST, 0, 0);

    for (size_t i = 0; i < n; i++) {
        const uint32_t wide = 1 + attn_rng_below(&rng, 20);
        text[i] = (char)('a' + attn_rng_below(&rng, wide));
        if (i > n - 5) text[i] = 'z';
    }
    return n;
}

/* Token by token, each with its count by a walk over the training part. */
static double direct_unigram(const char *ids, int n, int train, int held_from, int V)
{
    double sum = 0;

    for (int t = held_from; t < n; t++) {
        int count = 0;

        for (int i = 0; i < train; i++) count += ids[i] == ids[t];
        sum -= log((count + 1.0) / (train + V));
    }
    return sum / (n - held_from);
}

START_TEST(test_unigram)
{
    enum { LONG = 1500, SHORT = 150 };
    const int n = _i % 2 ? SHORT : LONG, most = _i / 2 ? 7 : 0;
    char text[LONG];
    struct attn_dataset d =
        open_sample(text, write_letters(text, (size_t)n),
                    (struct attn_task_options){.length = 8, .vocabulary = most});
    bool kept[256] = {false};

    for (int v = 0; v < d.vocabulary; v++) {
        char label[8];
        attn_dataset_label(&d, &v, label, sizeof label);
        kept[(unsigned char)label[0]] = strlen(label) == 1;
    }
    for (int i = 0; i < n; i++)
        if (!kept[(unsigned char)text[i]]) text[i] = '?';
    ck_assert_int_eq(d.vocabulary == 7, most == 7);
    ck_assert_double_eq_tol(d.unigram_loss,
                            direct_unigram(text, n, n == SHORT ? n : n - n / 10,
                                           n == SHORT ? 0 : n - n / 10, d.vocabulary),
                            1e-12);
    attn_dataset_close(&d);
}
END_TEST

/* The shortest text by hand: a and b once each, so (1+1)/(2+2) for both: log 2. */
START_TEST(test_unigram_by_hand)
{
    struct attn_dataset d = open_sample("ab", 2, (struct attn_task_options){.length = 8});

    ck_assert_double_eq_tol(d.unigram_loss, 0.69314718055994531, 1e-15);
    attn_dataset_close(&d);
}
END_TEST

START_TEST(test_label_cut_at_a_character)
{
    static const struct {
        int size;
        const char *label;
    } cuts[] = {{1, ""},    {2, "a"},   {3, "a"},    {4, "aé"},    {5, "aéb"},
                {6, "aéb"}, {7, "aéb"}, {8, "aébḁ"}, {9, "aébḁc"}, {64, "aébḁc"}};
    struct attn_dataset d =
        open_sample("aébḁc\n", 9, (struct attn_task_options){.length = 8, .words = true});
    const int word = 1; /* behind the newline */

    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        char label[64];
        attn_dataset_label(&d, &word, label, cuts[i].size);
        ck_assert_str_eq(label, cuts[i].label);
    }
    attn_dataset_close(&d);
}
END_TEST

void add_tests(Suite *suite)
{
    const int PARTS = sizeof parts / sizeof parts[0];

    add_loop_test(suite, "split", test_split, sizeof splits / sizeof splits[0]);
    add_test(suite, "vocabulary", test_vocabulary);
    add_loop_test(suite, "refused", test_refused, sizeof refused / sizeof refused[0]);
    add_test(suite, "no file", test_no_file);
    add_loop_test(suite, "held-out windows", test_held_out_windows, PARTS);
    add_loop_test(suite, "training windows", test_training_windows, PARTS);
    add_loop_test(suite, "unigram", test_unigram, 4);
    add_test(suite, "unigram by hand", test_unigram_by_hand);
    add_test(suite, "label cut at a character", test_label_cut_at_a_character);
}
