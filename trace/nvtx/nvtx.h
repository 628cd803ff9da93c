/* nvtx.h: sends spans, events and signposts to a tool that receives NVTX.
 * Private. */
#ifndef TRACE_NVTX_H
#define TRACE_NVTX_H

#include "trace/devices/nvtx/nvtx_abi.h"
#include "trace/recording.h"

/* ---- nvtx_client.c ---- */

/* trace_nvtx_table is given to a tool, which fills the tables that it returns.
 * trace_nvtx_function returns the tool's function, NULL if it has none;
 * TRACE_NVTX does so for a Name of NVTX_FUNCTIONS. */
nvtx_get_table trace_nvtx_table;
nvtx_function trace_nvtx_function(enum nvtx_function_module,
                                  enum nvtx_function_number);

#define TRACE_NVTX(name) trace_nvtx_function(NVTX_MODULE_OF_##name, NVTX_##name)

/* ---- nvtx.c ---- */

/* trace_nvtx_send sends spans, events and signposts of the recordings that
 * begin later to the tool in NVTX_INJECTION64_PATH, which it loads. It does
 * nothing if there is none, or if it is our own library, which receives. */
void trace_nvtx_send(void);

/* trace_nvtx_note records why loading the tool failed, if it did. */
void trace_nvtx_note(void);

#endif
