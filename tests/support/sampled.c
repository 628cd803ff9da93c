/* sampled.c: what tests ask of the samples of a run. */
#include "sampled.h"

#include "e2e.h"
#include "support.h"

#include <criterion/criterion.h>
#include <stdlib.h>

double e2e_sampled(const char *test, const char *pattern)
{
    const struct e2e *run =
        e2e_run("'" BUILD_DIR "/testlog' export testlog-runs/latest %s "
                "--folded=samples | awk '/%s/ { n += $NF } "
                "END { print n / 1e6 }'",
                test, pattern);

    e2e_expect_code(run, 0);
    return atof(run->out);
}

void e2e_expect_share(const char *test, const char *some, const char *rest,
                      double percent)
{
    double a = e2e_sampled(test, some), b = e2e_sampled(test, rest);

    cr_expect_gt(a + b, 100, "%s: %f ms", test, a + b);
    cr_expect_float_eq(100 * a / (a + b), percent, 5, "%s: %f %%", test,
                       100 * a / (a + b));
}
