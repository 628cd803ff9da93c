/* result_lines.c: reads results.jsonl, which has a line for each test that has
 * ended.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/results/folder/run_folder.h"
#include "harness/results/reports/writers.h"
#include "run_json.h"

static bool is_wanted(const char *line, const char *part)
{
    static const char test[] = TEST_LOG_JSONL_TEST;

    return !strncmp(line, test, strlen(test)) && (!part || strstr(line, part));
}

void runners_result_lines(const struct test_log_run *run, const char *part,
                          bool (*take)(void *context, const struct cJSON *),
                          void *context)
{
    int fd = test_log_open(run, "results.jsonl", O_RDONLY);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    bool more = true;

    while (file && more && getline(&line, &room, file) > 0) {
        cJSON *json = is_wanted(line, part) ? cJSON_Parse(line) : NULL;

        more = !json || take(context, json);
        cJSON_Delete(json);
    }
    free(line);
    if (file)
        fclose(file);
}
