/* put.c: prints lines and frames. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

static const char *known(const char *text)
{
    return text ? text : "";
}

void stacks_put_frame(const struct stacks_frame *frame)
{
    char line[16] = "";

    if (frame->line)
        snprintf(line, sizeof(line), "%d", frame->line);
    stacks_put("frame\t%#" PRIx64 "\t%s\t%s\t%s\t%s\t%#" PRIx64 "\t%s%s",
               frame->address, known(frame->function), known(frame->file), line,
               known(frame->module), frame->offset, frame->inlined ? "i" : "",
               frame->signal ? "s" : "");
}
