/* tool_output.c: reads what other tools print. */
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/program/program.h"
#include "import.h"

bool runners_needs(const char *command, const char *program,
                   const char *package)
{
    if (test_log_preflight_program(program))
        return true;
    test_log_notice("%s: needs %s; install the package %s", command, program,
                    package);
    return false;
}

/* The tool's own messages go where ours go. */
FILE *runners_tool_open(const char *const *argv)
{
    struct trace_text command = {0};
    FILE *output;

    for (; *argv; argv++) {
        trace_text_char(&command, ' ');
        test_log_add_word(&command, *argv);
    }
    output = command.failed ? NULL : popen(command.data, "re");
    trace_text_free(&command);
    return output;
}

char *runners_tool_close(FILE *output, const char *program)
{
    char *fault = NULL;

    if (pclose(output) && asprintf(&fault, "%s cannot read it", program) < 0)
        fault = NULL;
    return fault;
}
