/* harness_demangle_test.c: names of C++ functions without parameters. */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_cut(const char *demangled, const char *expected)
{
    char *name = strdup(demangled);

    test_log_cut_parameters(name);
    cr_expect_str_eq(name, expected, "%s: %s", demangled, name);
    free(name);
}

Test(harness_demangle, cuts_parameters_and_results)
{
    expect_cut("kv::Store::put(int)", "kv::Store::put");
    expect_cut("kv::Store::size() const", "kv::Store::size");
    expect_cut("int kv::twice<int>(int)", "kv::twice<int>");
    expect_cut("std::pair<int, int> kv::both<int>(int, int)", "kv::both<int>");
    expect_cut("kv::(anonymous namespace)::hidden(int)",
               "kv::(anonymous namespace)::hidden");
    expect_cut("(anonymous namespace)::hidden",
               "(anonymous namespace)::hidden");
    expect_cut("kv::Store::operator()(int)", "kv::Store::operator()");
    expect_cut("kv::operator<(kv::Key, kv::Key)", "kv::operator<");
    expect_cut("kv::Store::operator bool() const", "kv::Store::operator bool");
    expect_cut("call(void (*)(int))", "call");
    expect_cut("store_put", "store_put");
    expect_cut("", "");
    expect_cut(")", "");
    expect_cut("(", "(");
}

Test(harness_demangle, demangles_only_symbols_of_cxx)
{
    char *name = test_log_demangle("_ZN2kv5Store3putEi");

    cr_expect_null(test_log_demangle("store_put"));
    cr_expect_null(test_log_demangle("_Zwrong"));
    if (!name)
        cr_skip_test("libstdc++ is not installed");
    cr_expect_str_eq(name, "kv::Store::put");
    free(name);
}

/* Any text is cut to a part of itself. */
Test(harness_demangle, cuts_any_text)
{
    static const char letters[] = "ab:<>() operator";
    char text[24];

    test_seed(7);
    for (int i = 0; i < 20000; i++) {
        size_t size = test_below(sizeof(text));

        for (size_t k = 0; k < size; k++)
            text[k] = letters[test_below(sizeof(letters) - 1)];
        text[size] = '\0';
        test_log_cut_parameters(text);
        cr_assert_leq(strlen(text), size);
    }
}
