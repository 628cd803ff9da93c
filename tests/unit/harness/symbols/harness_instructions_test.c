/* harness_instructions_test.c: instructions have the length, and lead to where
 * objdump says. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/symbols/instructions.h"

/* Returns what objdump's words for an instruction mean. */
static enum test_log_flow flow_of(const char *words)
{
    static const char *const prefixes[] = {"bnd ",    "notrack ", "cs ",
                                           "addr32 ", "repz ",    "data16 "};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (!strncmp(words, prefixes[i], strlen(prefixes[i])))
            words += strlen(prefixes[i]);
    if (!strncmp(words, "call", 4))
        return TEST_LOG_CALLS;
    if (!strncmp(words, "jmp", 3))
        return strstr(words, " *") ? TEST_LOG_SWITCHES : TEST_LOG_JUMPS;
    if (!strncmp(words, "ret", 3) || !strncmp(words, "ud2", 3) ||
        !strncmp(words, "hlt", 3))
        return TEST_LOG_LEAVES;
    return *words == 'j' || !strncmp(words, "loop", 4) ? TEST_LOG_BRANCHES
                                                       : TEST_LOG_RUNS_ON;
}

/* Checks a line such as "  1040:\tff e0  \tjmp *%rax"; false if it is none. */
static bool check(char *line)
{
    char *at, *words, *end;
    uint64_t address = strtoull(line, &at, 16);
    struct test_log_instruction one;
    unsigned char bytes[16];
    enum test_log_flow flow;
    size_t size = 0;

    words = at > line && *at == ':' ? strchr(at + 2, '\t') : NULL;
    if (!words || strstr(words, "(bad)") || strstr(words, "rex"))
        return false;
    for (at += 2; size < 16 && at < words; at = end)
        bytes[size++] = (unsigned char)strtoul(at, &end, 16),
        end += strspn(end, " ");
    flow = flow_of(words + 1);
    cr_assert(test_log_instruction_read(&one, bytes, size, address), "%s",
              line);
    cr_expect(one.size == size && one.flow == flow, "%s: %u bytes, %u", line,
              one.size, one.flow);
    return true;
}

Test(harness_instructions, are_those_of_objdump)
{
    FILE *objdump = popen("objdump -d --insn-width=16 /proc/$PPID/exe", "r");
    char line[1024];
    size_t count = 0;

    cr_assert_not_null(objdump);
    while (fgets(line, sizeof(line), objdump))
        count += check(line);
    pclose(objdump);
    if (!count)
        cr_skip_test("no objdump, or another machine");
    cr_expect_gt(count, 10000);
}

Test(harness_instructions, lead_to_their_targets)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum test_log_flow flow;
        uint64_t target;
    } cases[] = {
        {"\xe8\xfb\xff\xff\xff", 5, TEST_LOG_CALLS, 0x1000},
        {"\x67\xe8\xfa\xff\xff\xff", 6, TEST_LOG_CALLS, 0x1000},
        {"\xff\x15\xfa\xff\xff\xff", 6, TEST_LOG_CALLS, 0x1000},
        {"\xff\xd0", 2, TEST_LOG_CALLS, 0},
        {"\xeb\x10", 2, TEST_LOG_JUMPS, 0x1012},
        {"\xe9\x0b\x00\x00\x00", 5, TEST_LOG_JUMPS, 0x1010},
        {"\x74\xfe", 2, TEST_LOG_BRANCHES, 0x1000},
        {"\x0f\x84\xfa\xff\xff\xff", 6, TEST_LOG_BRANCHES, 0x1000},
        {"\x3e\xff\xe0", 3, TEST_LOG_SWITCHES, 0},
        {"\xc3", 1, TEST_LOG_LEAVES, 0},
        {"\x8b\x7d\xf8", 3, TEST_LOG_RUNS_ON, 0}, /* "7d f8" would jump */
    };

#ifndef __x86_64__
    cr_skip_test("another machine");
#endif
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct test_log_instruction one;

        cr_assert(test_log_instruction_read(
            &one, (const unsigned char *)cases[i].bytes, cases[i].size,
            0x1000));
        cr_expect_eq(one.size, cases[i].size, "%zu", i);
        cr_expect_eq(one.flow, cases[i].flow, "%zu", i);
        cr_expect_eq(one.target, cases[i].target, "%zu", i);
        cr_expect_not(test_log_instruction_read(
            &one, (const unsigned char *)cases[i].bytes, cases[i].size - 1,
            0x1000));
    }
}
