#include <math.h>
#include <stdio.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/settings.h"
#include "attn/task.h"
#include "study_diagnose.h"

enum { LARGEST_CONFIG = 1 << 20 };

static double entropy(const long *count, int n)
{
    double total = 0, h = 0;

    for (int i = 0; i < n; i++) total += (double)count[i];
    for (int i = 0; i < n; i++)
        if (count[i]) h -= (double)count[i] / total * log((double)count[i] / total);
    return total > 0 ? h : (double)NAN;
}

static double entropy_of_classes(const struct attn_batch *b, int classes)
{
    long *count = attn_alloc((size_t)classes, sizeof *count);
    double loss = (double)NAN;

    for (size_t i = 0; count && i < (size_t)b->B * (size_t)b->T; i++)
        if (attn_batch_counts(b, i)) count[b->targets[i]]++;
    if (count) loss = entropy(count, classes);
    if (loss == 0) loss = (double)NAN; /* one class: all answers to learn are the same */
    attn_free(count);
    return loss;
}

/* The mean square around the mean, of each output for itself. */
static double variance_of_values(const struct attn_batch *b)
{
    double variance = 0;

    for (int c = 0; c < b->outputs; c++) {
        double n = 0, mean = 0, squares = 0;
        for (size_t i = 0; i < (size_t)b->B * (size_t)b->T; i++) {
            if (!attn_batch_counts(b, i)) continue;
            const double off = (double)b->values[i * (size_t)b->outputs + (size_t)c] - mean;
            n++;
            mean += off / n;
            squares += off * off * (n - 1) / n;
        }
        variance += squares / n / b->outputs;
    }
    return variance;
}

/* The evaluation set is drawn again: its targets are no file of the run. */
static double loss_of_targets(const struct attn_settings *s, const struct attn_dataset *d)
{
    struct attn_arena arena = {0};
    struct attn_batch b;
    double loss;
    void *block;

    attn_dataset_batch(d, &arena, s->eval_size, ATTN_STREAM_EVAL);
    block = attn_alloc(arena.used, 1);
    if (!block) return (double)NAN;
    arena = (struct attn_arena){.base = block};
    b = attn_dataset_batch(d, &arena, s->eval_size, ATTN_STREAM_EVAL);
    attn_dataset_fill(d, &b, (uint64_t)s->seed, ATTN_STREAM_EVAL, 0);
    loss = d->regression ? variance_of_values(&b) : entropy_of_classes(&b, d->outputs);
    attn_free(block);
    return loss;
}

static bool read_settings(struct attn_settings *s, const struct study *study)
{
    char path[4096], precision[8], *text;
    struct attn_error e;
    size_t n;
    bool read;

    if (!attn_path_join(path, sizeof path, study->directory, "config.json")) return false;
    if (attn_file_read(&text, &n, path, LARGEST_CONFIG, &e)) return false;
    read = !attn_settings_read(s, precision, text, n, path, &e);
    attn_free(text);
    return read;
}

double study_chance_loss(const struct study *study)
{
    struct attn_settings s;
    struct attn_dataset d;
    struct attn_error e;
    double loss = (double)NAN;

    if (attn_json_number(attn_json_member(study->run.result, "unigram_loss"), &loss)) return loss;
    if (!read_settings(&s, study) || s.data[0]) return (double)NAN;
    if (attn_dataset_open(&d, attn_task_find(s.task), &s.options, &e)) return (double)NAN;
    loss = loss_of_targets(&s, &d);
    attn_dataset_close(&d);
    return loss;
}
