/* standalone.h: recordings of programs that have no tests. Private. */
#ifndef TRACE_DEVICES_STANDALONE_H
#define TRACE_DEVICES_STANDALONE_H

#include "trace/device.h"

/* trace_device_record_here returns the interface of the process's recordings,
 * once the first has begun. If there is none and the variable TESTLOG_RECORD
 * names a folder, it makes a recording below that folder and closes it when the
 * process ends; otherwise it returns NULL and looks again when it is called
 * again. Safe to call from any thread. */
const struct trace_device_host *trace_device_record_here(void);

#endif
