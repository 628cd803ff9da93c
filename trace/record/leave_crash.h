/* leave_crash.h: what `testlog run` tells libtestlog-crash.so. Private. */
#ifndef TRACE_LEAVE_CRASH_H
#define TRACE_LEAVE_CRASH_H

/* The path of a file for a value of trace_crash and what follows it. The
 * library is the first in LD_PRELOAD. */
#define TRACE_LEAVE_CRASH_VARIABLE "TESTLOG_CRASH"

#endif
