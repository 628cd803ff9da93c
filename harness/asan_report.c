/* asan_report.c: finds the error and its place in a report of AddressSanitizer,
 * which compiler-rt's asan_report.cpp and sanitizer_symbolizer_report.cpp
 * write.
 */
#include "asan_report.h"

#include <stdio.h>
#include <string.h>

/* Returns the first frame of a report that is not the sanitizer's own, such as
 * "in sum /src/list.c:9", without an end; NULL: there is none. One with a line
 * is sure: clang's runtime has none, and calls a function of its own "free". */
static const char *first_frame(const char *report)
{
    static const char frame[] = "\n    #";
    static const char *const own[] = {" in __interceptor_",  " in __asan_",
                                      " in __sanitizer_",    " in operator new",
                                      " in operator delete", "/libsanitizer/",
                                      "/compiler-rt/"};
    const size_t count = sizeof(own) / sizeof(*own);
    const char *line = strstr(report, frame), *other = NULL;

    while (line && !strncmp(line, frame, sizeof(frame) - 1)) {
        size_t size = 1 + strcspn(line + 1, "\n"), i = 0;
        bool has_line = line[size - 1] != ')'; /* "in sum (/bin/list+0x12)" */
        const char *in = memmem(line, size, " in ", 4);

        while (i < count && !memmem(line, size, own[i], strlen(own[i])))
            i++;
        line += size;
        if (!in || i < count)
            continue;
        if (has_line)
            return in + 1;
        other = other ? other : in + 1;
    }
    return other;
}

bool test_log_asan_reason(const char *report, const char *summary, char *reason,
                          size_t size)
{
    static const char prefix[] = "AddressSanitizer: ";
    const char *own = strstr(report, "\nSUMMARY: ");
    const char *kind = strstr(own ? own : summary, prefix);
    const char *frame = first_frame(report);

    if (!kind)
        return false;
    if (frame)
        snprintf(reason, size, "%.*s %.*s",
                 (int)(strcspn(kind + sizeof(prefix) - 1, " \n") +
                       sizeof(prefix) - 1),
                 kind, (int)strcspn(frame, "\n"), frame);
    else
        snprintf(reason, size, "%.*s", (int)strcspn(kind, "\n"), kind);
    return true;
}
