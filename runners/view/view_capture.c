/* view_capture.c: captures a running program at the press of a button. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "runners/record/capture_program.h"
#include "runners/runners.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"
#include "view.h"

enum {
    MS_MOST = 100000, /* of the capture and the delay: an answer is limited */
    FLAGS = 8,
    WRITTEN_MOST = 4096, /* bytes of what the command prints */
};

/* ---- Programs ---- */

view_result view_send_programs(const struct view_request *request)
{
    cJSON *document = cJSON_CreateObject(), *list, *one;
    struct listening_program *programs;
    size_t count = capture_find_programs(&programs);
    char *text;

    cJSON_AddNumberToObject(document, "schema", 1);
    list = cJSON_AddArrayToObject(document, "programs");
    for (size_t i = 0; i < count; i++) {
        one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "pid", programs[i].pid);
        cJSON_AddStringToObject(one, "name", programs[i].name);
        cJSON_AddItemToArray(list, one);
    }
    free(programs);
    text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return view_answer_free(request, "application/json", text,
                            text ? strlen(text) : 0);
}

/* ---- What is asked ---- */

/* X(member, flag of testlog capture, its type) */
#define MEMBERS(X)                                                             \
    X("pid", "--pid", cJSON_IsNumber)                                          \
    X("connect", "--connect", cJSON_IsString)                                  \
    X("ms", "--ms", cJSON_IsNumber)                                            \
    X("delay", "--delay", cJSON_IsNumber)                                      \
    X("filter", "--trace-filter", cJSON_IsString)                              \
    X("options", "--trace-options", cJSON_IsString)

/* The member as a flag, to be freed; NULL without memory. The command refuses
 * what is no whole number. */
static char *flag_of(const char *flag, const cJSON *value)
{
    char *text;
    int size = cJSON_IsString(value)
                   ? asprintf(&text, "%s=%s", flag, value->valuestring)
                   : asprintf(&text, "%s=%.15g", flag, value->valuedouble);

    return size < 0 ? NULL : text;
}

/* Adds the flags, up to NULL; false for a member of another type or name. */
static bool read_flags(const cJSON *asked, char *flags[FLAGS])
{
    static const struct {
        const char *name, *flag;
        cJSON_bool (*is_right)(const cJSON *);
    } members[] = {
#define X(member, flag, is_right) {member, flag, is_right},
        MEMBERS(X)
#undef X
    };
    size_t known = 0, count = 1;

    flags[0] = (char *)"capture";
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        const cJSON *value =
            cJSON_GetObjectItemCaseSensitive(asked, members[i].name);

        if (!value)
            continue;
        if (!members[i].is_right(value))
            return false;
        flags[count++] = flag_of(members[i].flag, value);
        known++;
    }
    flags[count] = NULL;
    return cJSON_IsObject(asked) && (int)known == cJSON_GetArraySize(asked);
}

/* Adds what is wrong with the filter, on its first line. The command would
 * ignore a part of it, and say so where nobody looks. */
static void check_filter(const cJSON *asked, struct trace_text *complaints)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(asked, "filter"));

    if (!text)
        return;
    log_filter_free(log_filter_parse(text, NULL, "filter", complaints));
    if (complaints->size)
        complaints->data[strcspn(complaints->data, "\n")] = '\0';
}

static double number_of(const cJSON *asked, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(asked, name);

    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

/* ---- The child ---- */

static int say(FILE *out, const char *member, const char *text)
{
    struct trace_text json = {0};

    trace_json_string(&json, text, strlen(text));
    fprintf(out, "{\"%s\":%s}", member, json.data ? json.data : "\"\"");
    trace_text_free(&json);
    return ferror(out) ? -1 : 0;
}

static int refuse(FILE *out, const char *why)
{
    return say(out, "error", why) ? -1 : 1;
}

/* What the command has written to a file: its last line. */
static const char *last_line(int file, char text[WRITTEN_MOST])
{
    off_t end = lseek(file, 0, SEEK_END);
    off_t from = end > WRITTEN_MOST - 1 ? end - (WRITTEN_MOST - 1) : 0;
    ssize_t size = pread(file, text, WRITTEN_MOST - 1, from);
    char *line;

    while (size > 0 && text[size - 1] == '\n')
        size--;
    text[size > 0 ? size : 0] = '\0';
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* Runs the command in this process. Its output is kept from the answer. */
static int run(char **flags, int *printed, int *complaints)
{
    int answer = dup(STDOUT_FILENO), code;

    *printed = memfd_create("printed", MFD_CLOEXEC);
    *complaints = memfd_create("complaints", MFD_CLOEXEC);
    dup2(*printed, STDOUT_FILENO);
    dup2(*complaints, STDERR_FILENO);
    code = runners_capture.run(flags);
    fflush(stdout);
    dup2(answer, STDOUT_FILENO);
    return code;
}

/* Runs it, and answers with the name of the run, or why there is none. */
static int answer(char **flags, FILE *out)
{
    static const char ours[] = "testlog: capture: ";
    char text[WRITTEN_MOST];
    int printed, complaints;
    const char *line;

    if (!run(flags, &printed, &complaints))
        return say(out, "run", trace_base_name(last_line(printed, text)));
    line = last_line(complaints, text);
    return refuse(out, strncmp(line, ours, strlen(ours)) ? line
                                                         : line + strlen(ours));
}

static int capture(const struct view *view, const void *context, FILE *out)
{
    cJSON *asked = cJSON_ParseWithOpts(context, NULL, true);
    struct trace_text complaints = {0};
    char *flags[FLAGS];

    if (!read_flags(asked, flags))
        return refuse(out, "the request is not one of this page");
    if (number_of(asked, "ms") + number_of(asked, "delay") > MS_MOST)
        return refuse(out, "a capture takes 100 s at most here; use testlog "
                           "capture");
    check_filter(asked, &complaints);
    if (complaints.size)
        return refuse(out, complaints.data);
    setenv("TRACE_DIR", view->folder, 1);
    return answer(flags, out);
}

view_result view_capture(const struct view_request *request)
{
    const struct view_source source = {.write = capture,
                                       .context =
                                           request->body ? request->body : "",
                                       .type = "application/json"};

    return view_render(request, &source);
}
