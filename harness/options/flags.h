/* flags.h: tables of flags: one row a flag, from which it is read, printed by
 * --help, handed on and completed. Private. */
#ifndef TESTLOG_FLAGS_H
#define TESTLOG_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct test_log_command;
struct test_log_flag;
struct test_log_options;

/* The flag, variable or setting that is being read. */
struct test_log_reader {
    const struct test_log_command *command;
    const struct test_log_flag *flag;
    const char *name;  /* "--log", "LOG", "testlog.conf:3: log" */
    const char *value; /* NULL: none was given */
    union {
        void *into;                       /* the struct that gets values */
        struct test_log_options *options; /* the same, of a test program */
    };
    bool of_file; /* testlog.conf is being read */
    int code;     /* the exit code, if reading ends early */
};

/* A reader returns false if the value is wrong, which it has printed, or if it
 * has printed what was asked for. */
typedef bool test_log_read_flag(struct test_log_reader *);

struct test_log_flag {
    const char *name;     /* "--log"; NULL: there is only a variable */
    const char *variable; /* NULL: there is only a flag */
    /* NULL: none; it begins with '[' if it is optional, and may be words:
     * "utc|uptime|". Capitals name what it is: completion offers a FILTER, RUN
     * or KEY. */
    const char *argument;
    const char *help; /* NULL: --help does not list it */
    test_log_read_flag *read;
    size_t at;         /* where the value goes */
    const char *what;  /* a number is */
    const char *group; /* the title of the rows that follow; it is no flag */
    char letter;
    /* Of test programs: */
    bool daily;     /* --help lists it without =all */
    bool criterion; /* Criterion has it, too, */
    bool pass;      /* and gets it from us */
    bool outer;     /* programs that tests start ignore the variable */
    bool several;   /* each value counts */
    bool flag_only; /* it is not a setting of testlog.conf */
    bool per_test;  /* it is a setting of single tests, too */
    bool acts;      /* it writes a file, names a folder or starts a program: as
                     * a setting, only commands that run tests take it */
    bool by_run;    /* for programs of other frameworks, testlog run does it */
    bool chooses;   /* it chooses tests */
    bool decides;   /* a test may fail only with it */
    bool alone;     /* it excludes --debug-failed */
    bool records;   /* testlog record takes it, too */
    bool captures;  /* testlog capture takes it, too */
    bool shows;     /* testlog show does */
};

/* A subcommand of testlog, or a test program. */
struct test_log_command {
    const char *name;     /* NULL: a test program */
    const char *help;     /* what it does, in one line */
    const char *synopsis; /* the arguments; several end with newlines */
    const char *text;     /* what --help prints below */
    const struct test_log_flag *flags;
    size_t flag_count;
    /* Flags of another command that it hands on: those of which `takes` is
     * true. --help lists them if `lists`. */
    const struct test_log_command *other;
    bool (*takes)(const struct test_log_flag *);
    bool lists;
    bool stops;                             /* at the first operand */
    bool (*take)(struct test_log_reader *); /* instead of the flag's `read` */
    void (*details)(bool all);              /* ends --help; NULL: nothing */
    const char *operand;     /* what completion offers: RUN, TEST, FILTER */
    int (*run)(char **argv); /* its own name first; returns the exit code */
};

#define TEST_LOG_FLAGS(table)                                                  \
    .flags = (table), .flag_count = sizeof(table) / sizeof(*(table))

/* Arguments for another reader, NULL at the end. */
struct test_log_passed {
    char **words;
    size_t count, capacity;
};

/* test_log_passed_add adds a copy of a word, or of "word=value" unless the
 * value is NULL; -1 without memory. */
int test_log_passed_add(struct test_log_passed *, const char *word,
                        const char *value);
void test_log_passed_free(struct test_log_passed *);

/* test_log_flags_read reads the flags of a command into `into`, as getopt_long
 * does; *argv then begins with the operands. Flags that it hands on are added
 * to `passed`, after the command's own name; NULL: it hands on none. False if
 * it has printed what is wrong, or what was asked for: *code is the exit code.
 */
bool test_log_flags_read(const struct test_log_command *, void *into,
                         char ***argv, struct test_log_passed *passed,
                         int *code);

/* test_log_flags_each calls `take` with each flag among arguments; wrong ones
 * are left out. A flag without an argument has the value NULL. Returns the
 * operands. */
char **test_log_flags_each(const struct test_log_command *, char **argv,
                           void (*take)(void *context,
                                        const struct test_log_flag *,
                                        const char *value),
                           void *context);

/* test_log_flags_all stores the rows of a command and those that it hands on,
 * groups too; returns how many. */
enum { TEST_LOG_FLAGS_MOST = 128 };
size_t test_log_flags_all(const struct test_log_command *,
                          const struct test_log_flag *all[TEST_LOG_FLAGS_MOST]);

/* test_log_flag_is tells whether "--name" or "--name=value" is that flag. */
bool test_log_flag_is(const struct test_log_flag *, const char *word);

/* test_log_flag_needs_value tells whether a value must follow. */
bool test_log_flag_needs_value(const struct test_log_flag *);

/* test_log_flag_refuse prints what is wrong, after the command's name, and
 * returns false; test_log_flag_judge returns false if `failed`, which has been
 * printed. */
bool test_log_flag_refuse(struct test_log_reader *, const char *format, ...)
    TRACE_PRINTF(2, 3);
bool test_log_flag_judge(struct test_log_reader *, int failed);

/* test_log_flag_field returns where the value goes. */
void *test_log_flag_field(struct test_log_reader *);

/* Readers for any command: of a text that is not empty (const char *), of a
 * switch (bool), of an integer (size_t), of --help and --help=all. */
test_log_read_flag test_log_read_text, test_log_read_on, test_log_read_integer,
    test_log_read_help;

#define TEST_LOG_HELP                                                          \
    {                                                                          \
        "--help", NULL, NULL, "print this", test_log_read_help, .letter = 'h'  \
    }

/* test_log_option_form writes how an option is written, "--log=FILTER". */
void test_log_option_form(const char *name, const char *argument, char *text,
                          size_t size);

/* test_log_print_option prints a line of --help, broken at 80 columns;
 * `variable` may be NULL. */
void test_log_print_option(char letter, const char *name, const char *argument,
                           const char *help, const char *variable);

/* test_log_foreign_flag returns what to do instead of a flag of another test
 * runner; NULL if it is none of those. */
const char *test_log_foreign_flag(const char *word);

#endif
