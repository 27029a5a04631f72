#include "train_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heatmap.h"

enum { MOST_SHOWN = 32, LABEL = 32, SAMPLED = 200 };

void train_show_scores(const struct attn_run *run)
{
    const struct attn_scores *s = &run->scores;
    const double unigram = run->trainer.data.unigram_loss;

    fprintf(stderr, "held-out loss %.4f", s->loss);
    if (isfinite(unigram)) fprintf(stderr, " (unigram %.4f)", unigram);
    fprintf(stderr, ", accuracy %.4f", s->accuracy);
    if (isfinite(s->target_mass))
        fprintf(stderr, ", target mass %.4f (layer %d, head %d)", s->target_mass, s->layer,
                s->head);
    fprintf(stderr, "\n");
}

static void print_map(struct attn_run *run, const float *p, const struct terminal *terminal)
{
    struct attn_trainer *t = &run->trainer;
    const struct attn_batch *b = &t->probe;
    const int T = b->T, shown = T < MOST_SHOWN ? T : MOST_SHOWN;
    const int keys = b->lengths[0] < shown ? b->lengths[0] : shown;
    const size_t head =
        (size_t)run->scores.layer * (size_t)t->settings.model.heads + (size_t)run->scores.head;
    char label[MOST_SHOWN][LABEL];
    const char *labels[MOST_SHOWN];
    float map[MOST_SHOWN * MOST_SHOWN];

    for (int i = 0; i < shown; i++) {
        const float *row = p + (head * (size_t)T + (size_t)i) * (size_t)T;
        memcpy(map + i * keys, row, (size_t)keys * sizeof *map);
        attn_dataset_label(&t->data, b->tokens + i * b->fields, label[i], LABEL);
        labels[i] = label[i];
    }
    fprintf(stderr, "\nattention of one example, layer %d, head %d", run->scores.layer,
            run->scores.head);
    if (shown < T) fprintf(stderr, ", the first %d of %d positions", shown, T);
    fprintf(stderr, "\n");
    heatmap_print(stderr, map, shown, keys, labels, labels, terminal);
}

void train_show_attention(struct attn_run *run, const struct terminal *terminal)
{
    float *p = attn_alloc(attn_trainer_attention_count(&run->trainer), sizeof *p);

    if (!p) {
        fprintf(stderr, "no memory left to show the attention map\n");
        return;
    }
    attn_trainer_attention(&run->trainer, p);
    print_map(run, p, terminal);
    attn_free(p);
}

void train_show_sample(struct attn_run *run)
{
    struct attn_text text = {0};

    if (!isfinite(run->trainer.data.unigram_loss)) return;
    attn_trainer_sample(&run->trainer, SAMPLED, 0.8, &text);
    if (text.failed) {
        fprintf(stderr, "no memory left to show a sample\n");
    } else {
        fprintf(stderr, "\n%d sampled tokens:\n", SAMPLED);
        terminal_print_text(stderr, text.data);
        fprintf(stderr, "\n\n");
    }
    attn_text_free(&text);
}
