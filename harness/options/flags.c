/* flags.c: reads tables of flags, for test programs and for the subcommands of
 * testlog, and prints them for --help. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/options/flags.h"
#include "harness/options/options.h"
#include "trace/base/containers.h"

/* ---- Words for another reader ---- */

int test_log_passed_add(struct test_log_passed *passed, const char *word,
                        const char *value)
{
    char *copy;

    if (asprintf(&copy, "%s%s%s", word, value ? "=" : "", value ? value : "") <
        0)
        return -1;
    if (!TRACE_ARRAY_RESERVE(passed->words, passed->capacity,
                             passed->count + 2)) {
        free(copy);
        return -1;
    }
    passed->words[passed->count++] = copy;
    passed->words[passed->count] = NULL;
    return 0;
}

void test_log_passed_free(struct test_log_passed *passed)
{
    for (size_t i = 0; i < passed->count; i++)
        free(passed->words[i]);
    free(passed->words);
    *passed = (struct test_log_passed){0};
}

/* ---- Tables ---- */

static int argument_of(const struct test_log_flag *flag)
{
    return !flag->argument            ? no_argument
           : flag->argument[0] == '[' ? optional_argument
                                      : required_argument;
}

bool test_log_flag_needs_value(const struct test_log_flag *flag)
{
    return argument_of(flag) == required_argument;
}

bool test_log_flag_is(const struct test_log_flag *flag, const char *word)
{
    size_t size = strcspn(word, "=");

    return flag->name && strlen(flag->name) == size &&
           !strncmp(flag->name, word, size);
}

size_t test_log_flags_all(const struct test_log_command *command,
                          const struct test_log_flag *all[TEST_LOG_FLAGS_MOST])
{
    const struct test_log_command *other = command->other;
    size_t count = 0, own;

    for (size_t i = 0; i < command->flag_count; i++)
        all[count++] = &command->flags[i];
    own = count;
    for (size_t i = 0; other && i < other->flag_count; i++) {
        const struct test_log_flag *flag = &other->flags[i];
        bool hidden = !flag->name || !command->takes(flag);

        for (size_t k = 0; k < own && !hidden; k++)
            hidden = all[k]->name && !strcmp(all[k]->name, flag->name);
        if (!hidden)
            all[count++] = flag;
    }
    return count;
}

/* The flags as getopt_long takes them. */
struct table {
    const struct test_log_flag *flags[TEST_LOG_FLAGS_MOST];
    struct option longs[TEST_LOG_FLAGS_MOST + 1];
    char shorts[2 * TEST_LOG_FLAGS_MOST + 3];
    size_t count;
};

enum { FLAG_BASE = 1000 };

static void make_table(struct table *table,
                       const struct test_log_command *command)
{
    struct option *longs = table->longs;
    char *shorts = table->shorts;

    *table = (struct table){.count = 0};
    table->count = test_log_flags_all(command, table->flags);
    if (command->stops)
        *shorts++ = '+';
    *shorts++ = ':';
    for (size_t i = 0; i < table->count; i++) {
        const struct test_log_flag *flag = table->flags[i];
        int argument = argument_of(flag);

        if (!flag->name)
            continue;
        *longs++ =
            (struct option){flag->name + 2, argument, NULL, FLAG_BASE + (int)i};
        if (!flag->letter)
            continue;
        *shorts++ = flag->letter;
        if (argument == required_argument)
            *shorts++ = ':';
    }
    opterr = 0;
    optind = 0; /* getopt starts anew */
}

static const struct test_log_flag *flag_of(const struct table *table, int c)
{
    if (c >= FLAG_BASE)
        return table->flags[c - FLAG_BASE];
    for (size_t i = 0; c && i < table->count; i++)
        if (table->flags[i]->letter == c)
            return table->flags[i];
    return NULL;
}

static int count_words(char **words)
{
    int count = 0;

    while (words[count])
        count++;
    return count;
}

char **test_log_flags_each(const struct test_log_command *command, char **argv,
                           void (*take)(void *context,
                                        const struct test_log_flag *,
                                        const char *value),
                           void *context)
{
    int argc = count_words(argv), c;
    struct table table;

    make_table(&table, command);
    while ((c = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1)
        if (c != '?' && c != ':')
            take(context, flag_of(&table, c), optarg);
    return argv + optind;
}

/* ---- What is wrong ---- */

bool test_log_flag_refuse(struct test_log_reader *reader, const char *format,
                          ...)
{
    const char *name = reader->command ? reader->command->name : NULL;
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    test_log_notice("%s%s%s", name ? name : "", name ? ": " : "",
                    text ? text : "out of memory");
    free(text);
    reader->code = TEST_LOG_EXIT_USAGE;
    return false;
}

bool test_log_flag_judge(struct test_log_reader *reader, int failed)
{
    if (failed)
        reader->code = TEST_LOG_EXIT_USAGE;
    return !failed;
}

static bool refuse_value(struct test_log_reader *reader, const char *word,
                         const struct test_log_flag *flag)
{
    char form[128];

    if (argument_of(flag) == no_argument)
        return test_log_flag_refuse(reader, "%s takes no value", flag->name);
    test_log_option_form(flag->name, flag->argument, form, sizeof(form));
    return test_log_flag_refuse(reader, "%s needs a value: %s", word, form);
}

/* getopt_long parses Go's -run letter by letter, so look at all words. */
static bool refuse_foreign(struct test_log_reader *reader, char **words)
{
    for (; *words && strcmp(*words, "--"); words++) {
        const char *ours = test_log_foreign_flag(*words);

        if (ours)
            return !test_log_flag_refuse(reader, "unknown flag %.*s; %s",
                                         (int)strcspn(*words, "="), *words,
                                         ours);
    }
    return false;
}

static const char *nearest(const struct table *table, const char *word)
{
    const char *names[TEST_LOG_FLAGS_MOST + 1] = {NULL};
    char name[32];

    for (size_t i = 0; table->longs[i].name; i++)
        names[i] = table->longs[i].name;
    word += strspn(word, "-");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    return log_nearest(name, names);
}

/* Prints what getopt_long rejected. */
static bool refuse(struct test_log_reader *reader, const struct table *table,
                   int c, char **argv)
{
    const struct test_log_command *command = reader->command;
    const struct test_log_flag *flag = flag_of(table, optopt);
    const char *word = argv[optind - 1], *near = NULL;
    char letter[] = {'-', (char)optopt, '\0'};

    if (flag)
        return refuse_value(
            reader, c == ':' && optopt < FLAG_BASE ? word : flag->name, flag);
    if ((!command->name || command->other) && refuse_foreign(reader, argv + 1))
        return false;
    if (optopt)
        word = letter;
    else
        near = nearest(table, word);
    if (near)
        return test_log_flag_refuse(
            reader, "unknown flag %s; did you mean --%s?", word, near);
    if (command->name)
        return test_log_flag_refuse(reader,
                                    "unknown flag %s; testlog %s --help lists "
                                    "all",
                                    word, command->name);
    return test_log_flag_refuse(reader, "unknown flag %s; --help=all lists all",
                                word);
}

/* ---- Reading ---- */

/* Whether a flag is a command's own, not one that it hands on. */
static bool is_own(const struct test_log_command *command,
                   const struct test_log_flag *flag)
{
    for (size_t i = 0; i < command->flag_count; i++)
        if (flag == &command->flags[i])
            return true;
    return false;
}

static bool read_flag(struct test_log_reader *reader,
                      const struct test_log_flag *flag,
                      struct test_log_passed *passed)
{
    reader->flag = flag;
    reader->name = flag->name;
    reader->value = optarg;
    if (is_own(reader->command, flag))
        return reader->command->take ? reader->command->take(reader)
                                     : flag->read(reader);
    return !test_log_passed_add(passed, flag->name, optarg) ||
           test_log_flag_refuse(reader, "out of memory");
}

bool test_log_flags_read(const struct test_log_command *command, void *into,
                         char ***argv, struct test_log_passed *passed,
                         int *code)
{
    struct test_log_reader reader = {.command = command, .into = into};
    int argc = count_words(*argv), c;
    struct table table;
    bool right = true;

    make_table(&table, command);
    if (passed && test_log_passed_add(passed, (*argv)[0], NULL))
        right = test_log_flag_refuse(&reader, "out of memory");
    while (right && (c = getopt_long(argc, *argv, table.shorts, table.longs,
                                     NULL)) != -1)
        right = c == '?' || c == ':'
                    ? refuse(&reader, &table, c, *argv)
                    : read_flag(&reader, flag_of(&table, c), passed);
    *argv += optind;
    *code = reader.code;
    return right;
}

/* ---- Readers ---- */

void *test_log_flag_field(struct test_log_reader *reader)
{
    return (char *)reader->into + reader->flag->at;
}

bool test_log_read_text(struct test_log_reader *reader)
{
    const char **text = test_log_flag_field(reader);

    *text = reader->value;
    return **text || refuse_value(reader, reader->name, reader->flag);
}

bool test_log_read_on(struct test_log_reader *reader)
{
    bool *on = test_log_flag_field(reader);

    *on = true;
    return !reader->value ||
           test_log_flag_judge(
               reader, test_log_read_switch(reader->name, reader->value, on));
}

bool test_log_read_integer(struct test_log_reader *reader)
{
    return test_log_flag_judge(
        reader,
        test_log_read_count(reader->name, reader->value, reader->flag->what,
                            test_log_flag_field(reader)));
}

/* ---- --help ---- */

void test_log_option_form(const char *name, const char *argument, char *text,
                          size_t size)
{
    bool optional = argument && argument[0] == '[';
    const char *value = argument ? argument + optional : "";
    size_t length = strlen(value);

    length -= length && value[length - 1] == '|';
    snprintf(text, size, "%s%s%s%.*s%s", name, optional ? "[" : "",
             argument ? "=" : "", (int)length, value, optional ? "]" : "");
}

/* Prints words from a column on, and begins a line before the 80th. */
static void print_wrapped(const char *text, int column)
{
    enum { WIDTH = 79 };
    int at = column;

    while (*text) {
        size_t size = strcspn(text, " \n");
        bool breaks = text[size] == '\n';

        if (at > column && at + 1 + (int)size > WIDTH)
            at = printf("\n%*s", column, "") - 1;
        else if (at > column)
            at += printf(" ");
        at += printf("%.*s", (int)size, text);
        text += size + (text[size] != '\0');
        if (breaks)
            at = printf("\n%*s", column, "") - 1;
    }
    putchar('\n');
}

void test_log_print_option(char letter, const char *name, const char *argument,
                           const char *help, const char *variable)
{
    enum { COLUMN = 36 };
    char form[128], text[512], start[8] = "      ";
    int size;

    test_log_option_form(name, argument, form, sizeof(form));
    if (letter)
        snprintf(start, sizeof(start), "  -%c, ", letter);
    size = printf("%s%s", start, form);
    if (size < COLUMN)
        printf("%*s", COLUMN - size, "");
    else
        printf("\n%*s", COLUMN, "");
    snprintf(text, sizeof(text), variable ? "%s (%s)" : "%s", help, variable);
    print_wrapped(text, COLUMN);
}

static void print_flags(const struct test_log_command *command, bool all)
{
    const struct test_log_flag *flags[TEST_LOG_FLAGS_MOST];
    size_t count = test_log_flags_all(command, flags);

    for (size_t i = 0; i < count; i++) {
        const struct test_log_flag *flag = flags[i];

        if (flag->group && all)
            printf("\n%s:\n", flag->group);
        if (flag->name && flag->help && (all || flag->daily) &&
            (command->lists || is_own(command, flag)))
            test_log_print_option(flag->letter, flag->name, flag->argument,
                                  flag->help, flag->variable);
    }
}

/* A test program has so many flags that it lists those of every day. */
bool test_log_read_help(struct test_log_reader *reader)
{
    static const char *const words[] = {"all", NULL};
    const struct test_log_command *command = reader->command;
    const char *line = command->synopsis, *before = "Usage: ";
    bool all = reader->value || !reader->flag->argument;
    unsigned choice;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, words, &choice))
        return test_log_flag_judge(reader, -1);
    for (; *line; before = "       ") {
        size_t size = strcspn(line, "\n");

        printf("%s%s%s%s%.*s\n", before, command->name ? "testlog " : "",
               command->name ? command->name : "PROGRAM", size ? " " : "",
               (int)size, line);
        line += size + (line[size] != '\0');
    }
    putchar('\n');
    print_wrapped(command->text, 0);
    putchar('\n');
    print_flags(command, all);
    if (command->details)
        command->details(all);
    return false;
}
