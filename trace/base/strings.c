/* strings.c: decodes UTF-8 (Unicode 15, table 3-7), and names targets. */
#include "strings.h"

#include <string.h>

#include <testlog/trace.h>

size_t trace_utf8_decode(const char *text, size_t size, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    size_t n = !size                   ? 0
               : s[0] < 0x80           ? 1
               : (s[0] & 0xe0) == 0xc0 ? 2
               : (s[0] & 0xf0) == 0xe0 ? 3
               : (s[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    uint32_t c = !n ? 0 : n == 1 ? s[0] : s[0] & (0x7fu >> n);

    if (n > size)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (!trace_utf8_continues(text[i]))
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *character = c;
    return n;
}

size_t trace_utf8_boundary(const char *text, size_t at)
{
    size_t begin = at;

    while (begin && at - begin < 3 && trace_utf8_continues(text[begin]))
        begin--;
    return trace_utf8_continues(text[begin]) ? at : begin;
}

size_t trace_target(const char *file, char *target, size_t size)
{
    const char *end = strrchr(file, '.'), *slash = strrchr(file, '/');
    size_t length = 0;

    if (file[0] == '/' && slash > file) {
        const char *from = slash;

        while (from > file && from[-1] != '/')
            from--;
        file = from;
    }
    file += file[0] == '/';
    while (!strncmp(file, "./", 2) || !strncmp(file, "../", 3))
        file = strchr(file, '/') + 1;
    if (!end || end <= file || (slash && end < slash))
        end = file + strlen(file);
    for (; file < end && length + 3 < size; file++) {
        if (*file != '/') {
            target[length++] = *file;
        } else {
            target[length++] = ':';
            target[length++] = ':';
        }
    }
    if (size)
        target[length] = '\0';
    return length;
}
