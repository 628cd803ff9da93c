/* no_view.c: replaces this folder if libmicrohttpd is missing. */
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "runners/runners.h"

static int run(char **argv)
{
    (void)argv;
    test_log_notice("view: testlog was built without libmicrohttpd: install "
                    "libmicrohttpd-dev and build it again");
    return TEST_LOG_EXIT_USAGE;
}

const struct test_log_command runners_view = {
    .name = "view",
    .help = "show runs in the browser",
    .run = run,
};
