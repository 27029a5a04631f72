#include "study_trial.h"

#include "attn/file.h"
#include "attn/memory.h"
#include "fake_run.h"
#include "run_trial.h"
#include "test.h"
#include "xml.h"

void study_must_open(struct study *s, const char *directory)
{
    struct attn_error e;
    const char *wrong = study_open(s, directory, &e);

    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
}

const char *study_train(struct study *s, const char *name)
{
    struct attn_settings settings = run_trial_settings();
    const char *directory = run_trial_directory(name);

    settings.model.heads = settings.model.layers = 2;
    settings.map_every = 2;
    run_trial_must_train(directory, &settings, settings.steps);
    study_must_open(s, directory);
    return directory;
}

char *study_read(const char *directory, const char *name, size_t *size)
{
    struct attn_error e;
    char *data;

    ck_assert_ptr_null(attn_file_read(&data, size, fake_run_path(directory, name), 1 << 26, &e));
    return data;
}

void study_expect_svg(const char *directory, const char *name)
{
    size_t size;
    char *data = study_read(directory, name, &size);

    ck_assert_msg(!xml_fault(data, size), "%s: %s", name, xml_fault(data, size));
    ck_assert_msg(!xml_bad_number(data), "%s: %s", name, xml_bad_number(data));
    ck_assert_uint_lt(size, 2000000);
    attn_free(data);
}

static const char config[] = "{\"layers\": 1, \"heads\": 1, \"seed\": %d, \"lr\": %s}";

const char *study_fake(const char *name, int seed, const char *lr, const char *metrics)
{
    const char *directory = fake_run_directory(name);
    char text[256];

    snprintf(text, sizeof text, config, seed, lr);
    fake_run_text(directory, "config.json", text);
    if (metrics) fake_run_text(directory, "metrics.tsv", metrics);
    return directory;
}

double study_number(const char *commands, const char *name)
{
    const char *at = strstr(commands, name);

    ck_assert_msg(at != NULL, "no %s in\n%s", name, commands);
    return strtod(at + strlen(name), NULL);
}
