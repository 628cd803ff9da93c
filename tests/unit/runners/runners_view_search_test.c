/* runners_view_search_test.c: searches a run, and says what it left out. */
#include "runners/view/view.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "tests/support/support.h"

#define RUN "2026-11-20T10-00-00.000001"

enum { LINES = 10000 };

static struct view view;
static cJSON *answer;

/* Makes a run of two tests, the first of which has many lines. */
static void begin(void)
{
    test_folder();
    for (int i = 0; i < 5; i++)
        mkdir(test_path((const char *[]){RUN, RUN "/tests", RUN "/tests/p",
                                         RUN "/tests/p/s.many",
                                         RUN "/tests/p/s.none"}[i]),
              0700);
    test_record_limit(64 << 20);
    for (int i = 0; i < LINES; i++)
        log_trace("line %d of many", i);
    trace_close();
    cr_assert_eq(rename(test_path("recording"),
                        test_path(RUN "/tests/p/s.many/recording")),
                 0);
    test_save(test_path(RUN "/tests/p/s.none/recording.zst"), "damaged", 7);
    snprintf(view.folder, sizeof(view.folder), "%s", test_path(""));
    view.dir = open(view.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
    cJSON_Delete(answer);
    close(view.dir);
}

TestSuite(runners_view_search, .init = begin, .fini = end);

static void search(const char *text, size_t most, uint64_t run_ns,
                   uint64_t recording_ns)
{
    const struct view_wanted wanted = {(char *)RUN, (char *)text, most, run_ns,
                                       recording_ns};
    char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);

    cr_assert_eq(view_search(&view, &wanted, out), 0);
    fclose(out);
    cJSON_Delete(answer);
    answer = cJSON_Parse(json);
    free(json);
}

static void expect(const char *member, double number)
{
    const cJSON *item = cJSON_GetObjectItem(answer, member);

    cr_expect_eq(item ? item->valuedouble : -1, number, "%s: %g", member,
                 item ? item->valuedouble : -1);
}

Test(runners_view_search, finds_lines_of_every_level_up_to_a_number)
{
    search("LINE 4", 20, UINT64_MAX, UINT64_MAX);
    expect("hits", 20);
    expect("unsearched", 1); /* the other test */
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(answer, "full")));
    search("line 4444", 20, UINT64_MAX, UINT64_MAX);
    expect("hits", 1);
    expect("unreadable", 1);
    expect("unsearched", 0);
    expect("cut", 0);
    cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(answer, "full")));
}

Test(runners_view_search, finds_tests_by_name)
{
    search("S/", 20, UINT64_MAX, UINT64_MAX);
    expect("hits", 2);
    search("s/none", 20, UINT64_MAX, UINT64_MAX);
    expect("hits", 1);
}

Test(runners_view_search, ends_when_its_time_is_over)
{
    search("line", LINES, UINT64_MAX, 0);
    expect("cut", 1);
    expect("unsearched", 0);
    search("line", LINES, 0, UINT64_MAX);
    expect("hits", 0);
    expect("unsearched", 2);
}
