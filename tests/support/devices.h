/* devices.h: helpers for the tests of trace/devices. */
#ifndef TESTS_DEVICES_H
#define TESTS_DEVICES_H

#include "support.h"
#include "trace/devices/cupti/cupti.h"

/* devices_init creates the test's folder, unsets all variables and selects the
 * libcupti that plays records back; for a suite's .init. */
void devices_init(void);

/* devices_play chooses a fixture; devices_set sets PLAYBACK_name. */
void devices_play(const char *fixture);
void devices_set(const char *name, const char *value);

/* devices_options sets profiler options, "key=value,...". */
void devices_options(const char *text);

/* devices_begin starts a recording in nanoseconds, makes the driver load our
 * library, and enters and leaves two spans, "1" and "2". */
void devices_begin(void);

/* devices_begin_in_recording does the same in a recording that was begun. */
void devices_begin_in_recording(void);

/* devices_launch simulates kernel launches by the calling thread. */
void devices_launch(unsigned count);

/* devices_use makes a device's context current on the calling thread, with the
 * driver in tests/playback. */
void devices_use(int device);

/* devices_lines returns a line for each activity, in the form of
 * tests/playback/oracle.py, which are kept. */
char *devices_lines(struct trace_reader *);

/* devices_meta returns the value of "gpu.NAME", "" if there is none. */
const char *devices_meta(const struct trace_reader *, const char *name);

/* devices_calls returns the calls of CUPTI so far, which are kept. */
char *devices_calls(void);

/* devices_object compiles a shared object with that name and loads it. */
void devices_object(const char *name, const char *code);

/* devices_toolkit finds the folder of a CUDA toolkit with CUPTI. */
bool devices_toolkit(char root[PATH_MAX]);

int InitializeInjection(void);

#endif
