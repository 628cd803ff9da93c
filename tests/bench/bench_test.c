/* bench_test.c: the benchmark runs and writes its measurements. `make bench`
 * judges the times; no test does.
 */
#include "tests/support/support.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>

TestSuite(bench, .init = test_folder);

static const char bench[] = BUILD_DIR "/tests/bench/bench";

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItem(object, name);

    cr_assert_not_null(found, "no \"%s\"", name);
    return found;
}

/* Checks the members of a row or size. */
static void expect_measured(const cJSON *row)
{
    const cJSON *repetitions;

    cr_assert(cJSON_IsString(member(row, "group")));
    cr_assert(cJSON_IsString(member(row, "name")));
    if (!cJSON_IsTrue(member(row, "measured")))
        return;
    repetitions = member(row, "repetitions");
    cr_expect_gt(cJSON_GetArraySize(repetitions), 0);
    cr_expect_gt(member(row, "ns")->valuedouble, 0, "%s",
                 member(row, "name")->valuestring);
}

Test(bench, measures_every_row_in_a_quick_run)
{
    char command[4096];
    const cJSON *row;
    int ours = 0;

    snprintf(command, sizeof(command), "%s --quick --alone --json=%s %s >%s",
             bench, test_path("bench.json"), test_path("."),
             test_path("table"));
    cr_assert_eq(system(command), 0);

    char *text = test_load(test_path("bench.json"), NULL);
    cJSON *json = cJSON_Parse(text);

    cr_assert(cJSON_IsObject(member(json, "host")));
    cr_assert(cJSON_IsObject(member(json, "versions")));
    cr_assert(cJSON_IsString(member(json, "date")));
    cJSON_ArrayForEach(row, member(json, "rows"))
    {
        expect_measured(row);
        ours += cJSON_IsTrue(member(row, "measured"));
    }
    cr_expect_gt(ours, 20);
    cr_expect_gt(cJSON_GetArraySize(member(json, "sizes")), 3);
    cJSON_Delete(json);
    free(text);
}
