/* symbols.h: the names of functions in programs and shared objects. Private.
 *
 * They come from elfutils' libdwfl, which is opened when the first name is
 * needed, in the runner and in testlog; never in a test. Without it, functions
 * have no names.
 */
#ifndef TEST_LOG_SYMBOLS_H
#define TEST_LOG_SYMBOLS_H

#include "trace/read/reader.h"

/* ---- function_names.c ---- */

/* test_log_name_functions makes readers of recordings name functions. */
void test_log_name_functions(void);

/* ---- demangle.c ---- */

/* test_log_demangle returns the name of a C++ symbol, without parameters; NULL
 * if it is none. The caller frees it. */
char *test_log_demangle(const char *symbol);

/* test_log_cut_parameters cuts a demangled name before its parameters, and
 * removes the type that it returns. */
void test_log_cut_parameters(char *name);

/* ---- module_symbols.c ---- */

/* The symbols of a file. */
struct test_log_module;

/* test_log_module_open opens a file's symbols; NULL if there are none, or if it
 * has another build-id. test_log_module_close closes them. */
struct test_log_module *test_log_module_open(const struct trace_module_file *);
void test_log_module_close(struct test_log_module *);

/* A function, with the symbol that the file has for it. */
struct test_log_symbol {
    const char *symbol;
    const char *file; /* relative, if it was compiled so; NULL: unknown */
    uint32_t line;
};

/* test_log_module_function finds the function that begins at an address; false
 * if there is none. The texts stay valid until the module is closed. */
bool test_log_module_function(struct test_log_module *, uint64_t address,
                              struct test_log_symbol *);

#endif
