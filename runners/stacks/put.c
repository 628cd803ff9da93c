/* put.c: prints lines and frames. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stacks.h"

void stacks_put(const char *format, ...)
{
    char line[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\t')
            *at = ' ';
    puts(line);
}

void stacks_replace_tabs(char *text)
{
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
}

static const char *part_of(const char *text, char *part, size_t size)
{
    snprintf(part, size, "%s", text ? text : "");
    stacks_replace_tabs(part);
    return part;
}

void stacks_put_frame(const struct stacks_frame *frame)
{
    char line[16] = "", function[1024], file[1024], module[1024];

    if (frame->line)
        snprintf(line, sizeof(line), "%d", frame->line);
    stacks_put("frame\t%#" PRIx64 "\t%s\t%s\t%s\t%s\t%#" PRIx64 "\t%s%s",
               frame->address,
               part_of(frame->function, function, sizeof(function)),
               part_of(frame->file, file, sizeof(file)), line,
               part_of(frame->module, module, sizeof(module)), frame->offset,
               frame->inlined ? "i" : "", frame->signal ? "s" : "");
}
