/* long_text.c: shortens the texts of failed assertions that Criterion's runner
 * gets. It copies and prints each several times.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/worker/worker.h"
#include "trace/base/strings.h"

enum {
    NOTE_MAX = 128,       /* bytes; so the result is never the longer one */
    KEPT_MAX = 128 << 20, /* bytes of all texts of a test: a loop may fail */
};

/* Returns where the whole text is; NULL: nowhere. */
static const char *keep(const char *file, unsigned line, const char *text,
                        size_t size)
{
    static size_t kept;

    if (__atomic_add_fetch(&kept, size, __ATOMIC_RELAXED) > KEPT_MAX)
        return NULL;
    if (test_log_capture_add(text, size))
        return "output.txt";
    return test_log_record_whole(file, line, text) ? "the recording" : NULL;
}

char *test_log_shorten(const char *file, unsigned line, const char *text)
{
    size_t size = text ? strlen(text) : 0, most;
    struct trace_text shorter = {0};
    const char *whole;

    if (size <= TEST_LOG_TEXT_MAX + NOTE_MAX)
        return NULL;
    most = trace_utf8_boundary(text, TEST_LOG_TEXT_MAX);
    whole = keep(file, line, text, size);
    trace_text_add(&shorter, text, most);
    trace_text_printf(&shorter, "... %zu bytes left out%s%s", size - most,
                      whole ? "; see " : "", whole ? whole : "");
    if (!shorter.failed)
        return shorter.data;
    trace_text_free(&shorter);
    return NULL;
}
