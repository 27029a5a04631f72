#include "attn/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "attn/safetensors.h"
#include "weights.h"

static const char FORMAT[] = "attn-checkpoint-1";

enum { NAME_SIZE = 64, ENTRIES = 6 };

/* "NAME", "moment1.NAME", "moment2.NAME" */
static void tensor_name(char name[NAME_SIZE], const struct attn_parameter *p, int moment)
{
    if (moment)
        snprintf(name, NAME_SIZE, "moment%d.%s", moment, p->name);
    else
        snprintf(name, NAME_SIZE, "%s", p->name);
}

static const attn_real *array_of(const struct attn_trainer *t, int moment)
{
    return moment ? t->moment[moment - 1] : t->model.w;
}

static int count_tensors(const struct attn_trainer *t)
{
    return t->model.parameters * (1 + t->optimizer->moments);
}

static void list_tensors(const struct attn_trainer *t, struct attn_tensor *tensor,
                         char (*name)[NAME_SIZE])
{
    for (int i = 0; i < count_tensors(t); i++) {
        const struct attn_parameter *p = &t->model.parameter[i % t->model.parameters];
        const int moment = i / t->model.parameters;

        tensor_name(name[i], p, moment);
        tensor[i] = (struct attn_tensor){.name = name[i],
                                         .dtype = attn_weights_dtype,
                                         .rank = p->rank,
                                         .data = array_of(t, moment) + p->offset,
                                         .bytes = p->count * sizeof(attn_real)};
        memcpy(tensor[i].shape, p->shape, sizeof p->shape);
    }
}

static const char *write_file(const struct attn_trainer *t, const struct attn_tensor *tensor,
                              const char *config, const char *path, struct attn_error *e)
{
    char step[24], loss[ATTN_NUMBER_SIZE], norm[ATTN_NUMBER_SIZE], lr[ATTN_NUMBER_SIZE];
    const struct attn_metadata metadata[ENTRIES] = {
        {"format", FORMAT},
        {"step", step},
        {"loss", attn_number_format(loss, t->loss, 17)},
        {"grad_norm", attn_number_format(norm, t->grad_norm, 17)},
        {"lr", attn_number_format(lr, t->lr, 17)},
        {"config", config},
    };

    snprintf(step, sizeof step, "%ld", t->step);
    return attn_safetensors_write(path, tensor, count_tensors(t), metadata, ENTRIES, e);
}

const char *attn_checkpoint_save(const struct attn_trainer *t, const char *path,
                                 struct attn_error *e)
{
    const size_t n = (size_t)count_tensors(t);
    struct attn_tensor *tensor = attn_alloc(n, sizeof *tensor);
    char(*name)[NAME_SIZE] = attn_alloc(n, sizeof *name);
    struct attn_text config = {0};
    const char *wrong;

    attn_settings_write(&config, &t->settings);
    if (!tensor || !name || config.failed) {
        wrong = attn_fail_memory(e, "checkpoint");
    } else {
        list_tensors(t, tensor, name);
        wrong = write_file(t, tensor, config.data, path, e);
    }
    attn_text_free(&config);
    attn_free(name);
    attn_free(tensor);
    return wrong;
}

static const char *check_tensors(const struct attn_trainer *t, const struct attn_safetensors *file,
                                 const char *path, struct attn_error *e)
{
    const char *wrong = NULL;
    char name[NAME_SIZE];

    for (int i = 0; i < count_tensors(t) && !wrong; i++) {
        const struct attn_parameter *p = &t->model.parameter[i % t->model.parameters];
        tensor_name(name, p, i / t->model.parameters);
        wrong = attn_weights_check(attn_safetensors_find(file, name), name, p, false, path, e);
    }
    if (!wrong && file->tensors != count_tensors(t))
        return attn_fail(e, ATTN_BAD_INPUT, "%.300s: %d tensors, expected %d", path, file->tensors,
                         count_tensors(t));
    return wrong;
}

static const char *check_settings(const struct attn_trainer *t, const char *config,
                                  const char *path, struct attn_error *e)
{
    struct attn_text own = {0};
    bool same;

    attn_settings_write(&own, &t->settings);
    if (own.failed) {
        attn_text_free(&own);
        return attn_fail_memory(e, "settings");
    }
    same = config && strcmp(config, own.data) == 0;
    attn_text_free(&own);
    return same ? NULL
                : attn_fail(e, ATTN_BAD_INPUT,
                            "%.300s: was made with other settings than this run's", path);
}

static const char *check_head(const struct attn_trainer *t, const struct attn_safetensors *file,
                              const char *path, struct attn_error *e)
{
    const char *format = attn_safetensors_metadata(file, "format");

    if (!format || strcmp(format, FORMAT))
        return attn_fail(e, ATTN_BAD_INPUT, "%.300s: format '%.64s', expected '%s'", path,
                         format ? format : "", FORMAT);
    if (!file->checked) return attn_fail(e, ATTN_BAD_INPUT, "%.300s: has no checksum", path);
    const char *wrong = check_tensors(t, file, path, e);
    return wrong ? wrong : check_settings(t, attn_safetensors_metadata(file, "config"), path, e);
}

static const char *read_state(const struct attn_safetensors *file, long steps, long *step,
                              double number[3], const char *path, struct attn_error *e)
{
    static const char *const names[] = {"loss", "grad_norm", "lr"};
    const char *text = attn_safetensors_metadata(file, "step");
    int64_t n;

    if (!text || !attn_integer_parse(text, &n) || n < 0 || n > steps)
        return attn_fail(e, ATTN_BAD_INPUT, "%.300s: step '%.64s', expected 0 to %ld", path,
                         text ? text : "", steps);
    for (int i = 0; i < 3; i++) {
        text = attn_safetensors_metadata(file, names[i]);
        if (!text || !attn_number_parse(text, &number[i]))
            return attn_fail(e, ATTN_BAD_INPUT, "%.300s: no number '%s'", path, names[i]);
    }
    *step = (long)n;
    return NULL;
}

static void copy_tensors(struct attn_trainer *t, const struct attn_safetensors *file)
{
    char name[NAME_SIZE];

    for (int i = 0; i < count_tensors(t); i++) {
        const struct attn_parameter *p = &t->model.parameter[i % t->model.parameters];
        const int moment = i / t->model.parameters;
        attn_real *to = moment ? t->moment[moment - 1] : t->model.w;

        tensor_name(name, p, moment);
        memcpy(to + p->offset, attn_safetensors_find(file, name)->data,
               p->count * sizeof(attn_real));
    }
}

const char *attn_checkpoint_load(struct attn_trainer *t, const char *path, struct attn_error *e)
{
    struct attn_safetensors file;
    const char *wrong = attn_safetensors_read(&file, path, e);
    double number[3];
    long step = 0;

    if (wrong) return wrong;
    wrong = check_head(t, &file, path, e);
    if (!wrong) wrong = read_state(&file, t->settings.steps, &step, number, path, e);
    if (!wrong) {
        copy_tensors(t, &file);
        t->step = step;
        t->loss = number[0];
        t->grad_norm = number[1];
        t->lr = number[2];
    }
    attn_safetensors_free(&file);
    return wrong;
}
