/* no_view.c: replaces this folder if libmicrohttpd is missing. */
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "runners/runners.h"

int runners_view(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    test_log_notice("view: testlog was built without libmicrohttpd: install "
                    "libmicrohttpd-dev and build it again");
    return TEST_LOG_EXIT_USAGE;
}
