/* phase.h - when a training suddenly learned, and what came first.
 *
 * A series is n points of a step (growing) and a value. Points that are not
 * finite are left out. Nothing is allocated.
 *
 * Fall      S_k is the mean of the values within w points of k, fewer at the
 *           ends, and S_(k-w) - S_(k+w) how far they fall around k. t* is the
 *           step where that is largest; where several points in a row have it,
 *           as a jump between two points has, the middle of them. In points,
 *           not steps: rows logged at a growing distance make t* that of the
 *           fall in ln t.
 * Plateau   the last run of at least 3 points before t* in which S hardly falls
 *           or rises in ln t: |S_(k+1) - S_(k-1)| < 0.1 R (ln t_(k+1) - ln t_(k-1)),
 *           R being the whole range of S and ln t counting from step 1.
 * Half      the step where a growing value first reaches a level, on the line
 *           between two points: the target mass one half, for t50.
 * Lead      t* - t50: above 0 the attention was right before the loss fell.
 *
 * Source    the loss plateau and the attention's progress before its end:
 *           Gopalani & Hu 2025; Zucchet et al. 2025. The rules above are ours. */
#ifndef ATTN_PHASE_H
#define ATTN_PHASE_H

#ifdef __cplusplus
extern "C" {
#endif

/* What is not there is NAN: without a fall (a constant or rising series, fewer
 * than 3 points) everything but half; without a plateau its three numbers. */
struct attn_phase {
    double fall;                       /* t*: the step of the steepest fall */
    double fall_size;                  /* by how much S falls around it */
    double fall_share;                 /* of the whole range of S, from 0 to 1 */
    double plateau_begin, plateau_end; /* steps */
    double plateau_level;              /* mean of the values in it */
    double half;                       /* t50 */
    double lead;
};

/* The fall and plateau of a loss. window: w in points, 0: n / 40, from 1 to 32. */
struct attn_phase attn_phase_of_loss(const double *step, const double *loss, int n, int window);

/* The first step where value reaches level; NAN: never. */
double attn_phase_reach(const double *step, const double *value, int n, double level);

/* Both: a loss, and the target mass at the same steps (NULL: not known), reaching one half. */
struct attn_phase attn_phase_find(const double *step, const double *loss, const double *mass, int n,
                                  int window);

#ifdef __cplusplus
}
#endif
#endif
