/* version.h: the version of the library and of `testlog`. GNUmakefile reads it,
 * too. Private. */
#ifndef TESTLOG_VERSION_H
#define TESTLOG_VERSION_H

#define TEST_LOG_VERSION "0.2.0"

/* The compiler of this file: "GCC 12.2.0". */
#ifdef __clang__
#    define TEST_LOG_COMPILER __VERSION__ /* "Clang 14.0.6" */
#else
#    define TEST_LOG_COMPILER "GCC " __VERSION__
#endif

#endif
