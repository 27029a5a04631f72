/* plot_picture.h - one picture, drawn whole or not at all. */
#ifndef PLOT_PICTURE_H
#define PLOT_PICTURE_H

#include "attn/error.h"
#include "attn/text.h"

/* Lets gnuplot (its path as found by plot_find) run the prelude and the script in `directory`.
 * It draws under a temporary name, told to it as `output`, which becomes `name` once it is
 * whole: a file that ends in .png, .svg or .gif. In an SVG, images keep the edges of their
 * pixels; the last picture of an animation stays for two seconds. Faults: ATTN_CHECK_FAILED of
 * gnuplot's own, ATTN_CANNOT_WRITE, ATTN_OUT_OF_MEMORY. */
ATTN_MUST_CHECK const char *plot_picture(const char *gnuplot, const char *directory,
                                         const char *name, const struct attn_text *prelude,
                                         const char *script, struct attn_error *e);

#endif
