#include "browser.h"

#include <unistd.h>

#include "attn/file.h"
#include "attn/memory.h"
#include "attn/text.h"
#include "test.h"

static char browser[64];
static char *dom, *console;

bool browser_is_there(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};

    for (int i = 0; i < 3 && !*browser; i++)
        if (run("command -v %s", names[i]) == 0) snprintf(browser, sizeof browser, "%s", names[i]);
    if (!*browser) fprintf(stderr, "skipped: chromium is not installed\n");
    return *browser;
}

/* A browser whose clock jumps hardly ever draws by itself, so frames come by the clock too. */
static const char before[] =
    "<script>\n"
    "const lines = [];\n"
    "let copied = '';\n"
    "const say = (name, value) => lines.push(name + '\\n' + value);\n"
    "window.requestAnimationFrame = (draw) => setTimeout(draw, 16);\n"
    "const pass = (ms) => new Promise((done) => setTimeout(done, ms));\n"
    "const press = (key, options) => document.activeElement.dispatchEvent(\n"
    "    new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...options}));\n"
    "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { copied = t; "
    "}}});\n"
    "(async () => {\n";
static const char after[] =
    "\n})().catch((e) => console.error(e)).finally(() => {\n"
    "    const kept = document.createElement('pre');\n"
    "    kept.id = 'kept';\n"
    "    kept.textContent = lines.map((l) => '\\n@@' + l + '\\n@@').join('');\n"
    "    document.querySelectorAll('script').forEach((s) => s.remove());\n"
    "    document.body.append(kept);\n"
    "});\n</script>\n";

/* The page's end stands behind all scripts. */
static void write_copy(const char *copy, const char *page, const char *script)
{
    struct attn_text text = {0};
    struct attn_error e;
    char *data, *end;
    size_t n;

    ck_assert_ptr_null(attn_file_read(&data, &n, page, 1 << 26, &e));
    end = data + n;
    while (end > data && strncmp(end, "</body>", 7) != 0) end--;
    ck_assert(end > data);
    attn_text_add(&text, data, (size_t)(end - data));
    attn_text_add(&text, before, sizeof before - 1);
    attn_text_add(&text, script, strlen(script));
    attn_text_add(&text, after, sizeof after - 1);
    attn_text_add(&text, end, strlen(end));
    ck_assert(!text.failed);
    write_file(copy, text.data, text.size);
    attn_text_free(&text);
    attn_free(data);
}

static char *read_back(const char *directory, const char *name)
{
    char path[4096], *text;
    struct attn_error e;
    size_t n;
    const char *wrong;

    ck_assert(attn_path_join(path, sizeof path, directory, name));
    wrong = attn_file_read(&text, &n, path, 1 << 26, &e);
    ck_assert_msg(!wrong, "%s", wrong ? wrong : "");
    return text;
}

/* What a browser writes for text, back into text, in place. */
static void unescape(char *text)
{
    static const char *const name[] = {"&amp;", "&lt;", "&gt;", "&nbsp;"};
    static const char *const is[] = {"&", "<", ">", "\xc2\xa0"};
    char *to = text;

    while (*text) {
        int i = 0;
        while (i < 4 && strncmp(text, name[i], strlen(name[i])) != 0) i++;
        if (i == 4) {
            *to++ = *text++;
            continue;
        }
        memcpy(to, is[i], strlen(is[i]));
        to += strlen(is[i]);
        text += strlen(name[i]);
    }
    *to = '\0';
}

/* Lines such as "[1:2:3/4.5:INFO:CONSOLE(12)] "words", source: file:// (12)". */
static void keep_console(char *said)
{
    char *to = said;

    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, ":CONSOLE"))
            to += strlen(memmove(to, line, strlen(line) + 1)), *to++ = '\n';
    *to = '\0';
}

void browse_loudly(const char *page, const char *address, int width, int height, const char *script)
{
    const char *directory = scratch_directory();
    char copy[256];
    int code = 0;

    snprintf(copy, sizeof copy, "%s/browsed.html", directory);
    write_copy(copy, page, script);
    attn_free(dom);
    attn_free(console);
    for (int attempt = 0; attempt < 3;
         attempt++) { /* a browser may fail to start on a busy machine */
        code = run("cd '%s' && timeout 100 %s --headless --no-sandbox --disable-gpu "
                   "--disable-dev-shm-usage --no-first-run --user-data-dir='%s/profile' "
                   "--window-size=%d,%d --virtual-time-budget=120000 --enable-logging=stderr "
                   "--dump-dom 'file://%s%s' >dom.txt 2>console.txt",
                   directory, browser, directory, width, height, copy, address);
        if (code == 0 && run("grep -q '</html>' '%s/dom.txt'", directory) == 0) break;
    }
    ck_assert_int_eq(code, 0);
    dom = read_back(directory, "dom.txt");
    console = read_back(directory, "console.txt");
    keep_console(console);
    unescape(dom);
}

void browse(const char *page, const char *address, int width, int height, const char *script)
{
    browse_loudly(page, address, width, height, script);
    ck_assert_msg(!*console, "%s: %s", address, console);
    ck_assert_msg(strstr(dom, "id=\"kept\"") != NULL, "%s: the script did not end", address);
}

const char *browser_console(void)
{
    return console;
}

const char *browser_said(const char *name)
{
    static char *text;
    char mark[128];
    const char *start, *end;

    snprintf(mark, sizeof mark, "\n@@%s\n", name);
    start = strstr(dom, mark);
    ck_assert_msg(start != NULL, "nothing was said of %s", name);
    start += strlen(mark);
    end = strstr(start, "\n@@");
    ck_assert_ptr_nonnull(end);
    free(text);
    text = strndup(start, (size_t)(end - start));
    ck_assert_ptr_nonnull(text);
    return text;
}

void browser_expect(const char *name, const char *want)
{
    ck_assert_msg(strcmp(browser_said(name), want) == 0, "%s: '%s', expected '%s'", name,
                  browser_said(name), want);
}
