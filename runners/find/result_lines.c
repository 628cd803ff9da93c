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

void runners_result_lines(const struct test_log_run *run,
                          bool (*take)(void *context, const struct cJSON *),
                          void *context)
{
    static const char test[] = TEST_LOG_JSONL_TEST;
    int fd = test_log_open(run, "results.jsonl", O_RDONLY);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    bool more = true;

    while (file && more && getline(&line, &room, file) > 0) {
        cJSON *json =
            strncmp(line, test, strlen(test)) ? NULL : cJSON_Parse(line);

        more = !json || take(context, json);
        cJSON_Delete(json);
    }
    free(line);
    if (file)
        fclose(file);
}
