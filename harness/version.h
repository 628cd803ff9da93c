/* version.h: the version of the library and of `testlog`. GNUmakefile reads it,
 * too. Private. */
#ifndef TESTLOG_VERSION_H
#define TESTLOG_VERSION_H

#define TEST_LOG_VERSION "0.2.0"

#endif
