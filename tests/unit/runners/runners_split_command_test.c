/* runners_split_command_test.c: the last command of a shell's text. */
#include "runners/bisect/bisect.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static const char *last_of(const char *text)
{
    return text + runners_last_command(text);
}

Test(runners_split_command, finds_the_last_command)
{
    static const struct {
        const char *text, *last;
    } rows[] = {
        {"./test", "./test"},
        {"make && ./test --filter x", "./test --filter x"},
        {"make; ./test", "./test"},
        {"make\n./test\n", "./test\n"},
        {"make && ./test;", "./test;"},
        {"make && ./test && ", "./test && "},
        {"a && b || c", "b || c"},
        {"a | b & c", "a | b & c"},
        {"make && ./test --filter 'a && b'", "./test --filter 'a && b'"},
        {"make && ./test \"a; \\\"b; c\"", "./test \"a; \\\"b; c\""},
        {"make && (cd x && ./test)", "(cd x && ./test)"},
        {"make && { a; ./test; }", "{ a; ./test; }"},
        {"make && ./test $(a; b)", "./test $(a; b)"},
        {"make && ./test `a; b`", "./test `a; b`"},
        {"make && ./test a\\;b", "./test a\\;b"},
        {"make && ./test 'unended; x", "./test 'unended; x"},
        {"make && ./test )a; b", "b"},
        {"", ""},
        {" ; ", "; "},
        {"&&", "&&"},
        {"a\\", "a\\"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_str_eq(last_of(rows[i].text), rows[i].last, "%s",
                         rows[i].text);
}

Test(runners_split_command, stays_within_random_texts)
{
    static const char signs[] = "a ;&\n'\"`\\(){}|";
    char text[32];

    srand(7);
    for (int i = 0; i < 200000; i++) {
        size_t size = (size_t)rand() % (sizeof(text) - 1);

        for (size_t j = 0; j < size; j++)
            text[j] = signs[(size_t)rand() % (sizeof(signs) - 1)];
        text[size] = '\0';
        cr_assert_leq(runners_last_command(text), size);
    }
}

static void expect_before(const char *text, const char *before)
{
    size_t size = runners_commands_before(text, runners_last_command(text));

    cr_expect(strlen(before) == size && !strncmp(text, before, size),
              "%s: \"%.*s\"", text, (int)size, text);
}

Test(runners_split_command, leaves_out_one_separator)
{
    expect_before("./test", "");
    expect_before("make && ./test", "make");
    expect_before("make; ./test", "make");
    expect_before("make\n./test", "make");
    expect_before("a && b &&\n ./test", "a && b");
    expect_before("server &\n./test", "server &");
    expect_before("server & make && ./test", "server & make");
    expect_before("a;; ./test", "a;");
}
