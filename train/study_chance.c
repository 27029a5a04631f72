#include <math.h>
#include <stdio.h>

#include "attn/embedding.h"
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

/* The evaluation set is drawn again, a sequence at a time: its targets are no file of the run. */
static double count_targets(const struct attn_settings *s, const struct attn_dataset *d)
{
    struct attn_arena arena = {0};
    struct attn_batch b;
    double loss = (double)NAN;
    long *count = attn_alloc((size_t)d->outputs, sizeof *count);
    void *block;

    attn_batch_take(&arena, s->eval_size, d->T, d->fields, 0, 0);
    block = attn_alloc(arena.used, 1);
    if (count && block) {
        arena = (struct attn_arena){.base = block};
        b = attn_batch_take(&arena, s->eval_size, d->T, d->fields, 0, 0);
        attn_dataset_fill(d, &b, (uint64_t)s->seed, ATTN_STREAM_EVAL, 0);
        for (int i = 0; i < b.B * b.T; i++)
            if (b.targets[i] != ATTN_NO_ID) count[b.targets[i]]++;
        loss = entropy(count, d->outputs);
    }
    attn_free(block);
    attn_free(count);
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
    loss = count_targets(&s, &d);
    attn_dataset_close(&d);
    return loss;
}
