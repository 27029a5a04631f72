#include "attn/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "attn/memory.h"

enum { LANES = 8, MOST_SWEEPS = 40 };

/* Matrices here are column-major: rows numbers a column, all of them dense. */
struct matrix {
    double *x;
    int rows, columns;
};

static double *column(const struct matrix *a, int j)
{
    return a->x + (size_t)j * (size_t)a->rows;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* In partial sums that do not wait for each other. */
static double dot(const double *a, const double *b, int n)
{
    double lane[LANES] = {0}, sum = 0;
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum += a[i] * b[i];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

static void add_times(double *restrict y, double factor, const double *restrict x, int n)
{
    for (int i = 0; i < n; i++) y[i] += factor * x[i];
}

/* x by at most 1 in size, so that no square overflows or vanishes; the factor taken out. */
static double normalize(double *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return (double)NAN;
        most = fmax(most, fabs(x[i]));
    }
    for (size_t i = 0; i < n && most > 0; i++) x[i] /= most;
    return most;
}

/* Column k and row k of R: a reflection I - v v^T tau maps column k below row k
 * onto its first place, and is applied to the columns behind it. */
static void reflect(const struct matrix *a, int k)
{
    const int n = a->rows - k;
    double *v = column(a, k) + k;
    const double norm = sqrt(dot(v, v, n));

    if (norm == 0) return;
    const double first = v[0] > 0 ? -norm : norm; /* the sign without cancellation */
    v[0] -= first;
    const double tau = -1 / (first * v[0]);
    for (int j = k + 1; j < a->columns; j++) {
        double *y = column(a, j) + k;
        add_times(y, -tau * dot(v, y, n), v, n);
    }
    v[0] = first;
}

/* The column with the largest rest below row k comes to place k. */
static void choose_column(const struct matrix *a, int k)
{
    int best = k;
    double most = -1;

    for (int j = k; j < a->columns; j++) {
        const double *x = column(a, j) + k, square = dot(x, x, a->rows - k);
        if (square > most) {
            most = square;
            best = j;
        }
    }
    for (int i = 0; i < a->rows && best != k; i++) {
        const double kept = column(a, k)[i];
        column(a, k)[i] = column(a, best)[i];
        column(a, best)[i] = kept;
    }
}

/* The upper triangle of R in a = Q R [P^T]; what is below it is left over. */
static void triangulate(const struct matrix *a, bool choose)
{
    for (int k = 0; k < smaller(a->rows, a->columns); k++) {
        if (choose) choose_column(a, k);
        reflect(a, k);
    }
}

/* R of a's QR decomposition, in its first rows, or a itself where it has no more rows than
 * columns. */
static struct matrix reduce(struct matrix a)
{
    const int n = a.columns;

    if (a.rows <= n) return a;
    triangulate(&a, false);
    for (int j = 0; j < n; j++) {
        memmove(a.x + (size_t)j * (size_t)n, column(&a, j), (size_t)(j + 1) * sizeof *a.x);
        memset(a.x + (size_t)j * (size_t)n + j + 1, 0, (size_t)(n - j - 1) * sizeof *a.x);
    }
    a.rows = n;
    return a;
}

/* c <- a b, or a b^T: column j of c is the sum of the columns of a times b's. */
static void multiply(const struct matrix *c, const struct matrix *a, const struct matrix *b,
                     bool transposed)
{
    memset(c->x, 0, (size_t)c->rows * (size_t)c->columns * sizeof *c->x);
    for (int j = 0; j < c->columns; j++)
        for (int d = 0; d < a->columns; d++)
            add_times(column(c, j), transposed ? column(b, d)[j] : column(b, j)[d], column(a, d),
                      c->rows);
}

/* to (n, n): the rows of R as columns. */
static struct matrix transposed_triangle(double *to, const struct matrix *r)
{
    const struct matrix x = {to, r->columns, r->columns};

    for (int j = 0; j < x.columns; j++)
        for (int i = 0; i < x.rows; i++) column(&x, j)[i] = i < j ? 0 : column(r, i)[j];
    return x;
}

static void transpose(struct matrix *to, const struct matrix *a)
{
    to->rows = a->columns;
    to->columns = a->rows;
    for (int j = 0; j < a->columns; j++)
        for (int i = 0; i < a->rows; i++) column(to, i)[j] = column(a, j)[i];
}

/* With lengths a and b and the product g of two columns, the turn by t = tan(angle),
 *
 *     p' = c (p - t q),  q' = c (q + t p),  t^2 + 2 t (b^2 - a^2) / (2 g) - 1 = 0,
 *
 * makes them orthogonal; the smaller root turns least. Squares become a^2 - t g, b^2 + t g. */
static void turn(double *restrict p, double *restrict q, double *pp, double *qq, double g, int n)
{
    const double zeta = (*qq - *pp) / (2 * g);
    const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + t * t), s = c * t;

    for (int i = 0; i < n; i++) {
        const double x = p[i], y = q[i];
        p[i] = c * x - s * y;
        q[i] = s * x + c * y;
    }
    *pp = fmax(*pp - t * g, 0);
    *qq += t * g;
}

/* Turns every pair of columns once. What is left of a small cosine is its square, and
 * lengths change by that: false when all were orthogonal to half the digits. */
static bool sweep(const struct matrix *x, double *square)
{
    const double tolerance = DBL_EPSILON * sqrt((double)x->rows), half = 1e-9;
    bool again = false;

    for (int j = 0; j < x->columns; j++) square[j] = dot(column(x, j), column(x, j), x->rows);
    for (int i = 0; i < x->columns; i++)
        for (int j = i + 1; j < x->columns; j++) {
            const double g = dot(column(x, i), column(x, j), x->rows);
            const double lengths = sqrt(square[i]) * sqrt(square[j]);
            if (!(fabs(g) > tolerance * lengths)) continue;
            again |= fabs(g) > half * lengths;
            turn(column(x, i), column(x, j), &square[i], &square[j], g, x->rows);
        }
    return again;
}

static void sort_falling(double *x, int n)
{
    for (int i = 1; i < n; i++) {
        const double moved = x[i];
        int j = i;
        for (; j > 0 && x[j - 1] < moved; j--) x[j] = x[j - 1];
        x[j] = moved;
    }
}

/* The singular values of a, whose contents are used up, into sigma. */
static void decompose(double *sigma, struct matrix a, double *room)
{
    struct matrix tall = {room, 0, 0};

    if (a.rows < a.columns) {
        transpose(&tall, &a);
        room = a.x;
        a = tall;
    }
    triangulate(&a, true);
    const struct matrix x = transposed_triangle(room, &a);
    for (int k = 0; k < MOST_SWEEPS && sweep(&x, sigma); k++) continue;
    for (int j = 0; j < x.columns; j++) sigma[j] = sqrt(dot(column(&x, j), column(&x, j), x.rows));
    sort_falling(sigma, x.columns);
}

static struct attn_spectrum summarize(double *sigma, int n, double scale)
{
    struct attn_spectrum s = {.stable_rank = (double)NAN, .effective_rank = (double)NAN, .n = n};
    double squares = 0, sum = 0, entropy = 0;

    for (int i = 0; i < n; i++) {
        squares += sigma[i] * sigma[i];
        sum += sigma[i];
    }
    for (int i = 0; i < n; i++)
        if (sigma[i] > 0) entropy -= sigma[i] / sum * log(sigma[i] / sum);
    s.norm = sqrt(squares) * scale;
    s.largest = sigma[0] * scale;
    if (sum > 0) {
        s.stable_rank = squares / (sigma[0] * sigma[0]);
        s.effective_rank = exp(entropy);
    }
    for (int i = 0; i < n; i++) sigma[i] *= scale;
    return s;
}

static struct matrix load(double **room, const attn_real *from, int rows, int columns, size_t row)
{
    const struct matrix a = {*room, rows, columns};

    *room += (size_t)rows * (size_t)columns;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) column(&a, j)[i] = (double)from[(size_t)i * row + (size_t)j];
    return a;
}

static struct matrix take(double **room, int rows, int columns)
{
    const struct matrix a = {*room, rows, columns};

    *room += (size_t)rows * (size_t)columns;
    return a;
}

static size_t entries(const struct matrix *a)
{
    return (size_t)a->rows * (size_t)a->columns;
}

size_t attn_spectrum_room(int C, int Cy, int D)
{
    const int q = smaller(C, D), k = smaller(Cy, D);
    const int pairs[][2] = {{C, D}, {Cy, D}, {D, D}, {q, D}, {q, k}, {q, k}};
    size_t sum = (size_t)smaller(q, k);

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t part = attn_size_mul((size_t)pairs[i][0], (size_t)pairs[i][1]);
        if (__builtin_add_overflow(sum, part, &sum)) return SIZE_MAX;
    }
    return sum;
}

struct attn_spectrum attn_spectrum(double *sigma, const struct attn_head_weights *w, double *room)
{
    const int n = smaller(smaller(w->C, w->Cy), w->D);
    double *own = room, scale;

    room += n;
    struct matrix q = load(&room, w->wq, w->C, w->D, w->q_row);
    struct matrix k = load(&room, w->wk, w->Cy, w->D, w->k_row);
    scale = normalize(q.x, entries(&q)) * normalize(k.x, entries(&k));
    q = reduce(q);
    k = reduce(k);
    if (w->middle) {
        const struct matrix m = load(&room, w->middle, w->D, w->D, (size_t)w->D);
        const struct matrix product = take(&room, q.rows, w->D);
        scale *= normalize(m.x, entries(&m));
        multiply(&product, &q, &m, false);
        q = product;
    }
    const struct matrix core = take(&room, q.rows, k.rows);
    multiply(&core, &q, &k, true);
    scale *= normalize(core.x, entries(&core));
    if (isnan(scale)) {
        const double none = (double)NAN;
        for (int i = 0; sigma && i < n; i++) sigma[i] = none;
        return (struct attn_spectrum){none, none, none, none, n};
    }
    if (!sigma) sigma = own;
    decompose(sigma, core, room);
    return summarize(sigma, n, scale);
}

double attn_frobenius(const attn_real *a, int rows, int columns, size_t row)
{
    double squares = 0;

    for (int i = 0; i < rows; i++, a += row)
        for (int j = 0; j < columns; j++) squares += (double)a[j] * (double)a[j];
    return sqrt(squares);
}
