/* test.h - what every suite uses. A check_NAME.c defines add_tests and nothing
 * else that is visible; suite.c holds main. Every suite is built twice, against
 * the float and the double library. */
#ifndef TEST_H
#define TEST_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/error.h"
#include "attn/real.h"

void add_tests(Suite *suite);

/* One TCase of its own for a test, with a readable name. */
void add_test(Suite *suite, const char *name, const TTest *test);
void add_loop_test(Suite *suite, const char *name, const TTest *test, int n);

/* The tolerance of the build at hand. */
#ifdef ATTN_DOUBLE
#define TOLERANCE(for_double, for_float) (for_double)
#else
#define TOLERANCE(for_double, for_float) (for_float)
#endif

/* Defined where a sanitizer maps memory of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* |got - want| <= absolute + relative |want|, and both finite; says which element differs. */
void expect_near(const attn_real *got, const double *want, size_t n, double absolute,
                 double relative, const char *what);
bool is_near(double got, double want, double absolute, double relative);

/* "DIR/name" below the folder of reference vectors (ATTN_REFERENCE, default
 * ../shared/reference); NULL, after saying that the test is skipped, when it
 * is not there. Static storage. */
const char *reference_path(const char *name);

/* A fresh directory for one test, removed at exit of the process. */
const char *scratch_directory(void);

/* Bytes from hexadecimal text, blanks ignored; the caller frees them. */
unsigned char *bytes_from_hex(const char *hex, size_t *n);

/* The whole path of a program of the build under test (ATTN_BUILD, default build). Static
 * storage. */
const char *program_path(const char *name);

/* Runs a shell command; returns its exit code (128 + n when signal n ended it).
 * run_output is what it wrote to standard output and standard error together,
 * cut to 64 kB. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern char run_output[65536];

/* Writes n bytes to path; fails the test when it cannot. */
void write_file(const char *path, const void *data, size_t n);

#endif
