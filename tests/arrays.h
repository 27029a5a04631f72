/* arrays.h - .npy files in the scratch directory, for tests of programs.
 *
 * The writer is the tests' own, so that files made elsewhere are stood in for. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <stddef.h>

#include "scratch.h"

/* SCRATCH/NAME.npy of type 'f' (f8), 'b' or 'i' (i8) and a shape in numpy's
 * words, "(2, 3)"; as many values as that takes. */
void put_array(const char *name, char type, const char *shape, const double *values);
void put_reals(const char *name, const char *shape, const double *values);

/* The bytes of such a file from SCRATCH/FROM.npy, cut or lengthened to n (0: as it is), with
 * `change` put at offset `at`. */
void spoil_array(const char *name, const char *from, size_t n, size_t at, const char *change);

/* SCRATCH/NAME.npy has this shape and these values. */
void expect_array(const char *name, const char *shape, const double *want, double absolute,
                  double relative);

/* The count values of SCRATCH/NAME.npy, at most 1024; good until 16 more calls. */
const double *get_array(const char *name, size_t *count);

/* Runs a program of the build inside the scratch directory: exit code, output in run_output.
 * arguments may hold redirections. */
int run_there(const char *program, const char *arguments);

#endif
