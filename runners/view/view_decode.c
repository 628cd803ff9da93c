/* view_decode.c: decodes the addresses of testlog view. */
#include <stdlib.h>
#include <string.h>

#include "view.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool decode(char *text, bool slashes)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        char c = *from;

        if (c == '%') {
            int high = digit_of(from[1]);
            int low = high < 0 ? -1 : digit_of(from[2]);

            c = (char)(high * 16 + low);
            if (low < 0 || !c || (c == '/' && !slashes))
                return false;
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

bool view_decode(char *path)
{
    return decode(path, false);
}

char *view_argument(const struct view_request *request, const char *name)
{
    const char *value = view_http.lookup_connection_value(
        request->connection, MHD_GET_ARGUMENT_KIND, name);
    char *copy = value ? strdup(value) : NULL;

    if (copy && decode(copy, true))
        return copy;
    free(copy);
    return NULL;
}
