#include "plot_maps.h"

#include <stdio.h>

int plot_maps_columns(int panels)
{
    if (panels <= 1) return 1;
    if (panels == 2 || panels == 4) return 2;
    return panels <= 6 ? 3 : 4;
}

void plot_maps_begin(struct attn_text *t, const struct plot_maps *m, const char *file)
{
    const int all = m->pages * m->panels;

    attn_text_print(t, "svg = %d\ngif = %d\nfile = ", m->form == PLOT_SVG, m->form == PLOT_GIF);
    plot_print_quoted(t, file);
    attn_text_print(t, "first_key = %d\nlast_key = %d\n", m->first_key, m->last_key);
    attn_text_print(t, "queries = %d\nkeys = %d\npages = %d\npanels = %d\ncolumns = %d\n",
                    m->queries, m->keys, m->pages, m->panels, m->columns);
    attn_text_print(t, "coefficients = %d\nfull = ", m->coefficients);
    attn_text_number(t, m->full, 9);
    attn_text_print(t, "\narray page_title[%d]\narray place[%d]\narray caption[%d]\n", m->pages,
                    all + 1, all + 1);
}

void plot_maps_page(struct attn_text *t, int page, const char *title, struct plot_fonts *fonts)
{
    char name[32];

    snprintf(name, sizeof name, "page_title[%d]", page + 1);
    plot_print_words(t, name, title, fonts);
}

void plot_maps_panel(struct attn_text *t, const struct plot_maps *m, int page, int panel,
                     size_t skip, const char *caption)
{
    const int index = page * m->panels + panel + 1;

    /* With a point: whole numbers of gnuplot may be of 32 bits. */
    attn_text_print(t, "place[%d] = %zu.0\ncaption[%d] = ", index, skip, index);
    plot_print_quoted(t, caption);
}

void plot_tokens_add(struct plot_tokens *p, int i, const char *field)
{
    const int columns = plot_label(p->label[i], field, &p->fonts);

    if (columns > p->columns) p->columns = columns;
    if (i >= p->count) p->count = i + 1;
}

void plot_tokens_right(struct plot_tokens *p, int key, int query)
{
    attn_text_print(&p->right, "%d %d\n", key, query);
    p->rights++;
}

void plot_maps_tokens(struct attn_text *t, const struct plot_tokens *p)
{
    attn_text_print(t, "labels = %d\nlabel_columns = %d\n", p->count, p->columns);
    if (p->count) attn_text_print(t, "array label[%d]\n", p->count);
    for (int i = 0; i < p->count; i++) {
        attn_text_print(t, "label[%d] = ", i + 1);
        plot_print_quoted(t, p->label[i]);
    }
    attn_text_print(t, "rights = %ld\n$right << end_of_right\n", p->rights);
    if (p->rights) attn_text_add(t, p->right.data, p->right.size);
    attn_text_print(t, "end_of_right\n");
    if (p->right.failed) t->failed = true;
}
