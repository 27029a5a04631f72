/* run.h - a training and the directory it writes.
 *
 *   config.json              every setting that decides the numbers
 *   metrics.tsv              a row per logged step, appended as it goes
 *   heads.tsv                a row per logged step, layer and head, likewise
 *   attention.npy            (frames, sequences, layers, heads, Tq, Tk) float32:
 *                            the maps of the probes, appended as it goes
 *   frames.tsv               the step of each frame
 *   probe.tsv                the probes: tokens, right keys, keys that may be seen
 *   checkpoint.safetensors   where to go on
 *   result.json              one line, written last: its presence means finished
 *
 * A run that was stopped goes on from its checkpoint and ends with the bytes
 * of one that never was. The directory is locked while a run is open.
 *
 * metrics.tsv: loss, lr and grad_norm (before clipping) of the step, with its batch; all else of
 * the evaluation set, over the positions that have a target. Of classes, in the sequences that
 * have such positions:
 *   accuracy         the share where the largest logit is that of the target
 *   first_accuracy   the same of each sequence's first one alone
 *   repetition       of two next to each other, the share where the second's largest logit is
 *                    that of the first's: answers that stand still
 *   hidden_cosine    of the states x that the readout gets, the mean cosine of two of them: with
 *                    u = x / |x| over the n of a sequence, (|sum u|^2 - n) / (n (n - 1)), averaged
 *                    over the sequences; a state of 0 is left out. Near 1: all alike
 * nan where nothing has it; hidden_cosine is told of real targets as well. target_mass is that of
 * the best head, entropy that of all heads over ln n.
 * Source: the last three after Gopalani & Hu 2025, in whose plateaus answers repeat themselves.
 *
 * heads.tsv, of one head h: entropy to score_max and normalized_entropy to jacobian_norm are
 * means over the queries that have a target (metrics.h), of the evaluation set's first
 * sequences, until there are 2048 of them; norms, gradients before clipping and ||W_t - W_(t-1)|| /
 * ||W_(t-1)|| of the last step are of the head's columns of W_Q, W_K, W_V, the key head's where
 * heads share one; sigma_max to effective_rank are of W_Q W_K^T, or W_Q M W_K^T (spectrum.h),
 * nan for kinds that score no such product and for heads of more than 256 singular values.
 * Where queries, keys and values are given, all that is of weights is nan.
 * progress to induction_mass are of metrics.h as well; induction_mass where a token is one id.
 *   first_mass_target  the mean of first_mass over the rows that have right keys
 *   first_mass_other   the same over rows with a target but no right key: what a head does where
 *                      there is nothing to look for; all rows, in tasks without right keys
 *   value_norm_first   of the head's values, |v_0| / mean |v_j| over the other keys of a
 *                      sequence, averaged over sequences: below 1 where the first key is drained
 *   participation      of metrics.h
 * Source of those three: sinks and value-state drain, Guo et al. 2024.
 *
 * With 0 steps there is a row in both tables, of step 0: what belongs to a step is nan.
 * A model without layers has no row in heads.tsv, and neither attention.npy nor frames.tsv.
 *
 * Frames: with map_every = N at steps 0, N, 2N, ... and the last; 0: at the last
 * alone; -1: at every step first and then ever more rarely, s + s / d after s,
 * with d such that it comes to about 100 frames, or to 256 MB where fewer
 * frames fill these. What is recorded changes no number of the training. */
#ifndef ATTN_RUN_H
#define ATTN_RUN_H

#include "attn/npy_append.h"
#include "attn/trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTN_RUN_PATH = 3072 };

struct attn_run {
    char directory[ATTN_RUN_PATH];
    struct attn_trainer trainer;      /* of a run found finished: as before its first step */
    struct attn_scores scores;        /* of the last evaluation */
    bool evaluated;                   /* at the present step */
    bool finished;                    /* result.json is there */
    enum attn_fault fault;            /* finished: ATTN_FINE, or ATTN_DIVERGED */
    struct attn_text result;          /* finished: its line */
    long first_step;                  /* steps that were done when it was opened */
    int lock, metrics, heads, frames; /* file descriptors */
    struct attn_npy_append maps;
    float *map;      /* room for one frame */
    long next_frame; /* the step of the next */
    int density;     /* d above; 0: the first and the last step only */
};

/* The settings of a directory's config.json. */
ATTN_MUST_CHECK const char *attn_run_settings(struct attn_settings *s, const char *directory,
                                              struct attn_error *e);

/* Opens a directory, making it if need be: anew, where it stopped, or finished. Other
 * settings in it are ATTN_BAD_USAGE and named, as are files of a run without its
 * config.json; force starts anew all the same.
 * data_path and threads as for attn_trainer_open. After a failure nothing is open. */
ATTN_MUST_CHECK const char *attn_run_open(struct attn_run *run, const char *directory,
                                          const struct attn_settings *settings,
                                          const char *data_path, bool force,
                                          struct attn_threads *threads, struct attn_error *e);
void attn_run_close(struct attn_run *run);

/* True when steps are left. */
bool attn_run_more(const struct attn_run *run);

/* One step; evaluates and appends rows when it is due (run->evaluated), and a frame.
 * A loss that is not finite: ATTN_DIVERGED, and attn_run_finish must follow. */
ATTN_MUST_CHECK const char *attn_run_step(struct attn_run *run, struct attn_error *e);

/* Writes the checkpoint. */
ATTN_MUST_CHECK const char *attn_run_save(struct attn_run *run, struct attn_error *e);

/* Saves, writes result.json; `seconds` is the time that
 * the steps of this process took. fault: ATTN_FINE or ATTN_DIVERGED, which
 * keeps the last good checkpoint. */
ATTN_MUST_CHECK const char *attn_run_finish(struct attn_run *run, double seconds,
                                            enum attn_fault fault, struct attn_error *e);

#ifdef __cplusplus
}
#endif
#endif
