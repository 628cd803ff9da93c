/* filter.c: testlog filter: explains a filter, and lists what it switches on in
 * programs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <testlog/log.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/text.h"

/* ---- The call sites of a program ---- */

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    return text ? text : "";
}

/* A call site, and whether the filter switches it on. */
struct listed {
    cJSON *object; /* the other members point into it */
    const char *names[256];
    struct trace_site site;
    enum log_state state;
    struct trace_text why;
};

struct list {
    struct listed *sites;
    size_t count, capacity;
    size_t in[LOG_STATE_SOMETIMES + 1]; /* each state */
};

static const char *const states[] = {
    [LOG_STATE_OFF] = "off",
    [LOG_STATE_ON] = "on",
    [LOG_STATE_SOMETIMES] = "sometimes",
};

static void read_site(struct listed *listed)
{
    const cJSON *object = listed->object;
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(object, "line");
    const char *level = text_of(object, "level");
    struct trace_site *site = &listed->site;
    const cJSON *item;

    if (cJSON_HasObjectItem(object, "name")) /* otherwise unknown so far */
        site->name = text_of(object, "name");
    site->target = text_of(object, "target");
    site->file = text_of(object, "file");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, "fields"))
    {
        if (cJSON_IsString(item) && site->field_count < 255)
            listed->names[site->field_count++] = item->valuestring;
    }
    site->line = cJSON_IsNumber(line) ? (uint32_t)line->valueint : 0;
    site->kind = !strcmp(text_of(object, "kind"), "span") ? TRACE_SITE_SPAN
                                                          : TRACE_SITE_EVENT;
    while (strcmp(trace_level_word(site->level), level) != 0 &&
           site->level < TRACE_LEVEL_TRACE)
        site->level++;
}

/* Adds the call site of a line of JSON. */
static void add_site(struct list *list, const char *line)
{
    cJSON *object = cJSON_Parse(line);

    if (!TRACE_ARRAY_RESERVE(list->sites, list->capacity, list->count + 1) ||
        !cJSON_HasObjectItem(object, "level")) {
        cJSON_Delete(object);
        return;
    }
    list->sites[list->count++] = (struct listed){.object = object};
}

static int by_place(const void *a, const void *b)
{
    const struct trace_site *x = &((const struct listed *)a)->site;
    const struct trace_site *y = &((const struct listed *)b)->site;
    int order = strcmp(x->file, y->file);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* "store.c:12  span "put" {key, size}"; a counter's name is its field's. */
static void put_place(const struct listed *listed)
{
    const char *kind = text_of(listed->object, "kind");
    const struct trace_site *site = &listed->site;
    bool counts = !strcmp(kind, "counter") && site->field_count;
    const char *name = counts ? site->fields[0] : site->name;
    struct trace_text quoted = {0};

    if (name)
        trace_json_string(&quoted, name, strlen(name));
    printf("%s:%u  %s %s", site->file, site->line, kind,
           quoted.data ? quoted.data : "");
    trace_text_free(&quoted);
    for (size_t i = 0; !counts && i < site->field_count; i++)
        printf("%s%s%s", i ? ", " : " {", site->fields[i],
               i + 1 == site->field_count ? "}" : "");
}

static void put_sites(const struct list *list)
{
    int width = 0;

    for (size_t i = 0; i < list->count; i++)
        if (width < (int)strlen(list->sites[i].site.target))
            width = (int)strlen(list->sites[i].site.target);
    for (size_t i = 0; i < list->count; i++) {
        const struct listed *listed = &list->sites[i];

        printf("  %-9s  %-5s  %-*s  ", states[listed->state],
               trace_level_word(listed->site.level), width,
               listed->site.target);
        put_place(listed);
        if (listed->why.size)
            printf("  <- %s", listed->why.data);
        putchar('\n');
    }
    printf("  %zu call sites: %zu on, %zu sometimes, %zu off\n", list->count,
           list->in[LOG_STATE_ON], list->in[LOG_STATE_SOMETIMES],
           list->in[LOG_STATE_OFF]);
    if (!list->count)
        puts("  A program built without -DTRACING has none. Call sites of C++ "
             "code are not found if\n  the program is stripped.");
}

/* Each instance of a C++ template has call sites of its own. */
static void fold_instances(struct list *list)
{
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++) {
        cJSON *object = list->sites[i].object;

        if (left && cJSON_Compare(object, list->sites[left - 1].object, true))
            cJSON_Delete(object);
        else
            list->sites[left++] = list->sites[i];
    }
    list->count = left;
}

static void judge(struct log_filter *filter, struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        read_site(&list->sites[i]);
    if (list->count)
        qsort(list->sites, list->count, sizeof(*list->sites), by_place);
    fold_instances(list);
    for (size_t i = 0; i < list->count; i++) {
        struct listed *listed = &list->sites[i];

        listed->site.fields = listed->names; /* it has moved */
        listed->state = log_filter_judge(filter, &listed->site, &listed->why);
        list->in[listed->state]++;
        log_filter_seen(filter, &listed->site);
    }
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        cJSON_Delete(list->sites[i].object);
        trace_text_free(&list->sites[i].why);
    }
    free(list->sites);
}

enum {
    SECONDS_MAX = 10,      /* for a program to list its call sites */
    ANSWER_MAX = 64 << 20, /* bytes of a list */
};

/* Runs `program --list-sites` in the child, with a time limit: it may be any
 * program. */
static void become(const char *program, int answer)
{
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    dup2(none, STDIN_FILENO);
    dup2(answer, STDOUT_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS_MAX);
    execl(program, program, "--list-sites", (char *)NULL);
    _exit(127);
}

/* Starts `program --list-sites`; returns a descriptor of its output, or -1. */
static int ask(const char *program, pid_t *pid)
{
    int ends[2];

    if (access(program, X_OK) || pipe2(ends, O_CLOEXEC))
        return -1;
    fflush(NULL);
    *pid = fork();
    if (!*pid)
        become(program, ends[1]);
    close(ends[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid); /* in both processes: either may be first */
        return ends[0];
    }
    close(ends[0]);
    return -1;
}

static int milliseconds_left(const struct timespec *start)
{
    struct timespec now;
    long long left = SECONDS_MAX * 1000LL;

    clock_gettime(CLOCK_MONOTONIC, &now);
    left -= (now.tv_sec - start->tv_sec) * 1000LL +
            (now.tv_nsec - start->tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* Reads all output of a program; false if it does not end, for example because
 * processes that the program started hold its stdout open. */
static bool read_answer(int answer, struct trace_text *text)
{
    struct pollfd wait = {.fd = answer, .events = POLLIN};
    struct timespec start;
    char bytes[1 << 14];
    ssize_t size = 1;

    text->ceiling = ANSWER_MAX;
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (size && !text->failed) {
        int left = milliseconds_left(&start);

        wait.revents = 0;
        if (!left || (poll(&wait, 1, left) < 0 && errno != EINTR))
            return false;
        if (!wait.revents)
            continue;
        size = read(answer, bytes, sizeof(bytes));
        if (size < 0)
            return false;
        trace_text_add(text, bytes, (size_t)size);
    }
    return !text->failed;
}

static int refuse(const char *program, const char *why)
{
    test_log_notice("filter: %s: %s", program, why);
    return TEST_LOG_EXIT_USAGE;
}

/* Fills the list; returns what is wrong with the program, or NULL. */
static const char *list_program(const char *program, struct list *list)
{
    struct trace_text text = {0};
    char *rest, *line;
    int status = 0;
    pid_t pid;
    int answer = ask(program, &pid);
    bool ended;

    if (answer < 0)
        return strerror(errno);
    ended = read_answer(answer, &text);
    if (!ended)
        kill(-pid, SIGKILL);
    close(answer);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    ended = ended && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    rest = ended && !status ? text.data : NULL;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            add_site(list, line);
    trace_text_free(&text);
    if (!ended)
        return "it listed no call sites within 10 seconds and was killed; is "
               "it a test program, linked with -ltestlog?";
    return status ? "it does not list its call sites; is it a test program, "
                    "linked with -ltestlog?"
                  : NULL;
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
           trace_level_word(log_filter_most(filter)));
}

static void put_unmatched_one(const struct list *lists, int count,
                              const char *directive)
{
    struct log_suggestion suggestion = {.directive = directive};
    struct trace_text text = {0};
    bool suggested;

    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < lists[i].count; j++)
            log_suggest_site(&suggestion, &lists[i].sites[j].site);
    suggested = log_suggest_end(&suggestion);
    log_filter_brief(&text, directive);
    trace_text_string(&text, " matches none of these call sites");
    if (suggested) {
        trace_text_string(&text, "; did you mean ");
        log_filter_brief(&text, suggestion.text.data);
    }
    printf("%s%c\n", text.data ? text.data : directive, suggested ? '?' : '.');
    trace_text_free(&text);
    trace_text_free(&suggestion.text);
}

enum { UNMATCHED_MAX = 10 }; /* how many are named */

static void put_unmatched(const struct log_filter *filter,
                          const struct list *lists, int count)
{
    const char *directive;
    size_t from = 0, unmatched = 0;

    while ((directive = log_filter_unmatched(filter, &from)))
        if (unmatched++ < UNMATCHED_MAX)
            put_unmatched_one(lists, count, directive);
    if (unmatched > UNMATCHED_MAX)
        printf("%zu more directives match none of these call sites.\n",
               unmatched - UNMATCHED_MAX);
}

static int put_programs(struct log_filter *filter, int count, char **programs)
{
    struct list *lists = calloc((size_t)count + 1, sizeof(*lists));
    int code = TEST_LOG_EXIT_PASSED;

    if (!lists)
        return refuse(programs[0], strerror(ENOMEM));
    for (int i = 0; i < count; i++) {
        const char *wrong = list_program(programs[i], &lists[i]);

        if (wrong) {
            code = refuse(programs[i], wrong);
            continue;
        }
        judge(filter, &lists[i]);
        printf("\n%s\n", programs[i]);
        put_sites(&lists[i]);
    }
    put_unmatched(filter, lists, count);
    for (int i = 0; i < count; i++)
        free_list(&lists[i]);
    free(lists);
    return code;
}

static int show(const char *text, int count, char **programs)
{
    struct trace_text complaints = {0};
    struct log_filter *filter =
        log_filter_parse(text, "info", "FILTER", &complaints);
    int code = TEST_LOG_EXIT_PASSED;

    if (!filter)
        return refuse(text, strerror(ENOMEM));
    if (complaints.size)
        code = TEST_LOG_EXIT_USAGE;
    log_filter_advise(filter, "FILTER", &complaints);
    test_log_complain(&complaints);
    explain(filter);
    if (count && put_programs(filter, count, programs))
        code = TEST_LOG_EXIT_USAGE;
    trace_text_free(&complaints);
    log_filter_free(filter);
    return code;
}

struct arguments {
    bool batch, strict;
};

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--batch", NULL, NULL,
     "answer one case a line: FILTER, LEVEL, TARGET, SPANS, FIELDS",
     test_log_read_on, AT(batch)},
    {"--strict", NULL, NULL,
     "with --batch: answer E and the reason if a directive is invalid",
     test_log_read_on, AT(strict)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct arguments arguments = {.batch = false};
    int count = 0, code;

    if (!test_log_flags_read(&runners_filter, &arguments, &argv, NULL, &code))
        return code;
    if (arguments.batch && !*argv)
        return runners_written("filter", runners_batch(arguments.strict));
    if (arguments.batch || arguments.strict)
        return refuse(arguments.batch ? "--batch" : "--strict",
                      arguments.batch
                          ? "it reads filters from standard input only"
                          : "it needs --batch");
    if (!*argv)
        return refuse("a filter is missing",
                      "write, for example, testlog filter 'info,net=debug'");
    for (; argv[count]; count++)
        if (count && !strncmp(argv[count], "--", 2))
            return refuse(argv[count], "write flags before the filter");
    return runners_written("filter", show(argv[0], count - 1, argv + 1));
}

const struct test_log_command runners_filter = {
    .name = "filter",
    .help = "explain a filter and show its effect",
    .synopsis = "[--] FILTER [PROGRAM...]\n--batch [--strict] <CASES",
    .text = "Explains FILTER in words. For each test PROGRAM, lists its call "
            "sites, which of them are on, and the directives that decide. "
            "Exits with 2 if a directive cannot be parsed.",
    TEST_LOG_FLAGS(flags),
    .stops = true,
    .operand = "FILTER",
    .run = run,
};
