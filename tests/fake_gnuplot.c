#include "fake_gnuplot.h"

#include <sys/stat.h>

#include "fake_run.h"
#include "plot_child.h"
#include "test.h"

bool has_gnuplot(void)
{
    char path[4096];

    if (plot_find(path, sizeof path, "gnuplot")) return true;
    fprintf(stderr, "skipped: gnuplot is not installed\n");
    return false;
}

void fake_gnuplot(const char *script)
{
    char path[8192], text[1024];
    const char *directory = fake_run_directory("bin");

    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    fake_run_text(directory, "gnuplot", text);
    ck_assert(chmod(fake_run_path(directory, "gnuplot"), 0755) == 0);
    snprintf(path, sizeof path, "%s:%s", directory, getenv("PATH"));
    setenv("PATH", path, 1);
}
