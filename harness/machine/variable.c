/* variable.c: reads environment variables. */
#include <stdlib.h>

#include "harness/machine/notice.h"

const char *test_log_variable(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}
