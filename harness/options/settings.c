/* settings.c: reads testlog.conf, the settings of a project.
 *
 *  timeout = 30
 *  [test net/x*]
 *  timeout = 120
 *  [profile ci]
 *  retries = 2
 *  [profile ci test net/x*]
 *  timeout = 300
 *  [program old_*]
 *  kind = gtest
 *
 * It accepts all keys; options.c applies the lines.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/settings.h"
#include "harness/run/folder/run_folder.h"
#include "options.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* A line while the file is read. */
struct place {
    const char *path;
    unsigned line;
    const char *profile, *pattern, *program; /* of the section */
};

static int refuse(const struct place *place, const char *why, const char *text)
{
    test_log_notice("%s:%u: %s: \"%s\"", place->path, place->line, why, text);
    return -1;
}

/* Removes blanks at both ends, in place. */
static char *trim(char *text)
{
    size_t size;

    while (isspace((unsigned char)*text))
        text++;
    size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1]))
        text[--size] = '\0';
    return text;
}

/* ---- Lines ---- */

/* Returns a copy that the settings own; NULL without memory. */
static const char *keep(struct test_log_settings *settings, const char *text)
{
    char *copy = strdup(text);

    if (!copy || !TRACE_ARRAY_RESERVE(settings->texts, settings->text_capacity,
                                      settings->text_count + 1)) {
        free(copy);
        return NULL;
    }
    settings->texts[settings->text_count++] = copy;
    return copy;
}

static int add_line(struct test_log_settings *settings,
                    const struct place *place, const char *key,
                    const char *value)
{
    char origin[PATH_MAX + 64];
    struct test_log_settings_line line = {.profile = place->profile,
                                          .pattern = place->pattern,
                                          .program = place->program};

    snprintf(origin, sizeof(origin), "%s:%u: %.32s", place->path, place->line,
             key);
    line.key = keep(settings, key);
    line.value = keep(settings, value);
    line.origin = keep(settings, origin);
    if (!line.key || !line.value || !line.origin ||
        !TRACE_ARRAY_RESERVE(settings->lines, settings->capacity,
                             settings->count + 1))
        return refuse(place, "out of memory", key);
    settings->lines[settings->count++] = line;
    return 0;
}

static int read_setting(struct test_log_settings *settings,
                        const struct place *place, char *text)
{
    char *equals = strchr(text, '='), *value;

    if (!equals || equals == text)
        return refuse(place, "expected key = value", text);
    *equals = '\0';
    value = trim(equals + 1);
    if (!value[0])
        return refuse(place, "the setting has no value", trim(text));
    return add_line(settings, place, trim(text), value);
}

/* ---- Sections ---- */

/* Returns the text after a word and blanks; NULL if the text does not begin
 * with them, or ends there. */
static char *behind(char *text, const char *word)
{
    size_t size = strlen(word);

    if (strncmp(text, word, size) != 0 || !isblank((unsigned char)text[size]))
        return NULL;
    text = trim(text + size);
    return text[0] ? text : NULL;
}

/* Cuts "NAME test PATTERN" after the name and returns the pattern; NULL if
 * there is none. */
static char *cut_test(char *name)
{
    for (char *blank = name; (blank = strpbrk(blank, " \t")); blank++) {
        char *pattern = behind(trim(blank), "test");

        if (pattern) {
            *blank = '\0';
            return pattern;
        }
    }
    return NULL;
}

/* Reads "program GLOB", "profile NAME", "test PATTERN" or "profile NAME test
 * PATTERN", in brackets. A pattern may have brackets, so the last one ends the
 * section's name. */
static int read_section(struct test_log_settings *settings, struct place *place,
                        char *text)
{
    size_t size = strlen(text);
    char *program, *name, *pattern;
    const char *fault;

    if (text[size - 1] != ']')
        return refuse(place, "expected ] at the end", text);
    place->profile = place->pattern = place->program = NULL;
    text[size - 1] = '\0';
    text = trim(text + 1);
    program = behind(text, "program");
    name = program ? NULL : behind(text, "profile");
    pattern = name ? cut_test(name) : behind(text, "test");
    if (!program && !name && !pattern)
        return refuse(place,
                      "expected [profile NAME], [test PATTERN], [profile NAME "
                      "test PATTERN] or [program GLOB]",
                      text);
    if (program) {
        place->program = keep(settings, program);
        return place->program ? 0 : refuse(place, "out of memory", program);
    }
    if (name) {
        place->profile = keep(settings, name);
        if (!place->profile ||
            !TRACE_ARRAY_RESERVE(settings->profiles, settings->profile_capacity,
                                 settings->profile_count + 2))
            return refuse(place, "out of memory", name);
        settings->profiles[settings->profile_count++] = place->profile;
        settings->profiles[settings->profile_count] = NULL;
    }
    if (!pattern)
        return 0;
    fault = test_log_pattern_fault(pattern);
    if (fault)
        return refuse(place, fault, pattern);
    place->pattern = keep(settings, pattern);
    return place->pattern ? 0 : refuse(place, "out of memory", pattern);
}

/* ---- The file ---- */

static bool same_folder(const char *a, const char *b)
{
    struct stat first, second;

    return !stat(a, &first) && !stat(b, &second) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Finds the file in the working directory or in one above it. */
static bool find(char path[PATH_MAX])
{
    enum { FARTHEST = 256 };
    char folder[3 * FARTHEST + 4] = "", above[sizeof(folder) + 3];

    for (size_t i = 0; i < FARTHEST; i++) {
        snprintf(path, PATH_MAX, "%s" TEST_LOG_SETTINGS_FILE, folder);
        if (!access(path, F_OK))
            return true;
        snprintf(above, sizeof(above), "%s../", folder);
        if (same_folder(i ? folder : ".", above))
            return false;
        memcpy(folder, above, sizeof(folder));
    }
    return false;
}

/* Opens only a regular file, because opening a FIFO would block. */
static FILE *open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    FILE *in = NULL;

    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
        in = fdopen(fd, "r");
    if (!in && fd >= 0) {
        close(fd);
        errno = EINVAL;
    }
    return in;
}

static int read_file(struct test_log_settings *settings, FILE *in)
{
    struct place place = {.path = settings->path};
    char *line = NULL;
    size_t room = 0;
    int status = 0;

    while (!status && getline(&line, &room, in) > 0) {
        char *text = trim(line);

        place.line++;
        if (text[0] == '[')
            status = read_section(settings, &place, text);
        else if (text[0] && text[0] != '#')
            status = read_setting(settings, &place, text);
    }
    free(line);
    return status;
}

int test_log_settings_read(struct test_log_settings *settings, bool quiet)
{
    char path[PATH_MAX], real[PATH_MAX];
    FILE *in;
    int status;

    *settings = (struct test_log_settings){.path = NULL};
    if (!find(path) || !realpath(path, real))
        return 0;
    if (!test_log_trusts_file(real)) {
        if (!quiet)
            test_log_notice("ignoring %s: another user owns it or may replace "
                            "it; see chown(1) and chmod(1)",
                            path);
        return 0;
    }
    in = open_file(path);
    settings->path = in ? keep(settings, path) : NULL;
    if (!settings->path) {
        test_log_notice("cannot read %s: %s", path, strerror(errno));
        if (in)
            fclose(in);
        return -1;
    }
    status = read_file(settings, in);
    fclose(in);
    return status;
}

static bool names_program(const char *glob, const char *path)
{
    char whole[PATH_MAX];

    return !fnmatch(glob, path, 0) ||
           !fnmatch(glob, trace_base_name(path), 0) ||
           (realpath(path, whole) && !fnmatch(glob, whole, 0));
}

const struct test_log_settings_line *test_log_settings_of_program(
    const struct test_log_settings *settings, const char *path, const char *key)
{
    const struct test_log_settings_line *found = NULL;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (line->program && !strcmp(line->key, key) &&
            names_program(line->program, path))
            found = line;
    }
    return found;
}

void test_log_settings_free(struct test_log_settings *settings)
{
    while (settings->text_count)
        free(settings->texts[--settings->text_count]);
    free(settings->texts);
    free(settings->lines);
    free(settings->profiles);
    *settings = (struct test_log_settings){.path = NULL};
}
