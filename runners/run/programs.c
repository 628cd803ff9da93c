/* programs.c: the programs of a run, and what the history knows of them. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/history.h"
#include "run.h"
#include "trace/base/strings.h"

static bool is_taken(const struct programs *programs, const char *name)
{
    for (size_t i = 0; i < programs->count; i++)
        if (!strcmp(programs->all[i].name, name))
            return true;
    return false;
}

/* The first name that no program before has, to be freed. */
static char *name_for(const struct programs *programs, const char *given)
{
    char *name = test_log_program_name(given, 1);

    for (unsigned number = 2; name && is_taken(programs, name); number++) {
        free(name);
        name = test_log_program_name(given, number);
    }
    return name;
}

struct program *runners_programs_add(struct programs *programs, char *path,
                                     const char *name)
{
    struct program *program = &programs->all[programs->count];

    program->path = path;
    program->name = name_for(programs, name);
    if (!program->name)
        return NULL;
    programs->count++;
    return program;
}

/* Returns "./NAME" if `name` has no folder and is a program here, to be freed;
 * otherwise NULL: it is searched in PATH. */
static char *path_here(const char *name)
{
    struct stat status;
    char *path = NULL;

    if (!strchr(name, '/') && !stat(name, &status) && S_ISREG(status.st_mode) &&
        !access(name, X_OK) && asprintf(&path, "./%s", name) < 0)
        path = NULL;
    return path;
}

int runners_programs_make(struct programs *programs, char **paths, size_t count)
{
    programs->all = calloc(count + 1, sizeof(*programs->all));
    programs->made = calloc(count + 1, sizeof(*programs->made));
    for (size_t i = 0; i < count && programs->all && programs->made; i++) {
        char *here = path_here(paths[i]);

        if (here)
            programs->made[programs->made_count++] = here;
        if (!runners_programs_add(programs, here ? here : paths[i],
                                  trace_base_name(paths[i])))
            return -1;
    }
    return programs->all && programs->made ? 0 : -1;
}

void runners_programs_free(struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++) {
        free(programs->all[i].name);
        free(programs->all[i].folder);
        free(programs->all[i].process);
        free(programs->all[i].test);
        free(programs->all[i].preload);
        free(programs->all[i].timeout);
        free(programs->all[i].asked);
        free(programs->all[i].place.arguments);
        runners_framework_start_free(&programs->all[i].flags);
        runners_framework_close(programs->all[i].framework);
    }
    for (size_t i = 0; i < programs->made_count; i++)
        free(programs->made[i]);
    free(programs->made);
    cJSON_Delete(programs->ctest);
    free(programs->all);
    free(programs->launcher);
    free(programs->launch);
    *programs = (struct programs){.count = 0};
}

char **runners_programs_argv(const struct programs *programs, char *path)
{
    char **argv = calloc((size_t)programs->flag_count + 2, sizeof(*argv));

    if (!argv)
        return NULL;
    argv[0] = path;
    if (programs->flag_count)
        memcpy(argv + 1, programs->flags,
               (size_t)programs->flag_count * sizeof(*argv));
    return argv;
}

size_t runners_programs_in(const struct programs *programs,
                           enum program_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < programs->count; i++)
        count += programs->all[i].state == state;
    return count;
}

/* ---- Other frameworks ---- */

static int find_own_flag(struct program *program, char **argv)
{
    struct framework_start unused = {.argument_count = 0};
    int status =
        runners_criterion_take_flags(&unused, argv, &program->own_flag);

    runners_framework_start_free(&unused);
    return status;
}

/* With a flag that only testlog has, Criterion prints its usage and exits
 * with 0. */
static int take_criterion(const struct programs *programs,
                          struct program *program, char **argv)
{
    const struct program_file *file = &program->file;

    if (file->has_testlog || (programs->preload && file->can_preload))
        return find_own_flag(program, argv);
    program->lacks_testlog = true;
    if (runners_criterion_take_flags(&program->flags, argv, &program->own_flag))
        return -1;
    if (programs->launcher_count)
        program->own_flag = "--launch";
    if (!program->own_flag)
        return 0;
    test_log_notice("run: %s cannot take %s, because it uses Criterion without "
                    "testlog; %slink it with -ltestlog",
                    program->path, program->own_flag,
                    file->can_preload && !programs->launcher_count
                        ? "add --preload, or "
                        : "");
    return -1;
}

/* Whether a program might follow flags that other frameworks cannot. */
static bool any_of_ours(const struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        if (!programs->all[i].file.framework)
            return true;
    return false;
}

/* Programs of other frameworks do not get testlog. --preload may still find
 * Criterion in a program of no known framework. */
static int take_framework(const struct programs *programs,
                          struct program *program,
                          const struct test_log_options *options, char **argv)
{
    bool failed;

    program->framework = runners_framework_open(
        program->path, program->name, &program->file, &program->place, options,
        argv, any_of_ours(programs), &failed);
    for (size_t i = 0; program->framework && i < program->asked_count; i++)
        if (runners_framework_ask(program->framework, program->asked[i]))
            return -1;
    if (program->framework && programs->preload &&
        !runners_framework_is_known(program->framework)) {
        runners_framework_close(program->framework);
        program->framework = NULL;
    }
    if (!program->framework)
        return failed ? -1 : 0;
    free(program->preload);
    program->preload = NULL;
    return 0;
}

int runners_programs_find_frameworks(struct programs *programs,
                                     const struct test_log_options *options,
                                     char **argv)
{
    int status = 0;

    for (size_t i = 0; i < programs->count; i++)
        programs->all[i].file = runners_program_file(programs->all[i].path);
    for (size_t i = 0; i < programs->count && !status; i++) {
        struct program *program = &programs->all[i];

        if (!programs->launcher_count) /* ranks of MPI are Criterion's only */
            status = take_framework(programs, program, options, argv);
        program->kind = runners_kind_of(program);
        program->child.foreign = !runners_can(program, PROGRAM_CAN(ANSWER));
        if (status || program->framework)
            continue;
        if (program->file.has_criterion)
            status = take_criterion(programs, program, argv);
        else if (runners_can(program, PROGRAM_CAN(HIDE)))
            status = find_own_flag(program, argv);
    }
    return status;
}

int runners_programs_choose(struct programs *programs,
                            const struct test_log_history *last)
{
    size_t whole = 0;

    for (size_t i = 0; i < programs->count; i++) {
        struct program *program = &programs->all[i];

        if (!program->framework)
            continue;
        if (runners_framework_choose(program->framework, last, &whole))
            return -1;
        programs->elsewhere |=
            runners_framework_is_elsewhere(program->framework);
        if (runners_framework_is_empty(program->framework))
            program->state = PROGRAM_LEFT_OUT;
    }
    return 0;
}

/* ---- Which run alone ---- */

size_t runners_programs_mark_serial(struct programs *programs, const char *glob)
{
    size_t count = 0;

    for (size_t i = 0; i < programs->count; i++) {
        struct program *program = &programs->all[i];

        if (fnmatch(glob, trace_base_name(program->path), 0) &&
            fnmatch(glob, program->path, 0))
            continue;
        program->serial = true;
        count++;
    }
    return count;
}

void runners_programs_find_serial(struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        programs->all[i].serial |= runners_is_serial(programs->all[i].path);
}

/* ---- The history ---- */

static void recall(struct program *program, const struct test_log_history *last)
{
    for (size_t i = 0; i < last->count; i++)
        if (!strcmp(last->tests[i].program, program->name)) {
            program->tests++;
            program->time += last->tests[i].duration;
        }
    program->failed = test_log_history_failed(last, program->name);
}

void runners_programs_recall(struct programs *programs,
                             const struct test_log_history *last, bool failed)
{
    for (size_t i = 0; i < programs->count; i++) {
        struct program *program = &programs->all[i];

        recall(program, last);
        if (failed && program->tests && !program->failed)
            program->state = PROGRAM_LEFT_OUT;
    }
}
