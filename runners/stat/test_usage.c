/* test_usage.c: adds the usage of tests in run.json to their sums. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/run/model/model.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "stat.h"

/* Repetitions and tries are tests of their own here, as their recordings are.
 */
static struct sum *find(const struct sums *sums,
                        const struct test_log_result *result)
{
    const struct sum like = {
        .texts = {[STAT_NAME] = (char *)test_log_name(result),
                  [STAT_PROGRAM] = result->program}};

    return (struct sum *)runners_sums_like(sums, &like);
}

static bool take(void *context, const cJSON *test)
{
    struct test_log_run one = {.path = NULL};
    const struct test_log_result *result = runners_json_add_test(&one, test);
    struct sum *sum = result ? find(context, result) : NULL;

    if (sum)
        sum->usage = result->usage;
    test_log_run_free(&one);
    return true;
}

void runners_usage_read(struct sums *sums, const char *where)
{
    const struct test_log_run run = {.path = (char *)where};

    runners_read_each(&run, take, sums);
}
