/* project.c: applies the settings of a project, testlog.conf, with the rows of
 * options.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/option_rows.h"
#include "harness/session.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"

static bool wrong(struct test_log_reader *reader)
{
    reader->code = TEST_LOG_EXIT_USAGE;
    return false;
}

static bool lack_memory(struct test_log_reader *reader)
{
    test_log_notice("out of memory");
    return wrong(reader);
}

/* ---- Lines ---- */

static const struct test_log_flag *row_of_key(const char *key)
{
    const struct test_log_flag *rows = test_log_program.flags;

    for (size_t i = 0; i < test_log_program.flag_count; i++)
        if (rows[i].name && !strcmp(rows[i].name + 2, key))
            return &rows[i];
    return NULL;
}

static bool suits(const struct test_log_flag *row,
                  const struct test_log_settings_line *line)
{
    return row->name && !row->flag_only && (!line->pattern || row->per_test);
}

/* Returns the setting that a key probably meant, NULL if there is none. */
static const char *nearest_key(const struct test_log_settings_line *line)
{
    size_t count = test_log_program.flag_count, found = 0;
    const struct test_log_flag *rows = test_log_program.flags;
    const char **names =
        calloc(count + 2 + TEST_LOG_KNOWN_KEYS, sizeof(*names));
    const char *nearest;

    for (size_t i = 0; names && i < count; i++)
        if (suits(&rows[i], line))
            names[found++] = rows[i].name + 2;
    if (names && line->pattern)
        found += test_log_known_keys(names + found);
    if (names && line->pattern)
        names[found] = TEST_LOG_TAGS;
    nearest = names ? log_nearest(line->key, names) : NULL;
    free(names);
    return nearest;
}

static bool refuse_key(struct test_log_reader *reader,
                       const struct test_log_settings_line *line,
                       const struct test_log_flag *row)
{
    const char *nearest = nearest_key(line);

    if (row && row->flag_only)
        test_log_notice("%s can only be a flag, --%s", line->origin, line->key);
    else if (row)
        test_log_notice("%s cannot be set for single tests; log, retries, "
                        "serial, tags and timeout can",
                        line->origin);
    else if (test_log_known_key(line->key) || !strcmp(line->key, TEST_LOG_TAGS))
        test_log_notice("%s can only be set for single tests, below a line "
                        "[test PATTERN]",
                        line->origin);
    else if (nearest)
        test_log_notice("%s is not a setting; did you mean %s?", line->origin,
                        nearest);
    else
        test_log_notice("%s is not a setting; testlog-flags(7) lists the "
                        "flags that settings are named after",
                        line->origin);
    return wrong(reader);
}

/* A setting of a flag without an argument switches it on or off. */
static bool read_switch(struct test_log_reader *reader,
                        const struct test_log_flag *row,
                        const struct test_log_settings_line *line)
{
    bool on;

    if (test_log_read_switch(line->origin, line->value, &on))
        return wrong(reader);
    return test_log_option_read(reader, row, line->origin, on ? NULL : "0", on);
}

/* Whether a folder is below the working directory, or nowhere: not one of
 * another place, to which ".." or a link leads. */
static bool is_below(const char *folder)
{
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), above;
    size_t size = strlen(folder);
    struct stat status;
    char name[PATH_MAX];
    const char *last;
    bool below;

    while (size > 1 && folder[size - 1] == '/')
        size--;
    if (here < 0 || folder[0] == '/' || size >= sizeof(name)) {
        if (here >= 0)
            close(here);
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)size, folder);
    above = trace_beneath_folder(here, name, &last);
    below = above >= 0 ? fstatat(above, last, &status, AT_SYMLINK_NOFOLLOW) ||
                             !S_ISLNK(status.st_mode)
                       : errno == ENOENT;
    close(here);
    if (above >= 0)
        close(above);
    return below;
}

/* The file may be that of an archive that was just unpacked. */
static bool is_left_out(const struct test_log_reader *reader,
                        const struct test_log_flag *row,
                        const struct test_log_settings_line *line)
{
    if (!row->acts || !reader->options->bystander)
        return false;
    if (strcmp(row->name, "--trace-dir") != 0)
        return true;
    if (is_below(line->value))
        return false;
    if (!line->profile)
        test_log_notice("%s: commands that run no tests take only a folder "
                        "below this one; set TRACE_DIR to use %s",
                        line->origin, line->value);
    return true;
}

/* A variable beats a setting, also in what is passed to Criterion. */
static bool read_line(struct test_log_reader *reader,
                      const struct test_log_settings_line *line)
{
    const struct test_log_flag *row = row_of_key(line->key);

    if (!row || !suits(row, line))
        return refuse_key(reader, line, row);
    if (row->variable && test_log_variable(row->variable) && !line->pattern)
        return true;
    if (is_left_out(reader, row, line))
        return true;
    if (!row->argument)
        return read_switch(reader, row, line);
    return test_log_option_read(reader, row, line->origin, line->value, true);
}

/* ---- Settings of single tests ---- */

/* `testlog run` prints what is wrong for its programs. */
static bool is_part(void)
{
    return test_log_session()->part || test_log_variable("TESTLOG_RUN");
}

/* In a filter, only the bad directive is ignored. */
static bool add_filter(struct test_log_reader *reader,
                       const struct test_log_settings_line *line)
{
    struct trace_text *filters = &reader->options->test_filters;
    struct trace_text complaints = {0};
    struct log_filter *filter =
        log_filter_parse(line->value, NULL, line->origin, &complaints);

    if (filter)
        log_filter_advise(filter, line->origin, &complaints);
    log_filter_free(filter);
    if (!is_part())
        test_log_complain(&complaints);
    trace_text_free(&complaints);
    trace_text_printf(filters, "%s\t%s\n", line->pattern, line->value);
    return !filters->failed || lack_memory(reader);
}

static bool add_override(struct test_log_reader *reader,
                         const struct test_log_settings_line *line,
                         const struct test_log_options *read)
{
    struct test_log_options *options = reader->options;
    struct test_log_override override = {
        .pattern = line->pattern,
        .at = row_of_key(line->key)->at,
        .timeout = read->timeout,
        .retries = read->retries,
        .serial = read->serial,
    };

    if (read->show.value)
        return add_filter(reader, line);
    if (!TRACE_ARRAY_RESERVE(options->overrides, options->override_capacity,
                             options->override_count + 1))
        return lack_memory(reader);
    options->overrides[options->override_count++] = override;
    return true;
}

/* Reads a line for single tests, or a line that is only checked because its
 * profile is not in force. */
static bool read_apart(struct test_log_reader *reader,
                       const struct test_log_settings_line *line, bool in_force)
{
    struct test_log_options options = {.jobs = 0};
    struct test_log_reader apart = {
        .command = reader->command, .options = &options, .of_file = true};
    bool right;

    options.bystander = reader->options->bystander;
    right = read_line(&apart, line);

    reader->code = apart.code;
    if (right && in_force)
        right = add_override(reader, line, &options);
    test_log_options_free(&options);
    return right;
}

/* ---- All lines ---- */

static bool check_profile(struct test_log_reader *reader)
{
    const struct test_log_settings *settings = &reader->options->settings;
    const char *name = reader->options->profile, *nearest;

    for (size_t i = 0; name && i < settings->profile_count; i++)
        if (!strcmp(settings->profiles[i], name))
            return true;
    if (!name)
        return true;
    nearest = settings->profiles ? log_nearest(name, settings->profiles) : NULL;
    if (!settings->path)
        test_log_notice("--profile=%s: no " TEST_LOG_SETTINGS_FILE
                        " in this folder or above it",
                        name);
    else
        test_log_notice("--profile=%s: %s has no [profile %s]%s%s%s", name,
                        settings->path, name, nearest ? "; did you mean " : "",
                        nearest ? nearest : "", nearest ? "?" : "");
    return wrong(reader);
}

/* Whether a line belongs to a profile; with NULL, to none. */
static bool is_of(const struct test_log_settings_line *line,
                  const char *profile)
{
    if (!profile || !line->profile)
        return profile == line->profile;
    return !strcmp(line->profile, profile);
}

/* Whether a line is not an option: test_log_known_read, --list=json or `testlog
 * run` reads it. */
static bool is_read_elsewhere(const struct test_log_settings_line *line)
{
    return line->program ||
           (line->pattern && (test_log_known_key(line->key) ||
                              !strcmp(line->key, TEST_LOG_TAGS)));
}

static bool check_programs(struct test_log_reader *reader)
{
    const struct test_log_settings *settings = &reader->options->settings;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (!line->program || !strcmp(line->key, "kind") ||
            !strcmp(line->key, "args"))
            continue;
        test_log_notice("%s is not a setting of programs; kind and args are",
                        line->origin);
        return wrong(reader);
    }
    return true;
}

/* Checks the lines of profiles that are not in force. */
static bool check_others(struct test_log_reader *reader)
{
    const struct test_log_settings *settings = &reader->options->settings;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (line->profile && !is_of(line, reader->options->profile) &&
            !is_read_elsewhere(line) && !read_apart(reader, line, false))
            return false;
    }
    return true;
}

/* Reads the lines of a profile, or with NULL those outside of profiles. */
static bool read_lines_of(struct test_log_reader *reader, const char *profile)
{
    const struct test_log_settings *settings = &reader->options->settings;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (is_of(line, profile) && !is_read_elsewhere(line) &&
            !(line->pattern ? read_apart(reader, line, true)
                            : read_line(reader, line)))
            return false;
    }
    return true;
}

static void find_profile(void *profile, const struct test_log_flag *flag,
                         const char *value)
{
    if (test_log_flag_is(flag, "--profile"))
        *(const char **)profile = value;
}

bool test_log_project_read(struct test_log_reader *reader, char **argv)
{
    struct test_log_settings *settings = &reader->options->settings;

    test_log_flags_each(&test_log_program, argv, find_profile,
                        &reader->options->profile);
    if (test_log_settings_read(settings, is_part()))
        return wrong(reader);
    reader->of_file = true;
    if (!check_profile(reader) || !check_others(reader) ||
        !check_programs(reader) || !read_lines_of(reader, NULL) ||
        (reader->options->profile &&
         !read_lines_of(reader, reader->options->profile)))
        return false;
    reader->of_file = false;
    return !test_log_known_read(&reader->options->known, settings,
                                reader->options->profile, is_part()) ||
           wrong(reader);
}

/* ---- --show-config ---- */

/* Whether a later value replaces an earlier one. */
static bool replaces(const struct test_log_flag *later,
                     const struct test_log_flag *row)
{
    return !row->several && (later == row || (row->at && later->at == row->at &&
                                              later->read == row->read));
}

/* A flag that cannot be a setting becomes a comment. */
static void print_given(const struct test_log_reader *reader, size_t number)
{
    const struct test_log_given *given = &reader->options->given[number];
    const struct test_log_flag *row = given->flag;

    if (row->name && !strcmp(row->name, "--show-config"))
        return;
    for (size_t i = number + 1; i < reader->options->given_count; i++)
        if (replaces(reader->options->given[i].flag, row))
            return;
    printf("# %s\n%s%s = %s\n", given->name,
           row->name && !row->flag_only ? "" : "# ",
           row->name ? row->name + 2 : row->variable,
           given->value ? given->value : "1");
}

static void print_tests_of(const struct test_log_reader *reader,
                           const char *profile)
{
    const struct test_log_settings *settings = &reader->options->settings;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (line->pattern && is_of(line, profile))
            printf("[test %s]\n# %s\n%s = %s\n", line->pattern, line->origin,
                   line->key, line->value);
    }
}

bool test_log_project_print(const struct test_log_reader *reader)
{
    if (!reader->options->settings.path)
        puts("# no " TEST_LOG_SETTINGS_FILE " in this folder or above it");
    for (size_t i = 0; i < reader->options->given_count; i++)
        print_given(reader, i);
    print_tests_of(reader, NULL);
    if (reader->options->profile)
        print_tests_of(reader, reader->options->profile);
    return false;
}
