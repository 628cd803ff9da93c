/* sanitizer_exit.c: makes sanitizers end a program with an exit code of their
 * own. What they find when it ends, such as leaks, changes the exit code only,
 * to one that failed tests may have, too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "framework_program.h"

enum { SANITIZER_CODE = 87 };

int runners_sanitizer_begin(struct framework_program *program)
{
    static const char *const names[] = {"ASAN_OPTIONS", "LSAN_OPTIONS",
                                        "MSAN_OPTIONS", "TSAN_OPTIONS"};
    int status = 0;

    for (size_t i = 0;
         program->is_sanitized && !status && i < sizeof(names) / sizeof(*names);
         i++) {
        const char *given = getenv(names[i]); /* it wins, because it is last */
        char *variable;

        if (asprintf(&variable, "%s=exitcode=%d%s%s", names[i], SANITIZER_CODE,
                     given ? ":" : "", given ? given : "") < 0)
            return -1;
        status = runners_framework_variable(&program->start, variable, NULL);
        free(variable);
    }
    return status;
}

bool runners_sanitizer_ended(const struct framework_program *program,
                             int status)
{
    return program->is_sanitized && status >= 0 && WIFEXITED(status) &&
           WEXITSTATUS(status) == SANITIZER_CODE;
}
