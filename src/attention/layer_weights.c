#include "layer_weights.h"

#include <limits.h>
#include <string.h>

#include "attn/threads.h"
#include "kernels/kernels.h"

enum {
    NEAR = 1 << 16, /* numbers of W_Q, W_K, W_V and W_O */
    FEW = 2,        /* slices, where there are so many groups; */
    MOST = 8,       /* up to so many, */
    GROUPS = 4,     /* of so many groups each: sums of a slice take a part of what a group does */
    RUN = 256,      /* rows of a single sequence, at most, that are done together: */
    FEW_ROWS = 16,  /* a multiple of these, */
    MOST_RUNS = 16  /* in up to so many slices */
};

static size_t numbers_of(const struct attn_projection *p)
{
    return (size_t)p->C * (size_t)p->H * (size_t)p->D;
}

/* Of W_Q, W_K, W_V and W_O together; in double, which holds any product of sizes. */
static double numbers_of_all(const struct attn_layer *l)
{
    const struct attn_shape n = l->core.n;

    return (double)n.H * n.D * l->C + (double)n.Hkv * ((double)n.D + n.Dv) * l->Cy +
           (double)n.H * n.Dv * l->Co;
}

bool attn_layer_sums_slices(const struct attn_layer *l)
{
    return numbers_of_all(l) <= NEAR;
}

static struct attn_groups slices_of(const struct attn_layer *l, int together)
{
    const struct attn_groups g = attn_groups_of(l->core.n.B, together, INT_MAX);
    const int slices = g.count / GROUPS < MOST ? g.count / GROUPS : MOST;

    if (!attn_layer_sums_slices(l)) return g;
    return attn_groups_of(l->core.n.B, together, slices > FEW ? slices : FEW);
}

struct attn_groups attn_layer_slices(const struct attn_layer *l)
{
    return slices_of(l, attn_layer_together(l));
}

/* How many of so many rows are needed for T; no sum can overflow. */
static int count_of(int T, int rows)
{
    return T / rows + (T % rows != 0);
}

/* An even number of runs makes up T rows, as long as each other, so that two threads have equally
 * much to do. */
static int rows_of_run(int T)
{
    const int rows = count_of(T, 2 * count_of(T, 2 * RUN));

    return count_of(rows, FEW_ROWS) * FEW_ROWS;
}

static struct attn_groups run_slices(int T)
{
    if (T <= RUN) return (struct attn_groups){0};
    return attn_groups_of(count_of(T, rows_of_run(T)), 1, MOST_RUNS);
}

struct attn_groups attn_layer_run_slices(const struct attn_layer *l)
{
    const bool by_itself = attn_layer_sums_slices(l) && attn_layer_together(l) == 1;

    if (!by_itself || l->core.n.B != 1) return (struct attn_groups){0};
    return run_slices(attn_layer_longest(l->core.n));
}

/* For as many sequences, or for one of as many rows. Fewer or shorter ones make no more slices of
 * their kind. The room is there for any position and norm. */
size_t attn_layer_slices_room(const struct attn_layer *l)
{
    const int longest = attn_layer_longest(l->core.n), runs = run_slices(longest).slices;
    const int groups = slices_of(l, attn_projection_together(longest)).slices;
    const int slices = runs > groups ? runs : groups;

    if (!attn_layer_sums_slices(l) || slices < 2) return 0;
    return (size_t)(slices - 1) * (size_t)numbers_of_all(l);
}

/* Where slice number `slice` sums the gradient of p[i]: the first in the gradient itself. Weights
 * with one gradient have one sum. */
static attn_real *sum_of(const struct attn_projection p[ATTN_PROJECTIONS], int i, attn_real *room,
                         int slice)
{
    size_t before = 0, all = 0;
    int first = 0;

    if (slice == 0 || !p[i].dw) return p[i].dw;
    while (p[first].dw != p[i].dw) first++;
    for (int j = 0; j < ATTN_PROJECTIONS; j++) {
        if (j < first) before += numbers_of(&p[j]);
        all += numbers_of(&p[j]);
    }
    return room + (size_t)(slice - 1) * all + before;
}

/* Some sequences or rows of p, all in one slice. */
static void add_to_slice(struct attn_projection part[ATTN_PROJECTIONS],
                         const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                         int slice, bool begins, struct attn_threads *threads)
{
    for (int i = 0; i < ATTN_PROJECTIONS; i++) {
        part[i].dw = sum_of(p, i, room, slice);
        part[i].dbias = NULL;
        if (begins && slice > 0 && part[i].dw)
            memset(part[i].dw, 0, numbers_of(&p[i]) * sizeof *part[i].dw);
    }
    attn_project_backward_w(part, ATTN_PROJECTIONS, (struct attn_workroom){0}, threads);
}

/* A slice begins with its last group, as backward does. */
void attn_layer_add_slices(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                           const struct attn_groups *g, struct attn_sequences s,
                           struct attn_threads *threads)
{
    const int first = s.first / g->together, end = (s.first + s.count - 1) / g->together + 1;

    for (int slice = 0; slice < g->slices; slice++) {
        struct attn_projection part[ATTN_PROJECTIONS];
        const int start = attn_slice_start(g, slice), stop = attn_slice_start(g, slice + 1);
        const int from = start > first ? start : first, to = stop < end ? stop : end;
        if (from >= to) continue;
        const struct attn_sequences last = attn_group_at(g, to - 1);
        const int b = from * g->together;
        for (int i = 0; i < ATTN_PROJECTIONS; i++)
            part[i] = attn_projection_of(&p[i], b, last.first + last.count - b);
        add_to_slice(part, p, room, slice, to == stop, threads);
    }
}

void attn_layer_backward_x(const struct attn_projection p[ATTN_PROJECTIONS], bool cross,
                           struct attn_threads *threads)
{
    attn_project_backward_x(p, cross ? 1 : ATTN_OUT, threads);
    if (cross) attn_project_backward_x(p + ATTN_KEY, 2, threads);
}

/* What a task knows. */
struct job {
    const struct attn_projection *p;
    attn_real *room;
    const struct attn_groups *g;
    int rows; /* of a run */
    bool cross;
};

static void add_runs_task(void *context, int slice, int worker)
{
    const struct job *j = context;
    const int start = attn_slice_start(j->g, slice), end = attn_slice_start(j->g, slice + 1);

    (void)worker;
    for (int run = start; run < end; run++) {
        struct attn_projection part[ATTN_PROJECTIONS];
        for (int i = 0; i < ATTN_PROJECTIONS; i++)
            part[i] = attn_projection_rows(&j->p[i], run * j->rows, j->rows);
        attn_layer_backward_x(part, j->cross, NULL);
        add_to_slice(part, j->p, j->room, slice, run == start, NULL);
    }
}

void attn_layer_add_runs(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                         const struct attn_groups *g, bool cross, struct attn_threads *threads)
{
    const int Tq = p[ATTN_QUERY].T, Tk = p[ATTN_KEY].T;
    struct job j = {p, room, g, rows_of_run(Tq > Tk ? Tq : Tk), cross};

    attn_threads_run(threads, g->slices, add_runs_task, &j);
}

void attn_layer_sum_slices(const struct attn_projection p[ATTN_PROJECTIONS], attn_real *room,
                           const struct attn_groups *g)
{
    for (int i = 0; i < ATTN_PROJECTIONS; i++) {
        bool summed = !p[i].dw;
        for (int j = 0; j < i; j++) summed |= p[j].dw == p[i].dw;
        for (int slice = 1; slice < g->slices && !summed; slice++)
            attn_kernels()->axpy(p[i].dw, 1, sum_of(p, i, room, slice), numbers_of(&p[i]));
    }
}
