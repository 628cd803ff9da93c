/* tsv.c: cuts lines at tabs. */
#include <string.h>

#include "harness/machine/tsv.h"

size_t test_log_tsv_cut(char *line, char **columns, size_t most)
{
    char *end = line + strcspn(line, "\n");
    size_t count = 0;

    *end = '\0';
    for (char *next = line; next && count < most; count++) {
        columns[count] = next;
        next = count + 1 < most ? strchr(next, '\t') : NULL;
        if (next)
            *next++ = '\0';
    }
    for (size_t i = count; i < most; i++)
        columns[i] = end;
    return count;
}
