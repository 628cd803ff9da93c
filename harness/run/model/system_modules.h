/* system_modules.h: the libraries whose frames are only counted. Private. */
#ifndef TESTLOG_SYSTEM_MODULES_H
#define TESTLOG_SYSTEM_MODULES_H

#include <stdbool.h>
#include <string.h>

#include "trace/base/strings.h"

/* test_log_is_system_module tells whether a path is that of libc, the C++
 * library, Criterion or a library that Criterion brings. */
static inline bool test_log_is_system_module(const char *path)
{
    static const char *const begins[] = {
        "libc.so",      "libc-",        "libpthread", "ld-linux",
        "libstdc++.so", "libc++.so",    "libc++abi",  "libgcc_s.so",
        "libunwind.so", "libcriterion", "libboxfort", "libnanomsg",
        "libtestlog",   "libffi.so"};
    const char *name = trace_base_name(path);

    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* test_log_is_system_header tells whether a source file is a header of an
 * installed library, whose inline functions are in the program itself. */
static inline bool test_log_is_system_header(const char *path)
{
    return !strncmp(path, "/usr/include/", 13) ||
           !strncmp(path, "/usr/lib/", 9);
}

#endif
