/* order_file.c: reads and writes the numbers of runs.
 *
 * A file contains a decimal number and a newline; one with anything else has no
 * number.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/run/folder/run_order.h"
#include "trace/base/file.h"

/* Every number of so many digits has a successor in 64 bits. */
enum { DIGITS = 18 };

static uint64_t parse(const char *text, size_t size)
{
    uint64_t number = 0;

    if (size < 2 || size > DIGITS + 1 || *text == '0' || text[size - 1] != '\n')
        return 0;
    for (size_t i = 0; i < size - 1; i++) {
        if (!isdigit((unsigned char)text[i]))
            return 0;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number;
}

uint64_t test_log_order_read(int fd)
{
    char text[DIGITS + 2];
    ssize_t size = pread(fd, text, sizeof(text), 0);

    return size < 0 ? 0 : parse(text, (size_t)size);
}

int test_log_order_write(int fd, uint64_t number)
{
    char text[DIGITS + 3];
    int size = snprintf(text, sizeof(text), "%" PRIu64 "\n", number);

    errno = ENOSPC; /* if pwrite writes only a part */
    return pwrite(fd, text, (size_t)size, 0) == size && !ftruncate(fd, size)
               ? 0
               : -1;
}

uint64_t test_log_run_order_of(int folder)
{
    int fd = trace_beneath(folder, TEST_LOG_ORDER, O_RDONLY);
    uint64_t number = fd < 0 ? 0 : test_log_order_read(fd);

    if (fd >= 0)
        close(fd);
    return number;
}
