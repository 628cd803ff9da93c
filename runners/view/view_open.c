/* view_open.c: opens the address of testlog view in a browser (--open).
 *
 * All users of the machine see a program's arguments, so the browser gets a
 * file that only this user can read and that leads to the address.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/terminal/terminal.h"
#include "trace/base/text.h"
#include "view.h"

static const char suffix[] = ".html";

void view_open(struct view *view, const char *address)
{
    struct trace_text path = {0};
    FILE *file = NULL;
    int fd = -1;

    trace_text_printf(&path, "%s/.view-XXXXXX%s", view->folder, suffix);
    if (path.data)
        fd = mkostemps(path.data, (int)strlen(suffix), O_CLOEXEC);
    if (fd >= 0)
        view->leading = path.data;
    else
        trace_text_free(&path);
    if (fd >= 0)
        file = fdopen(fd, "w");
    if (file)
        fprintf(file,
                "<!doctype html><meta charset=\"utf-8\"><title>testlog</title>"
                "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
                address);
    if (!file || fclose(file))
        test_log_notice("view: --open: cannot write to %s: %s; open the "
                        "address yourself",
                        view->folder, strerror(errno));
    else
        test_log_open_page(view->leading);
}

void view_end_open(struct view *view)
{
    if (view->leading)
        unlink(view->leading);
    free(view->leading);
    view->leading = NULL;
}
