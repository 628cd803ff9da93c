/* exception.c: prints the exception that a test's process has noted. */
#include <stdio.h>
#include <string.h>

#include "stacks.h"

enum { PAGE = 4096, TEXT_MAX = 1024 };

/* Reads a string of a process, without control characters, and cut with dots if
 * it is too long; "" if it cannot be read. */
static void read_string(pid_t process, uint64_t address, char text[TEXT_MAX])
{
    size_t size = 0;

    while (address && size + 1 < TEXT_MAX) {
        size_t part = PAGE - (address + size) % PAGE;

        if (part > TEXT_MAX - 1 - size)
            part = TEXT_MAX - 1 - size;
        if (!stacks_copy(process, address + size, text + size, part))
            break;
        size += part;
        if (memchr(text + size - part, '\0', part))
            break;
    }
    text[size] = '\0';
    if (size + 1 == TEXT_MAX)
        memcpy(text + size - 3, "...", 3);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

void stacks_put_exception(const struct stacks_exception *exception,
                          pid_t process)
{
    char type[TEXT_MAX], text[TEXT_MAX];

    read_string(process, exception->type, type);
    read_string(process, exception->text, text);
    if (type[0])
        stacks_put("exception\t%s\t%s", type, text);
}
