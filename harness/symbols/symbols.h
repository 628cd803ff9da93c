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

/* test_log_name_functions makes readers of recordings name functions.
 * test_log_changed_file returns the path of the first file that was not asked,
 * because it is not the one that was recorded, and the number of such files;
 * NULL without any. */
void test_log_name_functions(void);
const char *test_log_changed_file(size_t *count);

/* ---- demangle.c ---- */

/* test_log_demangle returns the name of a C++ symbol, without parameters; NULL
 * if it is none. The caller frees it. */
char *test_log_demangle(const char *symbol);

/* test_log_cut_parameters cuts a demangled name before its parameters, and
 * removes the type that it returns. */
void test_log_cut_parameters(char *name);

/* ---- module_symbols.c ---- */

/* The symbols of a file. */
struct dl_phdr_info;
struct test_log_module;

/* test_log_module_open opens the symbols of a file that was recorded; NULL if
 * there are none, or if it is another one now: its build-id or stamp differs,
 * or none was recorded. test_log_module_load opens those of a file as it is.
 * test_log_module_close closes them. */
struct test_log_module *test_log_module_open(const struct trace_module_file *);
struct test_log_module *test_log_module_load(const char *path);
void test_log_module_close(struct test_log_module *);

/* test_log_symbols_readable tells whether libdwfl is installed. */
bool test_log_symbols_readable(void);

/* test_log_module_each visits the symbols of functions: `address` is that
 * in the file, `size` is in bytes, and `defined` is false for a function of
 * another file. */
typedef void test_log_visit_symbol(void *context, const char *symbol,
                                   uint64_t address, uint64_t size,
                                   bool defined);
void test_log_module_each(struct test_log_module *, test_log_visit_symbol *,
                          void *context);

/* A function, with the symbol that the file has for it. */
struct test_log_symbol {
    const char *symbol;
    const char *file; /* relative, if it was compiled so; NULL: unknown */
    uint32_t line;
    uint32_t last_line; /* of a block of lines; 0: it has one */
    const char *begins; /* test_log_module_place: the file where the function
                           begins; `file` may be that of inlined code */
};

/* test_log_module_function finds the function that begins at an address; false
 * if there is none. The texts stay valid until the module is closed. */
bool test_log_module_function(struct test_log_module *, uint64_t address,
                              struct test_log_symbol *);

/* test_log_module_place finds the function that has a place in the file, in
 * bytes, and the line there. */
bool test_log_module_place(struct test_log_module *, uint64_t place,
                           struct test_log_symbol *);

/* test_log_module_address finds the address in the file of a place. */
bool test_log_module_address(struct test_log_module *, uint64_t place,
                             uint64_t *address);

/* test_log_module_at does so for an address in the file. */
bool test_log_module_at(struct test_log_module *, uint64_t address,
                        struct test_log_symbol *);

/* test_log_module_range finds where the function begins and ends that has the
 * byte before an address; false if that is not known. */
bool test_log_module_range(struct test_log_module *, uint64_t address,
                           uint64_t *begin, uint64_t *end);

/* Code of a line: its addresses in the file, from `begin` to before `end`. */
struct test_log_line {
    uint64_t begin, end;
    const char *file; /* its path; valid until the module is closed */
    uint32_t line;
};

/* test_log_module_lines visits the lines of all code in a file that has
 * debugging information. */
typedef void test_log_visit_line(void *context, const struct test_log_line *);
void test_log_module_lines(struct test_log_module *, test_log_visit_line *,
                           void *context);

/* Code of a file, as it is loaded. */
struct test_log_code {
    const unsigned char *bytes; /* valid until the module is closed */
    uint64_t begin, end;        /* addresses */
};

/* test_log_module_code finds the code around an address; false if it is not in
 * the file. */
bool test_log_module_code(struct test_log_module *, uint64_t address,
                          struct test_log_code *);

/* ---- frame_rules.c ---- */

/* test_log_module_rules finds how to find the caller of code at a place in the
 * file, in bytes; false if the file does not tell, or has something rare. */
bool test_log_module_rules(struct test_log_module *, uint64_t place,
                           struct trace_frame_rules *);

/* ---- line_blocks.c: blocks, by the address to which a hook returns ---- */

/* test_log_module_block finds the function and the lines of a block. */
bool test_log_module_block(struct test_log_module *, uint64_t address,
                           struct test_log_symbol *);

/* test_log_visit_calls visits what a function calls: in one that has blocks,
 * the hook more often than anything else. */
typedef void test_log_visit_call(void *context, uint64_t called);
void test_log_visit_calls(struct test_log_module *, uint64_t begin,
                          uint64_t end, test_log_visit_call *, void *context);

/* test_log_called_before returns what the call before an address calls, as
 * test_log_visit_pieces takes it; 0 if there is none. */
uint64_t test_log_called_before(struct test_log_module *, uint64_t address);

/* A piece of a function, which runs as a whole, by addresses in the file. */
struct test_log_piece {
    uint64_t begin, end;
    uint64_t from; /* the hook that control has come from; 0: none is known */
    uint64_t next; /* the hook that control surely comes to; 0: none */
    bool behind_call; /* since `from`: it runs if what was called returns */
    bool is_empty;    /* the hook's block only leaves the function */
    bool has_no_line; /* the hook's block lets an exception pass */
    uint64_t jump_before, jump_behind; /* the next jumps to it; 0: none */
    uint64_t jump; /* where it jumps in any case, at its end; 0: it does not */
};

/* test_log_visit_pieces visits the pieces of a function, in their order, if
 * `hook` is what its blocks call; false if its code cannot be read. */
typedef void test_log_visit_piece(void *context, const struct test_log_piece *);
bool test_log_visit_pieces(struct test_log_module *, uint64_t hook,
                           uint64_t begin, uint64_t end, test_log_visit_piece *,
                           void *context);

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

/* test_log_count_items returns how many items commas separate in a text. */
size_t test_log_count_items(const char *text);

/* The results of a match; bits. */
enum { TEST_LOG_FUNCTION_INCLUDED = 1, TEST_LOG_FUNCTION_EXCLUDED = 2 };

/* test_log_function_list_match marks the globs that match a function, and
 * returns what they say of it. test_log_function_list_match_file does so for
 * all functions of a file. */
unsigned test_log_function_list_match(struct test_log_function_list *,
                                      const char *symbol);
unsigned test_log_function_list_match_file(struct test_log_function_list *,
                                           const char *path);

/* ---- line_list.c: a list such as "src/store.c:40-80,parse_*" ---- */

/* Lines of a file, or of a function. */
struct test_log_region {
    char *item;           /* as it was given */
    char *text;           /* of `file` */
    const char *file;     /* the end of its path; NULL: it is a function */
    uint32_t first, last; /* lines */
    struct test_log_function_list function;
    bool matched;
};

struct test_log_line_list {
    struct test_log_region *regions;
    size_t count;
};

/* test_log_line_list_read parses a list. It returns NULL, or what is wrong.
 * test_log_line_list_free frees it. */
const char *test_log_line_list_read(struct test_log_line_list *,
                                    const char *text);
void test_log_line_list_free(struct test_log_line_list *);

/* test_log_line_list_match tells whether a line is in a region, and marks those
 * that have it; test_log_line_list_match_function whether all lines of a
 * function are. */
bool test_log_line_list_match(struct test_log_line_list *,
                              const struct test_log_line *);
bool test_log_line_list_match_function(struct test_log_line_list *,
                                       const char *symbol);

/* ---- function_filter.c ---- */

/* The calls and lines that tests record. */
struct test_log_recorded_code {
    struct test_log_function_list functions; /* empty: all */
    uint32_t depth;                          /* most open calls; 0: any */
    uint64_t least; /* ns of a call that calls nothing */
    struct test_log_line_list lines;
    /* Of the program, up to one without a name; NULL: this process's. */
    struct dl_phdr_info *modules;
    bool hooked; /* found: a module calls the hooks of functions */
    bool lined;  /* found: a module calls that of lines */
};

/* test_log_function_filter_share makes the filter of a program, in memory that
 * its processes attach to: of each module that calls the hooks, the
 * functions and lines that are recorded. `start` is a moment of before. It
 * returns the memory's id, or -1 with errno. */
int test_log_function_filter_share(struct test_log_recorded_code *,
                                   const struct trace_anchor *start);

#endif
