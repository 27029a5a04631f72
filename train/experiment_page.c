#include "experiment_page.h"

#include <stdio.h>
#include <string.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "experiment_train.h"
#include "study_words.h"

static const char page[] =
#include "experiments.html.inc"
    ;

enum { PICTURE_LIMIT = 8 << 20 };

static void add(struct attn_text *t, const char *s)
{
    attn_text_add(t, s, strlen(s));
}

static void add_escaped(struct attn_text *t, const char *s)
{
    for (; *s; s++) switch (*s) {
        case '<':
            add(t, "&lt;");
            break;
        case '&':
            add(t, "&amp;");
            break;
        case '"':
            add(t, "&quot;");
            break;
        default:
            attn_text_add(t, s, 1);
        }
}

static void add_element(struct attn_text *t, const char *tag, const char *words)
{
    attn_text_print(t, "<%s>", tag);
    add_escaped(t, words);
    attn_text_print(t, "</%s>\n", tag);
}

/* A string, or a list of paragraphs, under a heading. */
static void add_words(struct attn_text *t, const char *heading, const struct attn_json *words)
{
    const struct attn_json *j = words && words->type == ATTN_JSON_ARRAY ? words->first : words;

    if (!j) return;
    add_element(t, "h3", heading);
    for (; j; j = j == words ? NULL : j->next)
        if (j->type == ATTN_JSON_STRING) add_element(t, "p", j->text);
}

static void add_verdict(struct attn_text *t, bool holds)
{
    attn_text_print(t, "<td class=%s</td>\n",
                    holds ? "holds>as expected" : "fails>not as expected");
}

static void add_checks(struct attn_text *t, const struct experiment *x,
                       const struct experiment_outcome *o)
{
    char text[EXPERIMENT_RANGE];

    add(t, "<div class=scroll><table>\n<tr><th>what<th>published<th>seen elsewhere<th>here"
           "<th>expected<th></tr>\n");
    for (int i = 0; i < x->checks; i++) {
        add(t, "<tr>");
        add_element(t, "td", x->check[i].what);
        add_element(t, "td", x->check[i].published);
        add_element(t, "td", x->check[i].seen);
        add_element(t, "td", experiment_found(text, &o->check[i]));
        add_element(t, "td", experiment_range(text, x->check[i].least, x->check[i].most));
        add_verdict(t, o->check[i].holds);
        add(t, "</tr>\n");
    }
    add(t, "</table></div>\n");
}

/* As a picture of its own, so that names inside do not meet those of others. */
static void add_picture(struct attn_text *t, const struct experiment *x, const char *folder)
{
    char path[4096], name[EXPERIMENT_NAME + 8], *svg;
    struct attn_error e;
    size_t size;

    snprintf(name, sizeof name, "%s.svg", x->name);
    if (!attn_path_join(path, sizeof path, folder, name) ||
        attn_file_read(&svg, &size, path, PICTURE_LIMIT, &e))
        return;
    add(t, "<p><img alt=\"");
    add_escaped(t, x->title);
    add(t, "\" src=\"data:image/svg+xml,");
    for (size_t i = 0; i < size; i++)
        if (strchr("%#\"<>&'\n?", svg[i]) || (unsigned char)svg[i] >= 0x7f)
            attn_text_print(t, "%%%02x", (unsigned)(unsigned char)svg[i]);
        else
            attn_text_add(t, svg + i, 1);
    add(t, "\"></p>\n");
    attn_free(svg);
}

static void add_commands(struct attn_text *t, const struct experiment *x, int64_t seed)
{
    struct attn_text words = {0};

    add(t, "<h3>The runs</h3>\n<pre>");
    for (int i = 0; i < x->runs; i++) {
        struct attn_settings s = x->run[i].settings;
        s.seed = seed;
        words.size = 0;
        experiment_words(&words, &s, ' ');
        if (words.failed) t->failed = true;
        if (words.failed) break;
        attn_text_print(t, "%s-%lld: %s", x->run[i].name, (long long)seed, x->program);
        add_escaped(t, words.data);
        if (x->run[i].from >= 0)
            attn_text_print(t, "   (with the weights of %s-%lld)", x->run[x->run[i].from].name,
                            (long long)seed);
        add(t, "\n");
    }
    add(t, "</pre>\n");
    attn_text_free(&words);
}

static void add_section(struct attn_text *t, const struct experiment *x,
                        const struct experiment_outcome *o, const char *folder, int64_t seed)
{
    attn_text_print(t, "<section id=\"%s\">\n<nav><a href=\"#\">All experiments</a></nav>\n",
                    x->name);
    add_element(t, "h2", x->title);
    if (*x->source) {
        add(t, "<p class=source>");
        add_escaped(t, x->source);
        add(t, "</p>\n");
    }
    add_words(t, "The question", attn_json_member(x->root, "question"));
    add_words(t, "The setting", attn_json_member(x->root, "setting"));
    add_words(t, "What was expected", attn_json_member(x->root, "expected"));
    if (o->skipped) {
        add_element(t, "h3", "What came out");
        add_element(t, "p", o->skipped);
    } else {
        add(t, "<h3>What came out</h3>\n");
        if (x->seeds > 1)
            attn_text_print(t, "<p>For seeds %lld to %lld, least and most.</p>\n", (long long)seed,
                            (long long)seed + x->seeds - 1);
        add_checks(t, x, o);
        if (o->drawn) add_picture(t, x, folder);
        add_words(t, "What it says", attn_json_member(x->root, "lesson"));
    }
    add_commands(t, x, seed);
    add(t, "</section>\n");
}

/* How many checks hold. */
static int held(const struct experiment *x, const struct experiment_outcome *o)
{
    int n = 0;

    for (int i = 0; i < x->checks; i++) n += o->check[i].holds;
    return n;
}

static void add_index(struct attn_text *t, const struct experiment *x,
                      const struct experiment_outcome *o, int n, int64_t seed)
{
    add(t, "<div id=all>\n<h1>Experiments on attention</h1>\n");
    attn_text_print(t,
                    "<p>Known results on how attention learns, trained again with seed %lld "
                    "and held against what was published.</p>\n<div class=scroll><table>\n",
                    (long long)seed);
    add(t, "<tr><th>experiment<th>source<th>checks<th></tr>\n");
    for (int i = 0; i < n; i++) {
        attn_text_print(t, "<tr><td><a href=\"#%s\">", x[i].name);
        add_escaped(t, x[i].title);
        add(t, "</a>");
        add_element(t, "td", x[i].source);
        if (o[i].skipped) {
            add(t, "<td colspan=2>");
            add_escaped(t, o[i].skipped);
        } else {
            attn_text_print(t, "<td>%d of %d</td>", held(&x[i], &o[i]), x[i].checks);
            add_verdict(t, o[i].holds);
        }
        add(t, "</tr>\n");
    }
    add(t, "</table></div>\n</div>\n");
}

const char *experiment_page(const struct experiment *x, const struct experiment_outcome *o, int n,
                            const char *folder, int64_t seed, struct attn_error *e)
{
    static const char mark[] = "<!--pages-->\n";
    const char *place = strstr(page, mark), *wrong;
    struct attn_text t = {0};
    char path[4096];

    attn_text_add(&t, page, (size_t)(place - page));
    add_index(&t, x, o, n, seed);
    for (int i = 0; i < n; i++) add_section(&t, &x[i], &o[i], folder, seed);
    add(&t, place + strlen(mark));
    if (!attn_path_join(path, sizeof path, folder, "report.html"))
        wrong = attn_fail(e, ATTN_CANNOT_WRITE, "%.200s...: path too long", folder);
    else
        wrong =
            t.failed ? attn_fail_memory(e, "the report") : attn_file_write(path, t.data, t.size, e);
    attn_text_free(&t);
    return wrong;
}
