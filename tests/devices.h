/* devices.h: what the tests of trace/devices share. */
#ifndef TESTS_DEVICES_H
#define TESTS_DEVICES_H

#include "support.h"
#include "trace/devices/cupti/cupti.h"

/* devices_init makes the test's folder, takes all variables back and names the
 * libcupti that plays back; for a suite's .init. */
void devices_init(void);

/* devices_play chooses a fixture; devices_set sets PLAYBACK_name. */
void devices_play(const char *fixture);
void devices_set(const char *name, const char *value);

/* devices_begin begins a recording whose ticks are ns and has the driver load
 * us; it enters and leaves two spans, "1" and "2". */
void devices_begin(void);

/* devices_launch pretends that the calling thread launches kernels. */
void devices_launch(unsigned count);

/* devices_lines returns a line for each activity, as tests/playback/oracle.py
 * has them, to be freed. */
char *devices_lines(struct trace_reader *);

/* devices_meta returns the value of "gpu." and a name, "" if there is none. */
const char *devices_meta(const struct trace_reader *, const char *name);

/* devices_calls returns what was called of CUPTI so far, to be freed. */
char *devices_calls(void);

/* devices_object compiles a shared object of that name and loads it. */
void devices_object(const char *name, const char *code);

/* devices_toolkit finds the folder of a CUDA toolkit with CUPTI. */
bool devices_toolkit(char root[PATH_MAX]);

int InitializeInjection(void);

#endif
