/* train_options.h - the command line of train. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stdbool.h>

#include "attn/settings.h"
#include "terminal.h"

struct train_options {
    const char *command; /* how this program was called */
    const char *out, *config, *resume;
    char default_out[128]; /* runs/TASK-SEED */
    int threads;           /* 0: not said */
    int save_every;
    double max_seconds; /* 0: no limit */
    bool force, quiet, show;
    enum terminal_when color;
    struct attn_settings settings;
};

/* CLI_GO_ON with everything filled in, or the exit code to end with. */
int train_options_read(struct train_options *o, const char *program, int argc, char **argv);

/* The path of the settings' data file: as given, or where a bare name is not
 * there, in the folder data/ that belongs to this program. NULL when no data
 * is read. */
const char *train_data_path(const struct train_options *o, char path[ATTN_DATA_PATH + 64]);

#endif
