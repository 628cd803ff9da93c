/* run_file.c: reads run.json test by test, so that a run of 100,000 tests needs
 * little memory.
 *
 * testlog writes each test on a line of its own, after the rest. Other files
 * are parsed as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/run/folder/run_folder.h"
#include "run_json.h"

struct run_file {
    FILE *stream;
    cJSON *head;
    cJSON *tests; /* if the tests are parsed already */
    struct trace_text plan;
    char *line;
    size_t room;
    size_t count; /* tests that were read */
    bool whole;
};

/* ---- The head ---- */

/* Takes `"plan":[...],` out of the head, because it may be larger than the
 * rest. */
static bool take_plan(struct run_file *file, size_t size)
{
    static const char name[] = "\"plan\":", end[] = ",\n";
    size_t before = strlen(name), after = strlen(end);

    if (size < before + after || strncmp(file->line, name, before) != 0 ||
        strcmp(file->line + size - after, end) != 0)
        return false;
    trace_text_add(&file->plan, file->line + before, size - before - after);
    return true;
}

/* Reads up to the tests; false if they have no line of their own. */
static bool read_head(struct run_file *file, struct trace_text *text)
{
    static const char tests[] = "\"tests\":[\n";
    ssize_t size;

    while ((size = getline(&file->line, &file->room, file->stream)) > 0) {
        if (!strcmp(file->line, tests)) {
            trace_text_string(text, "\"tests\":[]}");
            return true;
        }
        if (!take_plan(file, (size_t)size))
            trace_text_add(text, file->line, (size_t)size);
    }
    return false;
}

static void parse(struct run_file *file)
{
    struct trace_text text = {0};
    bool streams = read_head(file, &text);

    if (!text.failed && !file->plan.failed && text.size)
        file->head = runners_json_parse(text.data, text.size);
    trace_text_free(&text);
    file->tests = cJSON_DetachItemFromObjectCaseSensitive(file->head, "tests");
    if (streams) {
        cJSON_Delete(file->tests);
        file->tests = NULL;
    } else {
        file->whole = cJSON_IsArray(file->tests);
    }
}

struct run_file *runners_run_file_from(int fd)
{
    struct run_file *file = calloc(1, sizeof(*file));
    struct stat status;

    if (!file || fstat(fd, &status) || status.st_size > RUNNERS_FILE_MOST ||
        !(file->stream = fdopen(fd, "r"))) {
        free(file);
        close(fd);
        errno = EBADMSG;
        return NULL;
    }
    parse(file);
    if (cJSON_IsObject(file->head) && (!feof(file->stream) || file->whole))
        return file;
    runners_run_file_close(file);
    errno = EBADMSG;
    return NULL;
}

struct run_file *runners_run_file_open(const struct test_log_run *run,
                                       const char *name)
{
    int fd = test_log_open(run, name, O_RDONLY);

    return fd < 0 ? NULL : runners_run_file_from(fd);
}

void runners_run_file_close(struct run_file *file)
{
    if (!file)
        return;
    fclose(file->stream);
    cJSON_Delete(file->head);
    cJSON_Delete(file->tests);
    trace_text_free(&file->plan);
    free(file->line);
    free(file);
}

const cJSON *runners_run_file_head(const struct run_file *file)
{
    return file->head;
}

const char *runners_run_file_plan(const struct run_file *file)
{
    return file->plan.data ? file->plan.data : "";
}

/* ---- Tests ---- */

cJSON *runners_run_file_next(struct run_file *file)
{
    ssize_t size;

    if (file->count++ >= RUNNERS_TESTS_MOST) {
        file->whole = false;
        return NULL;
    }
    if (file->tests)
        return cJSON_DetachItemFromArray(file->tests, 0);
    size = file->whole ? 0 : getline(&file->line, &file->room, file->stream);
    if (size <= 0)
        return NULL;
    file->whole = !strcmp(file->line, "]}\n");
    if (file->whole)
        return NULL;
    size -= size > 1 && !strcmp(file->line + size - 2, ",\n") ? 2 : 1;
    return runners_json_parse(file->line, (size_t)size);
}

bool runners_run_file_whole(const struct run_file *file)
{
    return file->whole;
}

int runners_run_file_add(struct run_file *file, struct test_log_run *run)
{
    bool added = true, whole;
    cJSON *test;

    while (added && (test = runners_run_file_next(file))) {
        added = runners_json_add_test(run, test);
        cJSON_Delete(test);
    }
    whole = file->whole;
    runners_run_file_close(file);
    errno = added ? EBADMSG : ENOMEM;
    return added && whole ? 0 : -1;
}
