/* filter.c: testlog filter: what a filter means, and what it makes of programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <testlog/log.h>

#include "harness/harness.h"
#include "runners.h"

static void usage(void)
{
    puts("Usage: testlog filter FILTER [PROGRAM...]\n"
         "       testlog filter --batch [--strict] <CASES\n\n"
         "Says in words what FILTER means; for each test PROGRAM lists its "
         "call sites,\nwhich of them are on, and by which directives. Exits "
         "with 2 if a directive\ncannot be read.\n\n"
         "  --batch   answers cases, one a line: FILTER, LEVEL, TARGET, SPANS, "
         "FIELDS\n"
         "  --strict  a bad directive makes the answer E, with the reason\n");
}

/* ---- The call sites of a program ---- */

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    return text ? text : "";
}

static size_t fields_of(const cJSON *object, const char **names)
{
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, "fields"))
    {
        if (cJSON_IsString(item) && count < 255)
            names[count++] = item->valuestring;
    }
    return count;
}

/* What is counted of a program. */
struct counts {
    size_t sites, on, sometimes;
};

static const char *const states[] = {
    [LOG_STATE_OFF] = "off",
    [LOG_STATE_ON] = "on",
    [LOG_STATE_SOMETIMES] = "sometimes",
};

/* "store.c:12  span \"put\" {key, size}" */
static void put_place(const cJSON *object, const struct trace_site *site)
{
    printf("%s:%u  %s", site->file, site->line,
           site->kind == TRACE_SITE_SPAN ? "span" : "event");
    if (cJSON_HasObjectItem(object, "name")) {
        struct trace_text name = {0};

        trace_json_string(&name, site->name, strlen(site->name));
        printf(" %s", name.data ? name.data : "");
        trace_text_free(&name);
    }
    for (size_t i = 0; i < site->field_count; i++)
        printf("%s%s%s", i ? ", " : " {", site->fields[i],
               i + 1 == site->field_count ? "}" : "");
}

static void put_site(struct log_filter *filter, const cJSON *object,
                     struct counts *counts)
{
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(object, "line");
    const char *names[256], *level = text_of(object, "level");
    struct trace_text why = {0};
    struct trace_site site = {.name = text_of(object, "name"),
                              .target = text_of(object, "target"),
                              .file = text_of(object, "file"),
                              .fields = names};
    enum log_state state;

    site.field_count = (uint8_t)fields_of(object, names);
    site.line = cJSON_IsNumber(line) ? (uint32_t)line->valueint : 0;
    site.kind = !strcmp(text_of(object, "kind"), "span") ? TRACE_SITE_SPAN
                                                         : TRACE_SITE_EVENT;
    while (strcmp(trace_level_word(site.level), level) != 0 &&
           site.level < TRACE_LEVEL_TRACE)
        site.level++;
    if (!cJSON_HasObjectItem(object, "name"))
        site.name = NULL; /* not known yet */
    state = log_filter_judge(filter, &site, &why);
    log_filter_seen(filter, &site);
    printf("  %-9s  %-5s  %s  ", states[state], level, site.target);
    put_place(object, &site);
    if (why.size)
        printf("   by %s", why.data);
    putchar('\n');
    trace_text_free(&why);
    counts->sites++;
    counts->on += state == LOG_STATE_ON;
    counts->sometimes += state == LOG_STATE_SOMETIMES;
}

/* Starts `program --list-sites`; returns where its answer is read. */
static FILE *ask(const char *program, pid_t *pid)
{
    int ends[2];

    if (access(program, X_OK) || pipe(ends))
        return NULL;
    fflush(NULL);
    *pid = fork();
    if (!*pid) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp(program, program, "--list-sites", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (*pid > 0)
        return fdopen(ends[0], "re");
    close(ends[0]);
    return NULL;
}

static int refuse(const char *program, const char *why)
{
    fprintf(stderr, "testlog: filter: %s: %s\n", program, why);
    return TEST_LOG_USAGE;
}

static int put_program(struct log_filter *filter, const char *program)
{
    struct counts counts = {0};
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    pid_t pid;
    FILE *answer = ask(program, &pid);

    if (!answer)
        return refuse(program, strerror(errno));
    printf("\n%s\n", program);
    while (getline(&line, &room, answer) > 0) {
        cJSON *object = cJSON_Parse(line);

        if (cJSON_HasObjectItem(object, "level"))
            put_site(filter, object, &counts);
        cJSON_Delete(object);
    }
    free(line);
    fclose(answer);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status)
        return refuse(program, "it does not list its call sites; is it a test "
                               "program, linked with -ltestlog?");
    printf("  %zu call sites: %zu on, %zu sometimes, %zu off\n", counts.sites,
           counts.on, counts.sometimes,
           counts.sites - counts.on - counts.sometimes);
    if (!counts.sites)
        puts("  There are none in a program built without -DTRACING; those of "
             "C++ are known\n  only once they are used.");
    return TEST_LOG_PASSED;
}

/* ---- The filter ---- */

static void explain(const struct log_filter *filter)
{
    struct trace_text text = {0};

    log_filter_explain(filter, &text);
    if (text.data)
        fputs(text.data, stdout);
    else
        puts("  no directive: the default applies");
    trace_text_free(&text);
    printf("The most verbose level that it can show is %s.\n",
           trace_level_word(log_filter_hint(filter)));
}

static void put_unseen(const struct log_filter *filter)
{
    const char *directive;
    size_t from = 0;

    while ((directive = log_filter_unseen(filter, &from)))
        printf("%s is about none of these call sites.\n", directive);
}

static int show(const char *text, int count, char **programs)
{
    struct trace_text complaints = {0};
    struct log_filter *filter =
        log_filter_parse(text, "info", "FILTER", &complaints);
    int code = TEST_LOG_PASSED;

    if (!filter)
        return refuse(text, strerror(ENOMEM));
    if (complaints.size) {
        fprintf(stderr, "testlog: %s", complaints.data);
        code = TEST_LOG_USAGE;
    }
    explain(filter);
    for (int i = 0; i < count; i++)
        if (put_program(filter, programs[i]))
            code = TEST_LOG_USAGE;
    if (count)
        put_unseen(filter);
    trace_text_free(&complaints);
    log_filter_free(filter);
    return code;
}

int runners_filter(int argc, char **argv)
{
    bool batch = false, strict = false;
    int i = 1;

    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--help")) {
            usage();
            return TEST_LOG_PASSED;
        }
        if (!strcmp(argv[i], "--batch"))
            batch = true;
        else if (!strcmp(argv[i], "--strict"))
            strict = true;
        else
            return refuse(argv[i], "unknown flag; testlog filter --help lists "
                                   "all");
    }
    if (batch && i == argc)
        return runners_batch(strict);
    if (batch || strict)
        return refuse(batch ? "--batch" : "--strict",
                      batch ? "it reads standard input and takes no filter"
                            : "it goes with --batch");
    if (i < argc)
        return show(argv[i], argc - i - 1, argv + i + 1);
    return refuse("no filter", "write one: testlog filter 'info,net=debug'");
}
