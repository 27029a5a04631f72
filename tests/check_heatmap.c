#include "test.h"

#include <math.h>

#include "attn/text.h"
#include "heatmap.h"

static const struct terminal ascii = {TERMINAL_PLAIN, 80, false, false};
static const struct terminal blocks = {TERMINAL_PLAIN, 80, false, true};
static const struct terminal deep = {TERMINAL_256, 80, false, true};
static const struct terminal full = {TERMINAL_RGB, 80, false, true};

static char *print(const float *p, int queries, int keys, const char *const *query,
                   const char *const *key, const struct terminal *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    heatmap_print(out, p, queries, keys, query, key, t);
    fclose(out);
    return text;
}

START_TEST(whole_map_in_ascii)
{
    static const char *const labels[] = {"k1", "v1", "?"};
    static const float p[] = {0, 0, 0, 1, 0, 0, 0.125f, 0.75f, 0.125f};
    char *text = print(p, 3, 3, labels, labels, &ascii);

    ck_assert_str_eq(text, "   k1v1? \n"
                           "k1       \n"
                           "v1 @@    \n"
                           " ? ..##..\n"
                           "   0  .:-=++*#%@ 1\n" +
                               0);
    free(text);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "ascii", whole_map_in_ascii);
}
