/* study_options.h - the command line of study. */
#ifndef STUDY_OPTIONS_H
#define STUDY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "attn/error.h"
#include "terminal.h"

enum study_view { STUDY_SAY, STUDY_MAP, STUDY_PLAY, STUDY_CURVE };

struct study_options {
    enum study_view view; /* what standard output gets, if not JSON */
    bool json;
    long step;       /* -1: the last */
    int layer, head; /* -1: all */
    bool ascii;
    enum terminal_when color;
    bool plot, svg;
    const char *out; /* of pictures; NULL: where the run is, of several the present folder */
    const char *html;
    const char **directory; /* (runs) */
    int runs;
    const char *reproduce; /* experiments instead of runs; NULL: none */
    int64_t seed;
};

/* CLI_GO_ON with everything filled in, or the exit code to end with. Either way
 * study_options_free gives its memory back. */
int study_options_read(struct study_options *o, const char *program, int argc, char **argv);
void study_options_free(struct study_options *o);

#endif
