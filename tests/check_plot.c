#include "test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "fake_gnuplot.h"
#include "fake_run.h"
#include "plot.h"
#include "plot_child.h"
#include "plot_prelude.h"

static char words[PLOT_WORDS];

static const char header[] =
    "step\tloss\teval_loss\taccuracy\ttarget_mass\tlr\tgrad_norm\ttokens\n";

/* The names in a directory, in order, with a blank behind each. Static storage. */
static const char *list(const char *directory)
{
    static char names[4096];
    struct dirent **entry;
    const int n = scandir(directory, &entry, NULL, alphasort);

    *names = '\0';
    for (int i = 0; i < n; i++) {
        if (strcmp(entry[i]->d_name, ".") != 0 && strcmp(entry[i]->d_name, "..") != 0)
            strcat(strcat(names, entry[i]->d_name), " ");
        free(entry[i]);
    }
    free(entry);
    return names;
}

/* Signature, a header of that many pixels, and an end. */
static void expect_png(const char *directory, const char *name)
{
    static const unsigned char signature[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    struct attn_error e;
    char *data;
    size_t size;

    ck_assert_ptr_null(attn_file_read(&data, &size, fake_run_path(directory, name), 1 << 24, &e));
    ck_assert(size > 500 && memcmp(data, signature, 16) == 0);
    ck_assert(memcmp(data + size - 8, "IEND\xae\x42\x60\x82", 8) == 0);
    attn_free(data);
}

static const struct {
    const char *name, *rows;
} series[] = {
    {"empty", ""},
    {"one", "1\t0.5\tnan\tnan\tnan\t1\t1\t1\n"},
    {"constant", "1\t2\t2\t1\t1\t1\t1\t1\n2\t2\t2\t1\t1\t1\t1\t1\n3\t2\t2\t1\t1\t1\t1\t1\n"},
    {"zero", "1\t0\t0\t0\t0\t1\t1\t1\n2\t0\t0\t0\t0\t1\t1\t1\n"},
    {"gaps", "1\t1\tnan\t0.1\tnan\t1\t1\t1\n2\tnan\t1\tnan\tnan\t1\t1\t1\n"
             "3\t0.5\tnan\t0.5\tnan\t1\t1\t1\n4\tinf\t-inf\tnan\tnan\t1\t1\t1\n"
             "5\t0.25\tnan\t0.9\tnan\t1\t1\t1\n"},
    {"negative", "1\t1\tnan\tnan\tnan\t1\t1\t1\n2\t-3\tnan\tnan\tnan\t1\t1\t1\n"},
    {"extreme", "1\t1e-320\t1e300\tnan\tnan\t1\t1\t1\n2\t1e300\t1e-320\tnan\tnan\t1\t1\t1\n"},
    {"all nan", "1\tnan\tnan\tnan\tnan\t1\t1\t1\n2\tnan\tinf\tnan\t-inf\t1\t1\t1\n"},
    {"cut row", "1\t1\t1\t0.5\t0.5\t1\t1\t1\n2\t0.5\t0."},
    {"it's \"a\" $HOME `id` dir", "1\t1\t1\t0.5\t0.5\t1\t1\t1\n2\t0.5\t0.7\t0.5\t0.5\t1\t1\t1\n"},
};

START_TEST(any_series_makes_a_picture)
{
    const char *directory;
    char text[2048];

    if (!has_gnuplot()) return;
    unsetenv("DISPLAY");
    setenv("LC_ALL", _i % 2 ? "de_DE.UTF-8" : "C", 1);
    directory = fake_run_directory(series[_i].name);
    snprintf(text, sizeof text, "%s%s", header, series[_i].rows);
    fake_run_text(directory, "metrics.tsv", text);
    ck_assert_msg(plot_run(directory, words) == PLOT_MADE, "%s: %s", series[_i].name, words);
    ck_assert_ptr_eq(strstr(words, "made loss.png"), words);
    ck_assert_str_eq(list(directory), "loss.png metrics.tsv ");
    expect_png(directory, "loss.png");
}
END_TEST

static const struct {
    size_t layers, heads, T;
} shapes[] = {{1, 1, 1}, {1, 1, 6},  {2, 1, 5},  {1, 3, 5}, {2, 2, 4},
              {1, 8, 3}, {4, 4, 40}, {1, 2, 64}, {1, 1, 0}, {0, 1, 4}};

START_TEST(any_shape_makes_a_picture)
{
    const char *directory;

    if (!has_gnuplot()) return;
    directory = fake_run_directory("shape");
    fake_run_maps(directory, shapes[_i].layers, shapes[_i].heads, shapes[_i].T, "a");
    ck_assert_msg(plot_run(directory, words) == PLOT_MADE, "%s", words);
    ck_assert_str_eq(words, "made attention.png");
    ck_assert_str_eq(list(directory), "attention.npy attention.png frames.tsv probe.tsv ");
    expect_png(directory, "attention.png");
}
END_TEST

static const char black[] = "r + g + b < 30";

/* The share of a picture's pixels for which the condition on r, g, b holds, as gnuplot reads it. */
static double share_of(const char *path, const char *condition)
{
    ck_assert_int_eq(
        run("gnuplot -d -e \"some = 0; all = 0; see(r, g, b) = (all = all + 1, some = some + (%s), "
            "0); "
            "set terminal dumb; set output '/dev/null'; plot '%s' binary filetype=png using "
            "(see(\\$1, \\$2, \\$3)):2:3 with rgbimage; set print '-'; "
            "print sprintf('share %%.6f', some * 1.0 / all)\"",
            condition, path),
        0);
    ck_assert_msg(strstr(run_output, "share ") != NULL, "%s", run_output);
    return strtod(strstr(run_output, "share ") + 6, NULL);
}

/* One query, one key, 0.5 in the first frame and 0.75 in the last: stops 4 and 6 of the nine of
 * the palette. */
START_TEST(the_last_frame_is_drawn)
{
    const char *directory;

    if (!has_gnuplot()) return;
    directory = fake_run_directory("last");
    fake_run_maps(directory, 1, 1, 1, "a");
    ck_assert_msg(plot_run(directory, words) == PLOT_MADE, "%s", words);
    const char *path = fake_run_path(directory, "attention.png");
    ck_assert_double_gt(share_of(path, "abs(r - 92) + abs(g - 200) + abs(b - 99) < 15"), 0.3);
    ck_assert_double_lt(share_of(path, "abs(r - 33) + abs(g - 144) + abs(b - 141) < 15"), 0.01);
}
END_TEST

/* Lets fontconfig know one font, which has no CJK characters. False: it is not installed. */
static bool use_latin_font_only(void)
{
    char conf[8192];
    const char *directory = fake_run_directory("latin");

    if (run("cp \"$(fc-match -f '%%{file}' 'DejaVu Sans')\" '%s/DejaVuSans.ttf' && "
            "fc-scan '%s/DejaVuSans.ttf' | grep -q 'DejaVu Sans'",
            directory, directory)) {
        fprintf(stderr, "skipped: no DejaVu Sans\n");
        return false;
    }
    snprintf(conf, sizeof conf,
             "<?xml version=\"1.0\"?><fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>",
             directory, directory);
    fake_run_text(directory, "fonts.conf", conf);
    setenv("FONTCONFIG_FILE", fake_run_path(directory, "fonts.conf"), 1);
    return true;
}

static void expect_label(const char *directory, const char *label)
{
    struct attn_text prelude = {0};
    struct attn_error e;

    ck_assert_ptr_null(plot_prelude_attention(&prelude, directory, &e));
    ck_assert_msg(strstr(prelude.data, label) != NULL, "no %s in\n%s", label, prelude.data);
    attn_text_free(&prelude);
}

START_TEST(a_missing_font_does_not_destroy_the_picture)
{
    const char *directory;
    char broken[4096];

    if (!has_gnuplot() || !use_latin_font_only()) return;
    directory = fake_run_directory("cjk");
    fake_run_maps(directory, 1, 1, 5, "猫");
    expect_label(directory, "label[1] = 'U+732B'\n");
    ck_assert_msg(plot_run(directory, words) == PLOT_MADE, "%s", words);
    ck_assert_double_lt(share_of(fake_run_path(directory, "attention.png"), black), 0.01);

    /* The measure sees the damage where the label goes through. */
    snprintf(broken, sizeof broken, "%s", fake_run_path(directory, "broken.png"));
    ck_assert_int_eq(run("gnuplot -d -e \"set encoding utf8; set terminal pngcairo size 400,300; "
                         "set output '%s'; set xtics ('猫' 0, '猫' 1); plot [-1:2] x\"",
                         broken),
                     0);
    ck_assert_double_gt(share_of(broken, black), 0.02);
}
END_TEST

START_TEST(a_font_that_is_there_is_used)
{
    const char *directory;

    if (!has_gnuplot()) return;
    if (run("fc-list ':charset=732b' fontformat | grep -q -e TrueType -e CFF")) {
        fprintf(stderr, "skipped: no font with CJK characters\n");
        return;
    }
    directory = fake_run_directory("cjk");
    fake_run_maps(directory, 1, 1, 5, "猫");
    expect_label(directory, "label[1] = '猫'\n");
    ck_assert_msg(plot_run(directory, words) == PLOT_MADE, "%s", words);
    ck_assert_double_lt(share_of(fake_run_path(directory, "attention.png"), black), 0.01);
}
END_TEST

START_TEST(without_gnuplot_nothing_happens)
{
    const char *directory = fake_run_directory("none");
    char *before = strdup(getenv("PATH"));

    fake_run_text(directory, "metrics.tsv", header);
    setenv("PATH", "/nonexistent::relative", 1);
    ck_assert_int_eq(plot_run(directory, words), PLOT_NO_GNUPLOT);
    setenv("PATH", before, 1);
    free(before);
    ck_assert_str_eq(words, "gnuplot is not installed: no pictures (loss.png, attention.png)");
    ck_assert_str_eq(list(directory), "metrics.tsv ");
}
END_TEST

/* The name that gnuplot is told to write to. */
#define OUTPUT "out=$(sed -n \"s/^output = '\\(.*\\)'/\\1/p\" | head -n 1); "

static const struct {
    const char *script, *words;
} faults[] = {
    {"exit 0", "no loss.png: gnuplot left no picture"},
    {"exec <&-; exit 0", "no loss.png: gnuplot left no picture"},
    {OUTPUT "printf '\\211PNG\\r\\n\\032\\n half' > \"$out\"",
     "no loss.png: gnuplot left no picture"},
    {OUTPUT ": > \"$out\"", "no loss.png: gnuplot left no picture"},
    {OUTPUT "echo half > \"$out\"; echo '   line 7: no room' >&2; exit 1",
     "no loss.png: gnuplot: no room"},
    {"yes 'line 0: warning: noise' | head -c 300000 >&2; echo 'x line 9: bad: thing' >&2; exit 1",
     "no loss.png: gnuplot: "},
    {"kill -9 $$", "no loss.png: signal 9 ended gnuplot"},
};

START_TEST(a_failed_plot_leaves_the_old_picture)
{
    const char *directory = NULL;
    struct attn_error e;
    char *data;
    size_t size;

    fake_gnuplot(faults[_i].script);
    directory = fake_run_directory("run");
    fake_run_text(directory, "metrics.tsv", header);
    fake_run_text(directory, "loss.png", "old");
    ck_assert_int_eq(plot_run(directory, words), PLOT_FAILED);
    ck_assert_msg(strncmp(words, faults[_i].words, strlen(faults[_i].words)) == 0, "%s", words);
    ck_assert_str_eq(list(directory), "loss.png metrics.tsv ");
    ck_assert_ptr_null(attn_file_read(&data, &size, fake_run_path(directory, "loss.png"), 100, &e));
    ck_assert_str_eq(data, "old");
    attn_free(data);
}
END_TEST

START_TEST(an_error_of_gnuplot_is_told)
{
    const char *directory;

    if (!has_gnuplot()) return;
    directory = fake_run_directory("wrong");
    ck_assert(mkdir(fake_run_path(directory, "metrics.tsv"), 0777) == 0);
    fake_run_text(directory, "attention.npy", "\x93NUMPY no array");
    ck_assert_int_eq(plot_run(directory, words), PLOT_FAILED);
    ck_assert_msg(strncmp(words, "no loss.png: gnuplot: ", 22) == 0, "%s", words);
    ck_assert_msg(strstr(words, "directory; no attention.png: ") != NULL, "%s", words);
    ck_assert_str_eq(list(directory), "attention.npy metrics.tsv ");
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "series", any_series_makes_a_picture, sizeof series / sizeof *series);
    add_loop_test(suite, "shapes", any_shape_makes_a_picture, sizeof shapes / sizeof *shapes);
    add_test(suite, "last frame", the_last_frame_is_drawn);
    add_test(suite, "missing font", a_missing_font_does_not_destroy_the_picture);
    add_test(suite, "font", a_font_that_is_there_is_used);
    add_test(suite, "no gnuplot", without_gnuplot_nothing_happens);
    add_loop_test(suite, "faults", a_failed_plot_leaves_the_old_picture,
                  sizeof faults / sizeof *faults);
    add_test(suite, "gnuplot's error", an_error_of_gnuplot_is_told);
}
