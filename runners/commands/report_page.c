/* report_page.c: reads a run for report.html. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "runners/commands/report_page.h"
#include "runners/programs/frameworks.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

enum { FAIL_LOG = 20 /* the default of --fail-log */ };

/* ---- The run ---- */

static void keep_members(struct trace_text *members, const cJSON *json)
{
    const cJSON *item;
    char *text;

    cJSON_ArrayForEach(item, json)
    {
        if (!item->string || !strcmp(item->string, "schema"))
            continue;
        text = cJSON_PrintUnformatted(item);
        trace_json_string(members, item->string, strlen(item->string));
        trace_text_printf(members, ":%s,", text ? text : "null");
        cJSON_free(text);
    }
}

/* ---- Commands ---- */

/* Adds a program, whose name is the end of its path. testlog runs the tests of
 * other frameworks. */
static void add_program(struct report_page *page, const char *path)
{
    const struct framework *framework = runners_program_file(path).framework;
    struct test_log_page_program *program;
    struct trace_text word = {0};
    char *command = NULL;

    if (!TRACE_ARRAY_RESERVE(page->programs, page->program_capacity,
                             page->program_count + 1))
        return;
    program = &page->programs[page->program_count++];
    test_log_add_word(&word, path);
    *program = (struct test_log_page_program){
        .folder = strdup(trace_base_name(path)), .command = word.data};
    if (!framework) {
        program->debug = program->command ? strdup(program->command) : NULL;
        return;
    }
    if (runners_framework_reports(framework) &&
        asprintf(&command, "%s run %s --", program_invocation_name,
                 program->command) < 0)
        command = NULL;
    free(program->command);
    program->command = command;
    if (command && runners_framework_chooses(framework))
        program->debug = strdup(command);
}

/* Makes the command that runs the programs with failed tests. */
static void make_rerun(struct report_page *page, const char *testlog)
{
    const struct test_log_run *run = &page->run;
    struct trace_table failed = {0}; /* programs, by the hash of the name */
    struct trace_text text = {0};
    uintptr_t unused;

    for (size_t i = 0; i < run->count; i++)
        if (test_log_failed(&run->results[i]))
            trace_table_set(
                &failed, trace_hash_string(TRACE_HASH, run->results[i].program),
                1);
    test_log_add_word(&text, testlog);
    trace_text_string(&text, " run");
    for (size_t i = 0; i < page->program_count; i++) {
        const struct test_log_page_program *program = &page->programs[i];

        if (!program->command || !program->folder ||
            !trace_table_find(&failed,
                              trace_hash_string(TRACE_HASH, program->folder),
                              &unused))
            continue;
        trace_text_char(&text, ' ');
        trace_text_string(&text, program->command);
    }
    trace_text_string(&text, " --");
    trace_table_free(&failed);
    page->command = text.data;
}

/* Takes the command of a run apart. A command of testlog run has several
 * programs. */
static void read_command(struct report_page *page, const char *where)
{
    const char *command = page->run.command;
    wordexp_t words;

    if (!command || wordexp(command, &words, WRDE_NOCMD))
        return;
    if (words.we_wordc < 2 || strcmp(words.we_wordv[1], "run") != 0) {
        page->command = runners_rerun_of(&page->run, where, false);
        page->debug = runners_rerun_of(&page->run, where, true);
    } else {
        for (char **at = words.we_wordv + 2; *at && strcmp(*at, "--") != 0;
             at++)
            add_program(page, *at);
        make_rerun(page, words.we_wordv[0]);
    }
    wordfree(&words);
}

/* ---- The page ---- */

int runners_page_read(struct report_page *page, const char *where)
{
    struct test_log_run *run = &page->run;
    cJSON *head;
    int status;

    if (!run->open)
        run->open = runners_open_in;
    status = runners_read_run(run, where, &head);
    keep_members(&page->members, head);
    if (head && run->unfinished)
        test_log_notice("report: %s/run.json is cut off; the page has what "
                        "its programs reported",
                        where);
    cJSON_Delete(head);
    if (status)
        return -1;
    read_command(page, where);
    return 0;
}

struct test_log_page runners_page_of(const struct report_page *page)
{
    return (struct test_log_page){.run = &page->run,
                                  .shown_path = runners_pack_of(page->run.path),
                                  .members = page->members.data,
                                  .rerun = page->command,
                                  .debug = page->debug,
                                  .programs = page->programs,
                                  .program_count = page->program_count,
                                  .fail_log = FAIL_LOG,
                                  .passing = TEST_LOG_PAGE_MOST};
}

void runners_page_free(struct report_page *page)
{
    for (size_t i = 0; i < page->program_count; i++) {
        free((char *)page->programs[i].folder);
        free(page->programs[i].command);
        free(page->programs[i].debug);
    }
    free(page->programs);
    free(page->command);
    free(page->debug);
    trace_text_free(&page->members);
    test_log_run_free(&page->run);
}
