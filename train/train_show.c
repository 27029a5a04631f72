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
    if (isfinite(s->accuracy)) fprintf(stderr, ", accuracy %.4f", s->accuracy);
    if (isfinite(s->target_mass))
        fprintf(stderr, ", target mass %.4f (layer %d, head %d)", s->target_mass, s->layer,
                s->head);
    fprintf(stderr, "\n");
}

static int at_most(int n, int most)
{
    return n < most ? n : most;
}

static void print_labels(char label[MOST_SHOWN][LABEL], const char *labels[MOST_SHOWN],
                         const struct attn_trainer *t, int first, int n)
{
    const struct attn_batch *b = &t->probe;

    for (int i = 0; i < n; i++) {
        attn_dataset_label_row(&t->data, b, (size_t)(first + i), label[i], LABEL);
        labels[i] = label[i];
    }
}

/* Of a long example a part: its first keys, and the queries beside them, or where only the
 * first positions can be seen, the last queries, which are those that have to look. */
static void print_map(const struct attn_run *run, const float *p, const struct terminal *terminal)
{
    const struct attn_trainer *t = &run->trainer;
    const int T = t->probe.T, seen = t->probe.lengths[0];
    const int queries = at_most(T, MOST_SHOWN), keys = at_most(seen, MOST_SHOWN);
    const int first = seen < T ? T - queries : 0;
    const size_t head =
        (size_t)run->scores.layer * (size_t)t->settings.model.heads + (size_t)run->scores.head;
    char query[MOST_SHOWN][LABEL], key[MOST_SHOWN][LABEL];
    const char *query_labels[MOST_SHOWN], *key_labels[MOST_SHOWN];
    float map[MOST_SHOWN * MOST_SHOWN];

    for (int i = 0; i < queries; i++)
        memcpy(map + i * keys, p + (head * (size_t)T + (size_t)(first + i)) * (size_t)T,
               (size_t)keys * sizeof *map);
    print_labels(query, query_labels, t, first, queries);
    print_labels(key, key_labels, t, 0, keys);
    fprintf(stderr, "\nattention of one example, layer %d, head %d", run->scores.layer,
            run->scores.head);
    if (queries < T) fprintf(stderr, ", queries %d to %d of %d", first, first + queries - 1, T);
    if (keys < seen) fprintf(stderr, ", keys 0 to %d of %d", keys - 1, seen);
    fprintf(stderr, "\n");
    heatmap_print(stderr, map, queries, keys, query_labels, key_labels, first, terminal);
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
