/* browser.h - a page opened in a real browser, without a window: Debian's chromium. */
#ifndef BROWSER_H
#define BROWSER_H

#include <stdbool.h>

/* False, after saying that the test is skipped: no browser is there. */
bool browser_is_there(void);

/* Opens a copy of the page at this address ("#step=3") in a window of that many pixels, and
 * runs the script behind its own: `say(name, value)` keeps a line, `await pass(milliseconds)`
 * waits (the browser's clock jumps) until what was due is drawn, `press(key, options)` presses one
 * where the focus is, `copied` is what was last copied. When all timers are done the page is read.
 * Fails the test where the page or the script said anything on the console. */
void browse(const char *page, const char *address, int width, int height, const char *script);

/* What was said under a name, as text; fails the test when nothing was. Good until the next call
 * of browse. */
const char *browser_said(const char *name);
void browser_expect(const char *name, const char *want);

/* The console's lines of the last page. browse_loudly is browse without a look at them. */
void browse_loudly(const char *page, const char *address, int width, int height,
                   const char *script);
const char *browser_console(void);

#endif
