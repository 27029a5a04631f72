/* bench_peer.h - who takes part in the benchmark: our own, and others' ways to
 * compute the same. Each runs in a process of its own (bench_worker.h), so that
 * libraries, threads and memory do not meet. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench_case.h"

enum { BENCH_WORDS = 256 };

struct bench_peer {
    const char *name, *summary;
    double rate; /* operations per second that can be counted on; 0: fast enough for all sizes */
    int squares; /* arrays (B, H, T, T) that it keeps */

    /* Finds libraries and says in words what will really run; or why not. */
    const char *(*open)(void **state, const struct bench_plan *plan, char words[BENCH_WORDS],
                        struct attn_error *e);
    /* The work, and where its result goes: both live until close. The input may be
     * rearranged. Allocates all that a step needs. */
    const char *(*begin)(void *state, void *input, attn_real *result, struct attn_error *e);
    /* Adds nothing up: the result is that of this step alone. Sets the seconds of
     * forward and backward. */
    void (*step)(void *state, double seconds[2]);
    void (*finish)(void *state); /* brings the result into its form; NULL: it has it */
    void (*close)(void *state);

    /* Instead of all these: turns the process, whose standard input and output are
     * connected already, into another program that follows the same protocol.
     * Comes back only with a reason why not. */
    const char *(*become)(const struct bench_plan *plan, struct attn_error *e);
};

/* Our own is the first; then come the peers; NULL ends the list. */
extern const struct bench_peer *const bench_layer_peers[];
extern const struct bench_peer *const bench_training_peers[];
enum { BENCH_PEERS = 5 }; /* at most, our own included */

extern const struct bench_peer bench_own_layer, bench_own_training, bench_textbook, bench_openblas,
    bench_onednn, bench_torch;

#endif
