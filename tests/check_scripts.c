/* The checkers of the project, on a small tree of their own: right as it is,
 * and with one fault planted that each of them must find. */
#include "test.h"

#include <unistd.h>

static char root[2048];

/* A project in small under DIR/tree: base/low.c and math/high.c with their headers, a program. */
static const char *small_tree(void)
{
    static char tree[256];

    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    snprintf(tree, sizeof tree, "%s/tree", scratch_directory());
    ck_assert_int_eq(run("mkdir -p %s && cd %s && mkdir -p src/base src/math include/attn train "
                         "tests scripts .ci &&"
                         "printf '#ifndef LOW_H\\n#define LOW_H\\n\\nint "
                         "low(void);\\n\\n#endif\\n' >include/attn/low.h &&"
                         "printf '#ifndef HIGH_H\\n#define HIGH_H\\n\\n#include "
                         "\"attn/low.h\"\\n\\n#endif\\n' >include/attn/high.h &&"
                         "echo '#include \"attn/low.h\"' >src/base/low.c &&"
                         "echo '#include \"attn/high.h\"' | tee train/tool.c >src/math/high.c &&"
                         "cp '%s/.clang-format' . && touch Makefile",
                         tree, tree, root),
                     0);
    return tree;
}

struct fault {
    const char *script; /* that must find it */
    const char *plant;  /* a shell command, run in the tree */
    const char *finds;  /* in what the script says */
};

static const struct fault faults[] = {
    {"layers", "echo '#include \"attn/high.h\"' >>src/base/low.c",
     "src/base/low.c: is in base, but includes include/attn/high.h of math"},
    {"layers", "touch src/math/own.h && echo '#include \"math/own.h\"' >>src/base/low.c",
     "src/base/low.c: is in base, but includes src/math/own.h of math"},
    {"layers", "touch src/math/own.h && echo '#include \"math/own.h\"' >>train/tool.c",
     "train/tool.c: programs see include/attn only, not src/math/own.h"},
    {"layers", "touch src/math/own.h && echo '#include \"math/own.h\"' >>include/attn/high.h",
     "include/attn/high.h: is public, but includes src/math/own.h"},
    {"layers", "echo '#include \"attn/high.h\"' >>include/attn/low.h", "includes go in a circle"},
    {"layers",
     "for i in 'a b' 'b c' 'c a'; do set -- $i;"
     "echo \"#include \\\"$2.h\\\"\" >src/math/$1.h; done",
     "includes go in a circle"},
    {"layers", "echo '#include \"low.c\"' >>src/base/low.c", "src/base/low.c: includes itself"},
    {"layers", "echo '#include <attn/low.h>' >>src/base/low.c",
     "write \"attn/low.h\", not <attn/low.h>"},
    {"layers", "echo '#include \"attn/nothing.h\"' >>src/base/low.c",
     "src/base/low.c: includes attn/nothing.h, which is nowhere"},
    {"layers", "echo '#include \"attn/low.h\"' >include/attn/stray.h",
     "include/attn/stray.h: belongs to no folder"},
    {"headers", "echo 'size_t f(void);' >include/attn/stray.h",
     "include/attn/stray.h does not compile alone"},
    {"headers", "printf '#ifdef ATTN_DOUBLE\\nwrong\\n#endif\\n' >include/attn/stray.h",
     "-DATTN_DOUBLE"},
    {"headers", "printf '#include <tgmath.h>\\n' >include/attn/stray.h", "include <tgmath.h>"},
    {"limits", "yes '/* */' | head -n 401 >src/base/long.c",
     "src/base/long.c: more than 400 lines"},
    {"limits",
     "{ echo 'void f(void)'; echo '{'; yes ';' | head -n 59; echo '}'; } >src/base/long.c",
     "src/base/long.c:2: a function of 61 lines"},
    {"limits", "cp src/base/low.c src/math/low.c", "low.c: two sources have this name"},
    {"format", "echo 'int  f( void );' >>src/base/low.c", "low.c"},
};

static int check(const char *tree, const char *script)
{
    return run("cd %s && '%s/scripts/check_%s.sh'", tree, root, script);
}

START_TEST(test_right_tree)
{
    static const char *const scripts[] = {"format", "layers", "headers", "limits"};
    const char *tree = small_tree();

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        ck_assert_msg(check(tree, scripts[i]) == 0, "%s: %s", scripts[i], run_output);
}
END_TEST

START_TEST(test_longest_allowed)
{
    const char *tree = small_tree();

    ck_assert_int_eq(run("cd %s && { echo 'void f(void)'; echo '{'; yes ';' | head -n 58; echo '}';"
                         "yes '/* */' | head -n 339; } >src/base/long.c",
                         tree),
                     0);
    ck_assert_msg(check(tree, "limits") == 0, "%s", run_output);
}
END_TEST

START_TEST(test_planted_fault)
{
    const struct fault *f = &faults[_i];
    const char *tree = small_tree();
    int code;

    ck_assert_int_eq(run("cd %s && %s", tree, f->plant), 0);
    code = check(tree, f->script);
    if (code == 0 && strstr(run_output, "skipped")) {
        fprintf(stderr, "skipped: %s", run_output);
        return;
    }
    ck_assert_msg(code == 1, "not found: %s", f->plant);
    ck_assert_msg(strstr(run_output, f->finds), "%s: %s", f->plant, run_output);
}
END_TEST

/* A word that only C++ keeps for itself; needs a C++ compiler. */
START_TEST(test_header_for_cplusplus)
{
    const char *tree = small_tree();

    if (run("command -v g++ || command -v clang++") != 0) {
        fprintf(stderr, "skipped: there is no C++ compiler\n");
        return;
    }
    ck_assert_int_eq(run("echo 'int f(int class);' >%s/include/attn/stray.h", tree), 0);
    ck_assert_int_eq(check(tree, "headers"), 1);
    ck_assert_ptr_nonnull(strstr(run_output, "-std=c++11"));
    ck_assert_ptr_null(strstr(run_output, "-std=c11"));
}
END_TEST

static const struct {
    const char *source, *finds;
} symbols[] = {
    {"int attn_fine(void); int attn_fine(void) { return 1; }", NULL},
    {"static const int table[] = {1}; const int *attn_t(void); const int *attn_t(void) { return "
     "table; }",
     NULL},
    {"int fine(void); int fine(void) { return 1; }", "planted.o shows fine"},
    {"int attn_count;", "planted.o keeps state in attn_count"},
    {"static int calls = 1; int *attn_f(void); int *attn_f(void) { return &calls; }",
     "planted.o keeps state in calls"},
    {"_Thread_local int attn_mine;", "planted.o keeps state in attn_mine"},
    {"#include <stdlib.h>\nvoid *attn_f(void); void *attn_f(void) { return malloc(1); }",
     "planted.o uses malloc"},
    {"#include <string.h>\nchar *attn_f(const char *s); char *attn_f(const char *s) { return "
     "strdup(s); }",
     "planted.o uses strdup"},
};

START_TEST(test_planted_symbol)
{
    const char *directory = scratch_directory();
    char path[256];

    snprintf(path, sizeof path, "%s/planted.c", directory);
    write_file(path, symbols[_i].source, strlen(symbols[_i].source));
    ck_assert_msg(run("cd %s && ${ATTN_CC:-cc} -c planted.c && ar rcs libattn.a planted.o &&"
                      "cp libattn.a libattn_f64.a",
                      directory) == 0,
                  "%s", run_output);
    ck_assert_msg(run("scripts/check_symbols.sh %s", directory) == (symbols[_i].finds ? 1 : 0),
                  "%s", run_output);
    if (symbols[_i].finds) ck_assert_msg(strstr(run_output, symbols[_i].finds), "%s", run_output);
}
END_TEST

/* Programs that end as suites do: what they print, and how they exit. */
static const struct {
    const char *body, *closing;
    int code;
} suites[] = {
    {"echo '100%: Checks: 5, Failures: 0, Errors: 0'", "5 passed, 0 failed\n", 0},
    {"echo '60%: Checks: 5, Failures: 1, Errors: 1'; exit 1", "3 passed, 2 failed\n", 1},
    {"echo '100%: Checks: 5, Failures: 0, Errors: 0'; exit 3", "4 passed, 1 failed\n", 1},
    {"echo '100%: Checks: 0, Failures: 0, Errors: 0'", "0 passed, 1 failed\n", 1},
    {"echo 'all is well'", "0 passed, 1 failed\n", 1},
    {"kill -9 $$", "0 passed, 1 failed\n", 1},
};

static bool ends_in(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

START_TEST(test_runner)
{
    const char *directory = scratch_directory();
    char path[256], script[256];

    snprintf(path, sizeof path, "%s/check_planted", directory);
    snprintf(script, sizeof script, "#!/bin/sh\necho 'what it said'\necho 'measured: 7'\n%s\n",
             suites[_i].body);
    write_file(path, script, strlen(script));
    ck_assert_int_eq(run("chmod +x %s && scripts/run_suites.sh %s", path, path), suites[_i].code);
    ck_assert_msg(ends_in(run_output, suites[_i].closing), "%s", run_output);
    ck_assert(!strstr(run_output, "what it said") == !suites[_i].code);
    ck_assert(!strstr(run_output, "\n    7\n") == !!suites[_i].code);
}
END_TEST

START_TEST(test_stages)
{
    ck_assert_int_eq(
        run(". scripts/stages.sh; stage a echo '3 passed, 0 failed'; stage b true; stages_end"), 0);
    ck_assert_msg(ends_in(run_output, "4 passed, 0 failed\n"), "%s", run_output);
    ck_assert_int_eq(
        run(". scripts/stages.sh; stage a sh -c 'echo 3 passed, 2 failed; exit 1';"
            "stage b false; stage c sh -c 'echo 7 passed, 0 failed; exit 2'; stages_end"),
        1);
    ck_assert_msg(ends_in(run_output, "failed: a b c\n10 passed, 4 failed\n"), "%s", run_output);
}
END_TEST

/* install.sh among programs that only write down how they were called. */
static const struct {
    const char *setting, *options, *says;
    int code;
} installs[] = {
    {"HAVE='gcc make'", "--pictures", "called: apt-get install -q -y --no-install-recommends", 0},
    {"ATTN_INSTALL=no", "--pictures", "sudo apt-get install fontconfig fonts-wqy-microhei gcc", 1},
    {"ATTN_INSTALL=no HAVE='gcc make'", "--pictures", "Everything but pictures works without.", 0},
    {"HAVE='gcc make' FAIL=yes", "--pictures", "Everything but pictures works without.", 0},
    {"HAVE='gcc make' FAIL=yes", "--tests", "sudo apt-get install check pkg-config", 1},
    {"HAVE='gcc make pkg-config'", "--tests", "", 0},
    {":", "--nonsense", "usage: install.sh", 2},
};

START_TEST(test_install)
{
    const char *directory = scratch_directory();

    ck_assert_int_eq(
        run("mkdir %s/bin && cd %s/bin && for p in sh awk sed grep cut sort paste env; do"
            " ln -s \"$(command -v $p)\" .; done;"
            "printf '#!/bin/sh\\necho 0\\n' >id;"
            "printf '#!/bin/sh\\necho \"called: apt-get $*\"\\n[ -z \"$FAIL\" ]\\n' >apt-get;"
            "chmod +x id apt-get",
            directory, directory),
        0);
    ck_assert_int_eq(
        run("%s; for p in $HAVE; do printf '#!/bin/sh\\nexit 0\\n' >%s/bin/$p; done;"
            "chmod +x %s/bin/*; export FAIL ATTN_INSTALL; PATH=%s/bin scripts/install.sh %s",
            installs[_i].setting, directory, directory, directory, installs[_i].options),
        installs[_i].code);
    ck_assert_msg(strstr(run_output, installs[_i].says), "%s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "right tree", test_right_tree);
    add_test(suite, "longest allowed", test_longest_allowed);
    add_loop_test(suite, "planted fault", test_planted_fault, sizeof faults / sizeof *faults);
    add_test(suite, "header for C++", test_header_for_cplusplus);
    add_loop_test(suite, "planted symbol", test_planted_symbol, sizeof symbols / sizeof *symbols);
    add_loop_test(suite, "runner", test_runner, sizeof suites / sizeof *suites);
    add_test(suite, "stages", test_stages);
    add_loop_test(suite, "install", test_install, sizeof installs / sizeof *installs);
}
