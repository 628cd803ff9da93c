/* symbols.h: the names of functions in programs and shared objects. Private.
 *
 * They come from elfutils' libdwfl, which is opened when the first name is
 * needed, in the runner and in testlog; never in a test. Without it, functions
 * have no names.
 */
#ifndef TEST_LOG_SYMBOLS_H
#define TEST_LOG_SYMBOLS_H

#include "trace/read/reader.h"
#include "trace/recording.h"

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

/* test_log_symbols_readable tells whether libdwfl is installed. */
bool test_log_symbols_readable(void);

/* test_log_module_each visits the symbols of functions: `address` is that
 * in the file, and `defined` is false for a function of another file. */
typedef void test_log_visit_symbol(void *context, const char *symbol,
                                   uint64_t address, bool defined);
void test_log_module_each(struct test_log_module *, test_log_visit_symbol *,
                          void *context);

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

/* test_log_module_place finds the function that has a place in the file, in
 * bytes, and the line there. */
bool test_log_module_place(struct test_log_module *, uint64_t place,
                           struct test_log_symbol *);

/* ---- function_list.c: a list such as "store_*,!*_cmp,lib:libz*" ---- */

struct test_log_function_glob {
    const char *item; /* as it was given, such as "!*_cmp" */
    const char *glob; /* its pattern */
    bool excludes;    /* "!" */
    bool library;     /* "lib:": it matches the name of a file */
    bool matched;
};

struct test_log_function_list {
    struct test_log_function_glob *globs;
    size_t count;
    bool none;     /* "none" */
    bool includes; /* only functions that a glob matches are recorded */
    char *text;    /* of the globs */
};

/* test_log_function_list_read parses a list. It returns NULL, or what is wrong.
 * test_log_function_list_free frees it. */
const char *test_log_function_list_read(struct test_log_function_list *,
                                        const char *text);
void test_log_function_list_free(struct test_log_function_list *);

/* The results of a match; bits. */
enum { TEST_LOG_FUNCTION_INCLUDED = 1, TEST_LOG_FUNCTION_EXCLUDED = 2 };

/* test_log_function_list_match marks the globs that match a function, and
 * returns what they say of it. test_log_function_list_match_file does so for
 * all functions of a file. */
unsigned test_log_function_list_match(struct test_log_function_list *,
                                      const char *symbol);
unsigned test_log_function_list_match_file(struct test_log_function_list *,
                                           const char *path);

/* ---- function_filter.c ---- */

/* test_log_function_filter_share makes the filter of this process's modules, in
 * memory that workers attach to: of each module that calls the hooks, the
 * functions that `list` wants, up to `depth` (0: any), of at least `least` ns.
 * `start` is a moment of before. It returns the memory's id, or -1 with errno.
 * *hooked tells whether there is such a module. */
int test_log_function_filter_share(struct test_log_function_list *list,
                                   uint32_t depth, uint64_t least,
                                   const struct trace_anchor *start,
                                   bool *hooked);

#endif
