/* result_lines.c: reads results.jsonl, which has a line for each test that has
 * ended.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
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
    struct stat status;
    size_t room = 0, count = 0;
    char *line = NULL;
    ssize_t size;
    bool more =
        file && !fstat(fd, &status) && status.st_size <= RUNNERS_FILE_MOST;

    while (more && count++ < RUNNERS_TESTS_MOST &&
           (size = getline(&line, &room, file)) > 0) {
        cJSON *json = is_wanted(line, part)
                          ? runners_json_parse(line, (size_t)size)
                          : NULL;

        more = !json || take(context, json);
        cJSON_Delete(json);
    }
    free(line);
    if (file)
        fclose(file);
}
