/* helper.c: an annotated program that tests start. */
#include <stdio.h>
#include <string.h>

#include <testlog/log.h>
#include <testlog/trace.h>

int main(int argc, char **argv)
{
    trace_span(INFO, "helping", ("with", argc > 1 ? argv[1] : "nothing"));
    log_debug("the helper logs");
    puts("the helper prints");
    return argc > 1 && !strcmp(argv[1], "fail");
}
