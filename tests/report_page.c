#include "report_page.h"

#include <math.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/npy.h"
#include "attn/rng.h"
#include "fake_run.h"
#include "run_trial.h"
#include "study_report.h"
#include "test.h"

const char *const report_plain[3] = {"a", "b", "c"};

float report_random(int frame, int sequence, int head, int i, int j, int keys)
{
    static double row[4096], sum;
    static int last[4] = {-1};

    if (last[0] != frame || last[1] != sequence || last[2] != head || last[3] != i) {
        struct attn_rng fixed =
            attn_rng_at(1, ATTN_STREAM_WEIGHTS, (uint64_t)sequence, (uint64_t)(head * 4096 + i));
        struct attn_rng fresh = attn_rng_at(2, ATTN_STREAM_WEIGHTS, (uint64_t)frame,
                                            (uint64_t)((sequence * 64 + head) * 4096 + i));
        sum = 0;
        for (int k = 0; k < keys; k++) {
            const double grown = frame * 0.03 * attn_rng_normal(&fixed);
            sum += row[k] = exp(grown + 0.1 * attn_rng_normal(&fresh));
        }
        memcpy(last, (int[]){frame, sequence, head, i}, sizeof last);
    }
    return (float)(row[j] / sum);
}

static void write_probe(const char *directory, struct report_shape s, const char *const *label,
                        int labels)
{
    FILE *f = fopen(fake_run_path(directory, "probe.tsv"), "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, "sequence\tposition\ttoken\tright\tlo\thi\tcounted\n");
    for (int b = 0; b < s.B; b++)
        for (int i = 0; i < s.T; i++)
            fprintf(f, "%d\t%d\t%s\t%s\t0\t%d\t%d\n", b, i, label[i % labels], i % 2 ? "0" : "-",
                    s.causal ? i + 1 : s.T, i % 3 != 0);
    ck_assert(fclose(f) == 0);
}

static void write_maps(const char *directory, struct report_shape s, report_fill *fill)
{
    const size_t shape[6] = {(size_t)s.frames, (size_t)s.B, (size_t)s.L,
                             (size_t)s.H,      (size_t)s.T, (size_t)s.T};
    float *a =
        calloc(shape[0] * shape[1] * shape[2] * shape[3] * shape[4] * shape[5] + 1, sizeof *a);
    float *at = a;
    struct attn_error e;

    ck_assert_ptr_nonnull(a);
    for (int f = 0; f < s.frames; f++)
        for (int b = 0; b < s.B; b++)
            for (int h = 0; h < s.L * s.H; h++)
                for (int i = 0; i < s.T; i++, at += s.T) {
                    const int keys = s.causal ? i + 1 : s.T;
                    for (int j = 0; j < keys; j++) at[j] = fill(f, b, h, i, j, keys);
                }
    ck_assert_ptr_null(
        attn_npy_write_float(fake_run_path(directory, "attention.npy"), a, 6, shape, &e));
    free(a);
}

const char *report_run(const char *name, struct report_shape s, const char *const *label,
                       int labels, report_fill *fill)
{
    const char *directory = fake_run_directory(name);
    char text[128];
    FILE *f;

    snprintf(text, sizeof text, "{\"task\": \"</script><!--\", \"layers\": %d, \"heads\": %d}", s.L,
             s.H);
    fake_run_text(directory, "config.json", text);
    write_probe(directory, s, label, labels);
    f = fopen(fake_run_path(directory, "frames.tsv"), "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "frame\tstep\n");
    for (int i = 0; i < s.frames; i++) fprintf(f, "%d\t%d\n", i, 3 * i);
    ck_assert(fclose(f) == 0);
    write_maps(directory, s, fill);
    return directory;
}

const char *report_page_path(void)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/report.html", scratch_directory());
    return path;
}

/* What stands between the tags of the one element with this id. */
static const char *element(const char *page, const char *id, size_t *n)
{
    char mark[64];
    const char *start, *end;

    snprintf(mark, sizeof mark, " id=\"%s\">", id);
    start = strstr(page, mark);
    ck_assert_msg(start != NULL, "no element %s", id);
    start += strlen(mark);
    end = strstr(start, "</script>");
    ck_assert_ptr_nonnull(end);
    *n = (size_t)(end - start);
    return start;
}

void report_page_make(struct report_page *p, const struct study *s)
{
    struct attn_error e;
    const char *wrong = study_report(s, report_page_path(), &e), *data;
    size_t n;

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    wrong = attn_file_read(&p->text, &p->size, report_page_path(), 1 << 26, &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    data = element(p->text, "data", &n);
    wrong = attn_json_parse(&p->data, data, n, "data", &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

void report_page_free(struct report_page *p)
{
    attn_free(p->data);
    attn_free(p->text);
}

const struct attn_json *report_get(const struct attn_json *j, const char *name)
{
    const struct attn_json *member = attn_json_member(j, name);

    ck_assert_msg(member != NULL, "no member %s", name);
    return member;
}

const struct attn_json *report_at(const struct attn_json *j, int index)
{
    const struct attn_json *at = j->first;

    for (; at && index > 0; index--) at = at->next;
    ck_assert_ptr_nonnull(at);
    return at;
}

int report_length(const struct attn_json *j)
{
    int n = 0;

    for (const struct attn_json *at = j->first; at; at = at->next) n++;
    return n;
}

double report_number(const struct attn_json *j)
{
    double x = (double)NAN;

    if (j->type != ATTN_JSON_NULL) ck_assert(attn_json_number(j, &x));
    return x;
}

size_t report_cells(const struct study *s, int sequence)
{
    size_t n = 0;

    for (int i = 0; i < s->run.T; i++) {
        const struct attn_span span = s->run.span[sequence * s->run.T + i];
        n += (size_t)(span.hi - span.lo);
    }
    return n;
}

/* The bits of base64 text, one at a time. */
struct bits {
    const char *at, *end;
    int left; /* of the sign at hand */
};

static unsigned take(struct bits *b, int n)
{
    static const char sign[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned x = 0;

    for (; n > 0; n--) {
        if (b->left == 0) b->at++, b->left = 6;
        if (b->at >= b->end) ck_abort_msg("the maps end too early");
        b->left--;
        x = x << 1 | ((unsigned)(strchr(sign, *b->at) - sign) >> b->left & 1);
    }
    return x;
}

static long take_value(struct bits *b, long sum[25], long seen[25], long before)
{
    int class = 0, k = 0;
    long ones = 0, m;

    while (before >> class) class ++;
    while (seen[class] * (1L << k) < sum[class]) k++;
    while (ones < 20 && take(b, 1)) ones++;
    m = ones == 20 ? (long)take(b, 24) : ones * (1L << k) + (long)take(b, k);
    sum[class] += m;
    if (++seen[class] == 64) sum[class] /= 2, seen[class] /= 2;
    return before + (m % 2 ? -(m + 1) / 2 : m / 2);
}

uint32_t *report_decode(const char *page, const struct study *s, int sequence, int frames,
                        int digits)
{
    const size_t cells = report_cells(s, sequence), row = cells * (size_t)s->heads;
    uint32_t *value = calloc(row * (size_t)frames + 1, sizeof *value);
    long sum[25], seen[25], unit = 1;
    struct bits b = {.left = 6};
    char id[16];
    size_t n, at = 0;

    ck_assert_ptr_nonnull(value);
    snprintf(id, sizeof id, "maps%d", sequence);
    b.at = element(page, id, &n);
    b.end = b.at + n;
    for (int c = 0; c < 25; c++) sum[c] = 4, seen[c] = 1;
    for (int d = 0; d < digits; d++) unit *= 10;
    for (int f = 0; f < frames; f++)
        for (int h = 0; h < s->heads; h++)
            for (int i = 0; i < s->run.T; i++) {
                const struct attn_span span = s->run.span[sequence * s->run.T + i];
                for (int j = span.lo; j < span.hi; j++, at++)
                    value[at] = (uint32_t)take_value(
                        &b, sum, seen, f ? (long)value[at - row] : unit / (span.hi - span.lo));
            }
    ck_assert_int_le(b.end - b.at, 4); /* nothing behind the last group */
    return value;
}

void report_must_open(struct study *s, const char *directory)
{
    struct attn_error e;
    const char *wrong = study_open(s, directory, &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

/* printf's decimals of a weight, as a whole number of units. */
static uint32_t units_of(float weight, int digits)
{
    char text[64], *point;

    snprintf(text, sizeof text, "%.*f", digits, (double)weight);
    point = strchr(text, '.');
    memmove(point, point + 1, strlen(point));
    return (uint32_t)strtoul(text, NULL, 10);
}

void report_expect_maps(const char *page, const struct study *s, int sequence, const int *frame,
                        int frames, int digits)
{
    uint32_t *got = report_decode(page, s, sequence, frames, digits);
    size_t at = 0;

    for (int f = 0; f < frames; f++)
        for (int h = 0; h < s->heads; h++) {
            const float *p =
                study_map(s, frame ? frame[f] : f, sequence, h / s->run.H, h % s->run.H);
            for (int i = 0; i < s->run.T; i++) {
                const struct attn_span span = s->run.span[sequence * s->run.T + i];
                for (int j = span.lo; j < span.hi; j++, at++)
                    if (got[at] != units_of(p[i * s->run.T + j], digits)) /* Check logs each */
                        ck_abort_msg("frame %d, head %d, (%d, %d): %u, expected %.9g", f, h, i, j,
                                     got[at], (double)p[i * s->run.T + j]);
            }
        }
    free(got);
}

void report_page_of_run(struct study *s)
{
    struct attn_settings settings = run_trial_settings();
    char *where = run_trial_directory("run");
    struct attn_error e;
    const char *wrong;

    settings.model.heads = settings.model.layers = 2;
    settings.map_every = 1;
    run_trial_must_train(where, &settings, settings.steps);
    report_must_open(s, where);
    wrong = study_report(s, report_page_path(), &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}
