/* nvtx_receiver.h: receives what a program annotates with NVTX. Private.
 *
 * Nothing here takes a lock: tables only grow, each slot belongs to the thread
 * that fills it first, and a thread's ranges are its own. So a forked child and
 * a signal handler find the tables as they are.
 */
#ifndef TRACE_NVTX_RECEIVER_H
#define TRACE_NVTX_RECEIVER_H

#include "trace/device.h"
#include "trace/devices/nvtx/nvtx_abi.h"

/* ---- receive.c ---- */

/* nvtx_receive takes the calls of a program or shared object, through its
 * function that returns tables; false if these are not NVTX's.
 * nvtx_receive_extension takes those of an extension. nvtx_record_to
 * records them from now on; NULL: nowhere. */
bool nvtx_receive(nvtx_get_table *);
bool nvtx_receive_extension(struct nvtx_extension *);
void nvtx_record_to(const struct trace_device_host *);

/* nvtx_host returns the recording, NULL if there is none. */
const struct trace_device_host *nvtx_host(void);

/* ---- nvtx_strings.c: texts that programs register ---- */

enum { NVTX_STRINGS = 1 << 18, NVTX_DOMAINS = 256, NVTX_CATEGORIES = 1024 };

/* nvtx_domain returns a handle for a domain's name, the same for the same name;
 * NULL, which is the default domain, if there are too many.
 * nvtx_domain_number returns its number below NVTX_DOMAINS, 0 for the default
 * domain and for a handle that we did not give out. nvtx_domain_target returns
 * its target, "nvtx::NAME". */
nvtx_handle nvtx_domain(const char *name);
uint32_t nvtx_domain_number(nvtx_handle);
const char *nvtx_domain_target(uint32_t number);

/* nvtx_string returns a handle for a text, NULL if there are too many.
 * nvtx_string_text returns the text, NULL for a handle that we did not give
 * out. */
nvtx_handle nvtx_string(const char *text);
const char *nvtx_string_text(nvtx_handle);

/* nvtx_category_name returns a category's name, NULL if it has none. */
void nvtx_name_category(uint32_t domain, uint32_t category, const char *name);
const char *nvtx_category_name(uint32_t domain, uint32_t category);

/* nvtx_narrow converts a wide text to UTF-8; NULL stays NULL. The caller frees
 * it. */
char *nvtx_narrow(const wchar_t *);

/* ---- payload.c: structs of a program's as payloads ---- */

/* The fields of every annotation, with those of a schema behind them. */
enum {
    NVTX_MESSAGE,
    NVTX_PAYLOAD,
    NVTX_CATEGORY,
    NVTX_COLOR,
    NVTX_FIELDS,
    NVTX_FIELDS_MOST = 16,
};
#define NVTX_FIELD_NAMES "message", "payload", "category", "color"

struct nvtx_schema;

/* nvtx_schema_register and nvtx_enum_register copy a description and return its
 * number, which is the program's own if it has one; 0 if there are too many. */
uint64_t nvtx_schema_register(uint32_t domain,
                              const struct nvtx_schema_attributes *);
uint64_t nvtx_enum_register(uint32_t domain,
                            const struct nvtx_enum_attributes *);

/* nvtx_payload_find returns the first payload with a known schema; NULL: none.
 */
const struct nvtx_payload *nvtx_payload_find(uint32_t domain, size_t count,
                                             const struct nvtx_payload *,
                                             const struct nvtx_schema **);

/* nvtx_schema_fields returns the names of all fields of such an annotation, and
 * their number. nvtx_payload_read fills the values behind NVTX_FIELDS, which
 * point into the payload, and returns the annotation's text: the entry that is
 * one, else the schema's name. To be freed. */
const char *const *nvtx_schema_fields(const struct nvtx_schema *,
                                      size_t *count);
char *nvtx_payload_read(const struct nvtx_schema *, const struct nvtx_payload *,
                        struct trace_value *values);

/* nvtx_payload_value returns a single value, without a schema. */
struct trace_value nvtx_payload_value(const struct nvtx_payload *);

/* ---- ranges.c: open ranges ---- */

/* nvtx_range_push adds a range of the calling thread and returns its level in
 * its domain, counted from 0; -1 if it does not fit, because the thread has too
 * many. nvtx_range_pop removes the last one of a domain and returns its level,
 * -1 if there is none. */
bool nvtx_range_fits(void);
int nvtx_range_push(uint32_t domain, struct trace_span_ref);
int nvtx_range_pop(uint32_t domain, struct trace_span_ref *);

/* nvtx_range_reserve returns the slot of a range that any thread may end, -1 if
 * there are too many; nvtx_range_start fills it and returns the range's id.
 * nvtx_range_end empties it; false if the id is not that of an open range. */
int nvtx_range_reserve(void);
uint64_t nvtx_range_start(int slot, struct trace_span_ref);
bool nvtx_range_end(uint64_t id, struct trace_span_ref *);

#endif
