#include "fake_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "attn/file.h"
#include "attn/npy.h"
#include "test.h"

const char *fake_run_path(const char *directory, const char *name)
{
    static char path[4096];

    ck_assert(attn_path_join(path, sizeof path, directory, name));
    return path;
}

void fake_run_text(const char *directory, const char *name, const char *text)
{
    write_file(fake_run_path(directory, name), text, strlen(text));
}

const char *fake_run_directory(const char *name)
{
    static char directory[4096];

    snprintf(directory, sizeof directory, "%s/%s", scratch_directory(), name);
    ck_assert(mkdir(directory, 0777) == 0);
    return directory;
}

void fake_run_maps(const char *directory, size_t layers, size_t heads, size_t T, const char *label)
{
    const size_t shape[6] = {2, 1, layers, heads, T, T}, panels = layers * heads;
    float *a = calloc(2 * panels * T * T + 1, sizeof *a);
    FILE *f = fopen(fake_run_path(directory, "probe.tsv"), "w");
    struct attn_error e;

    ck_assert(a && f);
    for (size_t p = 0; p < 2 * panels; p++)
        for (size_t q = 0; q < T; q++)
            a[(p * T + q) * T + (q + p % panels) % T] = p < panels ? 0.5f : 0.75f;
    fprintf(f, "sequence\tposition\ttoken\tright\n");
    for (size_t i = 0; i < T; i++) fprintf(f, "0\t%zu\t%s\t%s\n", i, label, i % 2 ? "0,1" : "-");
    for (size_t i = 0; i < T; i++) fprintf(f, "1\t%zu\tother\t-\n", i);
    ck_assert(fclose(f) == 0);
    fake_run_text(directory, "frames.tsv", "frame\tstep\n0\t0\n1\t1500\n");
    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), a, 6, shape, &e));
    free(a);
}
