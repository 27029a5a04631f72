/* attention.npy and frames.tsv: the probes' maps, a frame at a time. The map comes
 * first, then its step: what both have is whole. */
#include <limits.h>
#include <unistd.h>

#include "run_files.h"

static const char MAPS[] = "attention.npy", FRAMES[] = "frames.tsv", PROBE[] = "probe.tsv";

enum { MOST_FRAMES = 100, MAP_RANK = 6 };
static const size_t MOST_BYTES = (size_t)256 << 20; /* of all frames that are chosen here */

long attn_run_frame_after(long step, int map_every, int density, int steps)
{
    const bool sparse = map_every == 0 || (map_every < 0 && density == 0);
    long next;

    if (step >= steps) return LONG_MAX;
    if (step < 0) return map_every == 0 ? steps : 0;
    if (sparse) return steps;
    if (map_every > 0)
        next = step + map_every;
    else
        next = step + (step / density > 1 ? step / density : 1);
    return next < steps ? next : steps;
}

static bool fits(int density, int steps, int most)
{
    int n = 0;

    for (long s = -1; (s = attn_run_frame_after(s, -1, density, steps)) != LONG_MAX;)
        if (++n > most) return false;
    return true;
}

int attn_run_frame_density(int steps, int most)
{
    int density = MOST_FRAMES;

    while (density > 0 && !fits(density, steps, most)) density--;
    return density;
}

/* A model without layers has no maps: of such a run there are neither of the two files. */
static bool has_maps(const struct attn_run *run)
{
    return run->trainer.settings.model.layers > 0;
}

static int most_frames(const struct attn_trainer *t)
{
    const size_t bytes = attn_size_mul(attn_trainer_attention_count(t), sizeof(float));
    const size_t most = MOST_BYTES / bytes;

    return most < MOST_FRAMES ? (int)most : MOST_FRAMES;
}

static long frame_after(const struct attn_run *run, long step)
{
    const struct attn_settings *s = &run->trainer.settings;

    return attn_run_frame_after(step, s->map_every, run->density, s->steps);
}

static bool is_there(const struct attn_run *run, const char *name)
{
    char path[ATTN_RUN_FILE];

    attn_run_path(path, run, name);
    return access(path, F_OK) == 0;
}

static const char *open_maps(struct attn_run *run, size_t frames, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    const size_t T = (size_t)t->data.T;
    const size_t shape[MAP_RANK] = {frames,
                                    (size_t)t->probe.B,
                                    (size_t)t->settings.model.layers,
                                    (size_t)t->settings.model.heads,
                                    T,
                                    T};
    char path[ATTN_RUN_FILE];

    run->map = attn_alloc(attn_trainer_attention_count(t), sizeof *run->map);
    if (!run->map) return attn_fail_memory(e, "attention maps");
    attn_run_path(path, run, MAPS);
    return attn_npy_append_open(&run->maps, path, MAP_RANK, shape, e);
}

const char *attn_run_open_frames(struct attn_run *run, struct attn_error *e)
{
    const struct attn_trainer *t = &run->trainer;
    struct attn_run_rows rows = {FRAMES, "frame\tstep\n", 1, 0};
    const bool anew = t->step == 0 || !is_there(run, PROBE);
    const char *wrong = anew ? attn_run_write_probe(run, e) : NULL;

    run->next_frame = LONG_MAX;
    if (wrong || !has_maps(run)) return wrong;
    run->density = attn_run_frame_density(t->settings.steps, most_frames(t));
    run->next_frame = frame_after(run, -1);
    if (t->step > 0)
        for (; run->next_frame <= t->step; rows.wanted++)
            run->next_frame = frame_after(run, run->next_frame);
    wrong = open_maps(run, (size_t)rows.wanted, e);
    return wrong ? wrong : attn_run_open_rows(&run->frames, run, &rows, e);
}

const char *attn_run_record_frame(struct attn_run *run, struct attn_error *e)
{
    struct attn_text row = {0};
    const char *wrong;

    if (run->trainer.step != run->next_frame) return NULL;
    attn_trainer_attention(&run->trainer, run->map);
    attn_text_print(&row, "%zu\t%ld\n", run->maps.shape[0], run->trainer.step);
    run->next_frame = frame_after(run, run->trainer.step);
    wrong = attn_npy_append_item(&run->maps, run->map, e);
    if (!wrong) return attn_run_append_rows(run->frames, run, FRAMES, &row, e);
    attn_text_free(&row);
    return wrong;
}

const char *attn_run_sync_frames(struct attn_run *run, struct attn_error *e)
{
    const char *wrong = has_maps(run) ? attn_npy_append_sync(&run->maps, e) : NULL;

    return wrong || !has_maps(run) ? wrong : attn_run_sync_rows(run->frames, run, FRAMES, e);
}

void attn_run_close_frames(struct attn_run *run)
{
    attn_npy_append_close(&run->maps);
    attn_free(run->map);
    run->map = NULL;
}
