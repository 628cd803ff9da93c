/* harness_list_sites_test.c: --list-sites writes call sites as JSON. */
#include "tests/support/support.h" /* defines TRACING */

#include "harness/criterion/program/program.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static unsigned line_of_event;

static void leave_sites(void)
{
    trace_span(DEBUG, "listed span", ("a", 1), ("\"b\"", 2));
    line_of_event = __LINE__ + 1;
    trace_event(WARN, "listed event");
}

/* Returns the object of the site called `name`, to be deleted. All lines must
 * be objects. */
static cJSON *find(char *lines, const char *name)
{
    cJSON *found = NULL;

    for (char *line; (line = strsep(&lines, "\n")) && lines;) {
        cJSON *site = cJSON_Parse(line);
        const char *own =
            cJSON_GetStringValue(cJSON_GetObjectItem(site, "name"));

        cr_expect(cJSON_IsObject(site), "%s", line);
        if (own && !strcmp(own, name) && !found)
            found = site;
        else
            cJSON_Delete(site);
    }
    cr_assert_not_null(found, "%s", name);
    return found;
}

static cJSON *list(const char *name)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&lines, &size);
    cJSON *site;

    cr_assert_not_null(stream);
    cr_expect_eq(test_log_list_sites(stream), 0);
    fclose(stream);
    site = find(lines, name);
    free(lines);
    return site;
}

static void expect_text(const cJSON *site, const char *member, const char *text)
{
    cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(site, member)),
                     text);
}

Test(harness_list_sites, lists_an_event)
{
    cJSON *site;

    leave_sites();
    site = list("listed event");
    expect_text(site, "kind", "event");
    expect_text(site, "level", "warn");
    expect_text(site, "target",
                "tests::unit::harness::criterion::harness_list_sites_test");
    cr_expect_eq(cJSON_GetObjectItem(site, "line")->valueint, line_of_event);
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(site, "fields")), 0);
    cJSON_Delete(site);
}

Test(harness_list_sites, lists_the_fields_of_a_span)
{
    const cJSON *fields;
    cJSON *site;

    leave_sites();
    site = list("listed span");
    expect_text(site, "kind", "span");
    expect_text(site, "level", "debug");
    fields = cJSON_GetObjectItem(site, "fields");
    cr_assert_eq(cJSON_GetArraySize(fields), 2);
    cr_expect_str_eq(cJSON_GetArrayItem(fields, 0)->valuestring, "a");
    cr_expect_str_eq(cJSON_GetArrayItem(fields, 1)->valuestring, "\"b\"");
    cJSON_Delete(site);
}

Test(harness_list_sites, full_disk_is_a_failure)
{
    FILE *stream = fopen("/dev/full", "w");

    if (!stream)
        cr_skip_test("/dev/full is not here");
    cr_expect_eq(test_log_list_sites(stream), -1);
    cr_expect_eq(errno, ENOSPC);
    fclose(stream);
}

Test(harness_list_sites, missing_memory_is_a_failure)
{
    FILE *stream;
    int status;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    stream = fopen("/dev/null", "w");
    cr_assert_not_null(stream);
    test_fail_memory(1, false);
    status = test_log_list_sites(stream);
    test_fail_memory(0, false);
    cr_expect_eq(status, -1);
    cr_expect_eq(errno, ENOMEM);
    fclose(stream);
}
