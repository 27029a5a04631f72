#include "study.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attn/memory.h"

/* The last part of a path that is more than slashes and dots; where there is none, as in
 * "../..", that of the path without them. */
static void fill_name(char name[STUDY_NAME], const char *directory)
{
    char *whole = NULL;
    const char *end, *start;

    for (int resolved = 0;; resolved = 1) {
        end = directory + strlen(directory);
        while (end > directory + 1 && end[-1] == '/') end--;
        for (start = end; start > directory && start[-1] != '/';) start--;
        if (resolved || strspn(start, ".") < (size_t)(end - start)) break;
        whole = realpath(directory, NULL);
        if (!whole) break;
        directory = whole;
    }
    if (end - start >= STUDY_NAME) end = start + STUDY_NAME - 1;
    memcpy(name, start, (size_t)(end - start));
    name[end - start] = '\0';
    free(whole);
}

static size_t take_room(struct study *s, unsigned char *base, struct study_head **head,
                        double **numbers, struct attn_head_metrics **frames)
{
    const size_t heads = (size_t)s->heads;
    struct attn_arena arena = {.base = base};

    *head = attn_arena_take(&arena, heads, sizeof **head);
    *numbers = attn_arena_take(
        &arena, attn_size_mul((size_t)s->logged, heads * (size_t)s->run.heads.columns + 1),
        sizeof **numbers);
    *frames = attn_arena_take(&arena, attn_size_mul(heads, (size_t)s->run.frames), sizeof **frames);
    return arena.used;
}

static void fill_series(const struct study *s, double *to, const struct study_head *h)
{
    for (int c = 0; c < s->run.heads.columns; c++, to += s->logged)
        attn_recording_head(to, &s->run, s->run.heads.name[c], h->layer, h->head);
}

static void fill_frames(const struct study *s, struct attn_head_metrics *to,
                        const struct study_head *h)
{
    for (int f = 0; f < s->run.frames; f++) {
        const struct attn_maps maps = attn_recording_maps(&s->run, f, h->layer);
        to[f] = attn_head_metrics(&maps, h->head);
    }
}

static void fill_heads(struct study *s, struct study_head *head, double *numbers,
                       struct attn_head_metrics *frames)
{
    double *step = numbers;

    if (s->logged) attn_recording_head(step, &s->run, "step", 0, 0);
    numbers += s->logged;
    s->step = step;
    s->head = head;
    for (int i = 0; i < s->heads; i++) {
        const double *entropy;
        head[i] = (struct study_head){
            .layer = i / s->run.H, .head = i % s->run.H, .frame = frames, .series = numbers};
        fill_series(s, numbers, &head[i]);
        fill_frames(s, frames, &head[i]);
        numbers += (size_t)s->logged * (size_t)s->run.heads.columns;
        frames += s->run.frames;
        entropy = study_series(s, &head[i], "entropy");
        head[i].sharpening =
            attn_phase_find(step, entropy ? entropy : step,
                            study_series(s, &head[i], "target_mass"), entropy ? s->logged : 0, 0);
    }
}

static double full_weight(const struct attn_recording *r)
{
    const size_t n =
        (size_t)r->frames * (size_t)r->B * (size_t)(r->L * r->H) * (size_t)r->T * (size_t)r->T;
    double most = 0;

    for (size_t i = 0; r->coefficients && i < n; i++)
        if (isfinite(r->maps[i])) most = fmax(most, fabs((double)r->maps[i]));
    return most > 0 ? most : 1;
}

const char *study_open(struct study *s, const char *directory, struct attn_error *e)
{
    struct study_head *head;
    struct attn_head_metrics *frames;
    double *numbers;
    const double *step, *loss;
    const char *wrong;

    *s = (struct study){.directory = directory};
    fill_name(s->name, directory);
    wrong = attn_recording_read(&s->run, directory, e);
    if (wrong) return wrong;
    s->heads = s->run.L * s->run.H;
    s->logged = s->heads ? s->run.heads.rows / s->heads : 0;
    s->room = attn_alloc(take_room(s, NULL, &head, &numbers, &frames), 1);
    if (!s->room) {
        attn_recording_free(&s->run);
        return attn_fail_memory(e, directory);
    }
    take_room(s, s->room, &head, &numbers, &frames);
    fill_heads(s, head, numbers, frames);
    s->full = full_weight(&s->run);
    step = study_metric(s, "step");
    loss = study_metric(s, "eval_loss");
    s->phase = attn_phase_find(step, loss ? loss : study_metric(s, "loss"),
                               study_metric(s, "target_mass"), s->run.metrics.rows, 0);
    return NULL;
}

void study_close(struct study *s)
{
    attn_free(s->room);
    attn_recording_free(&s->run);
    *s = (struct study){0};
}

const struct study_head *study_head_at(const struct study *s, int layer, int head)
{
    return &s->head[layer * s->run.H + head];
}

double study_sharpening(const struct study_head *h)
{
    return h->sharpening.fall_size >= 0.1 ? h->sharpening.fall : (double)NAN;
}

const double *study_series(const struct study *s, const struct study_head *h, const char *name)
{
    for (int c = 0; c < s->run.heads.columns; c++)
        if (strcmp(s->run.heads.name[c], name) == 0)
            return h->series + (size_t)c * (size_t)s->logged;
    return NULL;
}

const double *study_metric(const struct study *s, const char *name)
{
    return attn_columns_find(&s->run.metrics, name);
}

bool study_is_in_nats(const struct study *s)
{
    const double *accuracy = study_metric(s, "accuracy");

    for (int i = 0; accuracy && i < s->run.metrics.rows; i++)
        if (isfinite(accuracy[i])) return true;
    return false;
}

int study_frame_at(const struct study *s, long step)
{
    int nearest = s->run.frames - 1;

    if (step < 0) return nearest;
    for (int f = s->run.frames - 2; f >= 0; f--)
        if (labs(s->run.step[f] - step) <= labs(s->run.step[nearest] - step)) nearest = f;
    return nearest;
}

const float *study_map(const struct study *s, int frame, int sequence, int layer, int head)
{
    const struct attn_recording *r = &s->run;
    const size_t map = (size_t)r->T * (size_t)r->T;

    return r->maps +
           ((((size_t)frame * (size_t)r->B + (size_t)sequence) * (size_t)r->L + (size_t)layer) *
                (size_t)r->H +
            (size_t)head) *
               map;
}

double study_shade(const struct study *s, float weight)
{
    return s->run.coefficients ? fabs((double)weight) / s->full : (double)weight;
}

const char *study_setting(const struct study *s, const char *name)
{
    const struct attn_json *j = attn_json_member(s->run.config, name);

    if (!j) return "";
    switch (j->type) {
    case ATTN_JSON_STRING:
    case ATTN_JSON_NUMBER:
        return j->text;
    case ATTN_JSON_TRUE:
        return "yes";
    case ATTN_JSON_FALSE:
        return "no";
    default:
        return "";
    }
}
