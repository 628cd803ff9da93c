/* tsv.c: cuts lines at tabs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/tsv.h"
#include "trace/base/file.h"

enum { FILE_MOST = 256 << 20 };

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

bool test_log_tsv_each(int fd, size_t most, test_log_tsv_take *take,
                       void *context)
{
    char *columns[TEST_LOG_TSV_COLUMNS], *text = NULL, *rest, *line;
    size_t size, count;

    if (fd >= 0) {
        text = trace_file_bytes(fd, FILE_MOST, &size);
        close(fd);
    }
    rest = text;
    while (rest && *rest && (line = strsep(&rest, "\n"))) {
        count = test_log_tsv_cut(line, columns, most);
        take(context, columns, count);
    }
    free(text);
    return text;
}
