#include "xml.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "attn/text.h"

enum { DEEPEST = 64, ATTRIBUTES = 32 };

struct reader {
    const char *at, *begin, *end;
    struct {
        const char *name;
        size_t length;
    } open[DEEPEST];
    int depth;
    bool root; /* has been seen */
    const char *wrong;
};

static bool fail(struct reader *r, const char *why)
{
    if (!r->wrong) r->wrong = why;
    return false;
}

static bool starts(const struct reader *r, const char *word)
{
    return (size_t)(r->end - r->at) >= strlen(word) && memcmp(r->at, word, strlen(word)) == 0;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at)) r->at++;
}

static bool skip_to(struct reader *r, const char *word)
{
    while (r->at < r->end && !starts(r, word)) r->at++;
    if (r->at == r->end) return fail(r, "a part without its end");
    r->at += strlen(word);
    return true;
}

static size_t take_name(struct reader *r)
{
    const char *from = r->at;

    while (r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("_:-.", *r->at))) r->at++;
    return (size_t)(r->at - from);
}

/* &lt; or &#8217; */
static bool take_entity(struct reader *r)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};

    for (int i = 0; i < 5; i++)
        if (starts(r, known[i])) {
            r->at += strlen(known[i]);
            return true;
        }
    if (!starts(r, "&#")) return fail(r, "an entity that is not known");
    r->at += 2;
    if (take_name(r) == 0 || r->at == r->end || *r->at++ != ';')
        return fail(r, "a number's entity");
    return true;
}

static bool take_character(struct reader *r)
{
    int32_t code;

    if (*r->at == '&') return take_entity(r);
    code = attn_utf8_next(&r->at, r->end);
    if (code < 0) return fail(r, "no UTF-8");
    if ((code < ' ' && !strchr("\t\r\n", code)) || code == 0xfffe || code == 0xffff)
        return fail(r, "a character that XML forbids");
    return true;
}

static bool take_attribute(struct reader *r)
{
    char quote;

    if (take_name(r) == 0) return fail(r, "no name of an attribute");
    skip_blanks(r);
    if (r->at == r->end || *r->at++ != '=') return fail(r, "an attribute without =");
    skip_blanks(r);
    quote = r->at < r->end ? *r->at++ : 0;
    if (quote != '"' && quote != '\'') return fail(r, "an attribute without quotes");
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '<') return fail(r, "< in an attribute");
        if (!take_character(r)) return false;
    }
    if (r->at == r->end) return fail(r, "an attribute without its end");
    r->at++;
    return true;
}

static bool take_attributes(struct reader *r)
{
    const char *name[ATTRIBUTES];
    size_t length[ATTRIBUTES];

    for (int n = 0;; n++) {
        const char *before = r->at;
        skip_blanks(r);
        if (r->at < r->end && (*r->at == '>' || *r->at == '/')) return true;
        if (n == ATTRIBUTES || before == r->at) return fail(r, "no blank before an attribute");
        name[n] = r->at;
        if (!take_attribute(r)) return false;
        length[n] = strcspn(name[n], " \t\r\n=");
        for (int i = 0; i < n; i++)
            if (length[i] == length[n] && memcmp(name[i], name[n], length[n]) == 0)
                return fail(r, "an attribute twice");
    }
}

static bool take_open(struct reader *r)
{
    const char *name = ++r->at;
    const size_t length = take_name(r);

    if (length == 0) return fail(r, "< without a name");
    if (r->depth == 0 && r->root) return fail(r, "a second root");
    r->root = true;
    if (!take_attributes(r)) return false;
    if (starts(r, "/>")) {
        r->at += 2;
        return true;
    }
    if (*r->at != '>') return fail(r, "a tag without >");
    r->at++;
    if (r->depth == DEEPEST) return fail(r, "too deep");
    r->open[r->depth].name = name;
    r->open[r->depth++].length = length;
    return true;
}

static bool take_close(struct reader *r)
{
    const char *name = r->at += 2;
    const size_t length = take_name(r);

    if (r->depth == 0 || r->open[r->depth - 1].length != length ||
        memcmp(r->open[r->depth - 1].name, name, length) != 0)
        return fail(r, "an end without its beginning");
    r->depth--;
    skip_blanks(r);
    if (r->at == r->end || *r->at++ != '>') return fail(r, "an end tag without >");
    return true;
}

static bool take_part(struct reader *r)
{
    if (starts(r, "<!--")) return skip_to(r, "-->");
    if (starts(r, "<![CDATA[")) return skip_to(r, "]]>");
    if (starts(r, "<?")) return skip_to(r, "?>");
    if (starts(r, "<!")) return skip_to(r, ">");
    if (starts(r, "</")) return take_close(r);
    if (starts(r, "<")) return take_open(r);
    if (r->depth == 0 && !strchr(" \t\r\n", *r->at)) return fail(r, "text outside of the root");
    return take_character(r);
}

const char *xml_fault(const char *text, size_t n)
{
    static char message[128];
    struct reader r = {.at = text, .begin = text, .end = text + n};

    while (r.at < r.end && take_part(&r)) continue;
    if (!r.wrong && r.depth > 0) r.wrong = "the end comes too early";
    if (!r.wrong && !r.root) r.wrong = "nothing is there";
    if (!r.wrong) return NULL;
    snprintf(message, sizeof message, "byte %td: %s", r.at - r.begin, r.wrong);
    return message;
}

/* A word of its own: "-nan,3" holds one, "finance" does not. */
static bool holds(const char *value, size_t n, const char *word)
{
    const size_t m = strlen(word);

    for (size_t i = 0; i + m <= n; i++)
        if (strncasecmp(value + i, word, m) == 0 &&
            (i == 0 || !isalpha((unsigned char)value[i - 1])) &&
            (i + m == n || !isalpha((unsigned char)value[i + m])))
            return true;
    return false;
}

const char *xml_bad_number(const char *text)
{
    static char found[64];

    for (const char *at = text; (at = strpbrk(at, "<")) != NULL;) {
        const char *tag_end = strchr(at, '>');
        if (!tag_end) return NULL;
        while (at < tag_end) {
            const size_t n = strcspn(at + 1, "'\"");
            if ((*at == '\'' || *at == '"') && at + 1 + n <= tag_end) {
                if (holds(at + 1, n, "nan") || holds(at + 1, n, "inf")) {
                    snprintf(found, sizeof found, "%.*s", (int)(n < 60 ? n : 60), at + 1);
                    return found;
                }
                at += n + 1;
            }
            at++;
        }
    }
    return NULL;
}
