/* standalone.h: a recording of a program that has no tests. Private.
 */
#ifndef TRACE_DEVICES_STANDALONE_H
#define TRACE_DEVICES_STANDALONE_H

#include "trace/device.h"

/* trace_device_record_here returns what a back end tells: the process's own
 * recording; or, where the variable TESTLOG_RECORD names a folder, one that is
 * made below it and closed when the process ends. NULL if there is neither.
 * May be called from any thread. */
const struct trace_device_host *trace_device_record_here(void);

#endif
