#include "attn/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "attn/memory.h"

enum { LANES = 8, MOST_STEPS = 100 };

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

/* R of a's QR decomposition, or a itself where it has no more rows than columns. */
static struct matrix reduce(struct matrix a)
{
    const int n = a.columns;

    if (a.rows <= n) return a;
    for (int k = 0; k < n; k++) reflect(&a, k);
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

static void transpose(struct matrix *to, const struct matrix *a)
{
    to->rows = a->columns;
    to->columns = a->rows;
    for (int j = 0; j < a->columns; j++)
        for (int i = 0; i < a->rows; i++) column(to, i)[j] = column(a, j)[i];
}

/* Row k behind column k mapped onto its first place by a reflection from the right,
 * which is applied to the rows below; returns that place. v and y are room for a row
 * and a column. */
static double reflect_row(const struct matrix *a, int k, double *v, double *y)
{
    const int n = a->columns - k - 1, rows = a->rows - k - 1;

    for (int j = 0; j < n; j++) v[j] = column(a, k + 1 + j)[k];
    const double norm = sqrt(dot(v, v, n));
    if (norm == 0) return 0;
    const double first = v[0] > 0 ? -norm : norm;
    v[0] -= first;
    const double tau = -1 / (first * v[0]);
    memset(y, 0, (size_t)rows * sizeof *y);
    for (int j = 0; j < n; j++) add_times(y, v[j], column(a, k + 1 + j) + k + 1, rows);
    for (int j = 0; j < n; j++) add_times(column(a, k + 1 + j) + k + 1, -tau * v[j], y, rows);
    return first;
}

/* U^T a V = B with d on its diagonal and e[k] above d[k]. a has no more columns than rows. */
static void bidiagonalize(const struct matrix *a, double *d, double *e, double *room)
{
    e[0] = 0;
    for (int k = 0; k < a->columns; k++) {
        reflect(a, k);
        d[k] = column(a, k)[k];
        if (k + 1 < a->columns) e[k + 1] = reflect_row(a, k, room, room + a->columns);
    }
}

/* The turn that maps (f, h) onto (z, 0). */
static double turn(double f, double h, double *c, double *s)
{
    const double z = sqrt(f * f + h * h);

    *c = z > 0 ? f / z : 1;
    *s = z > 0 ? h / z : 0;
    return z;
}

/* With d[first - 1] = 0, e[first] is turned out of its row, down to d[last]. */
static void chase_out(double *d, double *e, int first, int last)
{
    double c = 0, s = 1;

    for (int i = first; i <= last; i++) {
        const double f = s * e[i];
        e[i] *= c;
        d[i] = turn(d[i], -f, &c, &s);
    }
}

/* The first column of B^T B - mu over d_p, mu being that eigenvalue of its last 2 x 2
 * which is nearer to the end (Wilkinson's shift). */
static double shifted(const double *d, const double *e, int p, int q)
{
    const double x = d[p], y = d[q - 1], z = d[q], g = e[q - 1], h = e[q];
    const double f = ((y - z) * (y + z) + (g - h) * (g + h)) / (2 * h * y);

    return ((x - z) * (x + z) + h * (y / (f + copysign(sqrt(f * f + 1), f)) - h)) / x;
}

/* One step of the QR method on B^T B, without forming it: turns from both sides chase
 * what the first turn brings below the diagonal down and out of B. */
static void qr_step(double *d, double *e, int p, int q)
{
    double f = shifted(d, e, p, q), x = d[p], c = 1, s = 1;

    for (int j = p; j < q; j++) {
        const double h = s * e[j + 1], y = d[j + 1];
        double g = c * e[j + 1];
        e[j] = turn(f, h, &c, &s);
        f = x * c + g * s;
        g = g * c - x * s;
        const double low = y * s, kept = y * c;
        d[j] = turn(f, low, &c, &s);
        f = c * g + s * kept;
        x = c * kept - s * g;
    }
    e[p] = 0;
    e[q] = f;
    d[q] = x;
}

/* Where the block that ends at q begins: B falls apart where e or d is 0 to rounding. */
static int block_begin(double *d, double *e, int q, double rounding)
{
    for (int p = q; p > 0; p--) {
        if (fabs(e[p]) <= rounding) {
            e[p] = 0;
            return p;
        }
        if (fabs(d[p - 1]) <= rounding) {
            chase_out(d, e, p, q);
            return p;
        }
    }
    return 0;
}

/* d becomes the singular values, in no order, of either sign. */
static void diagonalize(double *d, double *e, int n)
{
    double most = 0;

    for (int k = 0; k < n; k++) most = fmax(most, fabs(d[k]) + fabs(e[k]));
    for (int q = n - 1; q > 0; q--)
        for (int step = 0; step < MOST_STEPS; step++) {
            const int p = block_begin(d, e, q, DBL_EPSILON * most);
            if (p == q) break;
            qr_step(d, e, p, q);
        }
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
        a = tall;
        room += (size_t)a.rows * (size_t)a.columns;
    }
    bidiagonalize(&a, sigma, room, room + a.columns);
    diagonalize(sigma, room, a.columns);
    for (int i = 0; i < a.columns; i++) sigma[i] = fabs(sigma[i]);
    sort_falling(sigma, a.columns);
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
    const int pairs[][2] = {{C, D}, {Cy, D}, {D, D}, {q, D}, {q, k}, {q, k}, {5, q}, {5, k}};
    size_t sum = 0;

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
