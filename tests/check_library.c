/* The libraries and programs of the build as others meet them: at the linker, and installed. */
#include "test.h"

/* True where the build carries a sanitizer's run-time library, which is no part of ours. */
static bool sanitized(void)
{
    return run("nm %s | grep -q -e __asan_init -e __tsan_init -e __ubsan_handle",
               program_path("train")) == 0;
}

START_TEST(test_symbols)
{
    ck_assert_msg(run("scripts/check_symbols.sh $(dirname %s)", program_path("libattn.a")) == 0,
                  "%s", run_output);
}
END_TEST

START_TEST(test_needs_libc_only)
{
    static const char *const programs[] = {"train", "train64", "gradcheck", "attend", "attend32"};

    if (sanitized()) {
        fprintf(stderr, "skipped: a sanitizer brings libraries of its own\n");
        return;
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        ck_assert_msg(run("ldd %s", program_path(programs[i])) == 0, "%s", run_output);
        ck_assert_ptr_nonnull(strstr(run_output, "libc.so"));
        run("ldd %s | grep -v -E '^\t(linux-(vdso|gate)\\.so|lib(c|m|pthread)\\.so|/lib[^ "
            "]*/ld-linux)'",
            program_path(programs[i]));
        ck_assert_msg(!*run_output, "%s also needs %s", programs[i], run_output);
    }
}
END_TEST

/* A program of the precision `define` stands for, linked with a library. */
static int link_with(const char *define, const char *library)
{
    const char *directory = scratch_directory();
    static const char source[] = "#include \"attn/clip.h\"\n"
                                 "int main(void)\n"
                                 "{\n"
                                 "    attn_real g[2] = {3, 4};\n"
                                 "    return attn_norm(g, 2) == 5 ? 0 : 1;\n"
                                 "}\n";
    char path[256];

    snprintf(path, sizeof path, "%s/user.c", directory);
    write_file(path, source, sizeof source - 1);
    return run("${ATTN_CC:-cc} %s -Iinclude -o %s/user %s %s -lm -lpthread && %s/user", define,
               directory, path, program_path(library), directory);
}

START_TEST(test_precisions_do_not_mix)
{
    ck_assert_msg(link_with("", "libattn.a") == 0, "%s", run_output);
    ck_assert_msg(link_with("-DATTN_DOUBLE", "libattn_f64.a") == 0, "%s", run_output);
    ck_assert_int_ne(link_with("", "libattn_f64.a"), 0);
    ck_assert_msg(strstr(run_output, "attn_built_for_float"), "%s", run_output);
    ck_assert_int_ne(link_with("-DATTN_DOUBLE", "libattn.a"), 0);
    ck_assert_msg(strstr(run_output, "attn_built_for_double"), "%s", run_output);
}
END_TEST

/* make install into a folder, then a user's program that knows only pkg-config. */
START_TEST(test_install)
{
    const char *directory = scratch_directory();
    static const char source[] =
        "#include <attn/clip.h>\n"
        "#include <attn/version.h>\n"
        "#include <string.h>\n"
        "int main(int argc, char **argv)\n"
        "{\n"
        "    attn_real g[2] = {3, 4};\n"
        "    return argc < 2 || attn_norm(g, 2) != 5 ||\n"
        "           strcmp(argv[1], ATTN_VERSION) != 0 || sizeof *g != WIDTH;\n"
        "}\n";
    char path[256];

    snprintf(path, sizeof path, "%s/user.c", directory);
    write_file(path, source, sizeof source - 1);
    ck_assert_msg(
        run("MAKEFLAGS= make -s BUILD=$(dirname %s) install DESTDIR=%s/to PREFIX=/opt/attn",
            program_path("train"), directory) == 0,
        "%s", run_output);
    ck_assert_msg(
        run("cd %s && export PKG_CONFIG_PATH=to/opt/attn/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=to &&"
            "for p in attn:4 attn_f64:8; do n=${p%%:*};"
            "${ATTN_CC:-cc} -DWIDTH=${p#*:} user.c -o user $(pkg-config --cflags --libs $n) &&"
            "./user $(pkg-config --modversion $n) || exit 1; done",
            directory) == 0,
        "%s", run_output);
    ck_assert_msg(
        run("cd %s/to/opt/attn && test -f share/attn/README.md && bin/attn-train --version"
            " && bin/attn-attend --version",
            directory) == 0,
        "%s", run_output);
    ck_assert_int_eq(run("ls include/attn >%s/a; ls %s/to/opt/attn/include/attn | diff %s/a -",
                         directory, directory, directory),
                     0);
}
END_TEST

START_TEST(test_one_header_includes_all)
{
    ck_assert_msg(
        run("for h in include/attn/*.h; do n=attn/$(basename $h); test $n = attn/attn.h ||"
            " grep -qxF \"#include \\\"$n\\\"\" include/attn/attn.h || echo $n; done") == 0 &&
            !*run_output,
        "attn.h lacks %s", run_output);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "symbols", test_symbols);
    add_test(suite, "needs libc only", test_needs_libc_only);
    add_test(suite, "precisions do not mix", test_precisions_do_not_mix);
    add_test(suite, "one header includes all", test_one_header_includes_all);
    add_test(suite, "install", test_install);
}
