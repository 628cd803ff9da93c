/* chrome.h: a trace for viewers, parsed, and what must hold of it. */
#ifndef TESTS_CHROME_H
#define TESTS_CHROME_H

#include <cjson/cJSON.h>

#include "support.h"

/* chrome_export exports a recording as process 7, chrome_parse reads what was
 * written to a stream of open_memstream(). */
cJSON *chrome_export(struct trace_reader *, const char *const *metadata);
cJSON *chrome_parse(char *text, size_t size);

/* chrome_text is a member's text, "" if it has none; chrome_number fails the
 * test instead. */
const char *chrome_text(const cJSON *object, const char *key);
double chrome_number(const cJSON *object, const char *key);
double chrome_end(const cJSON *event);

/* chrome_event returns the first event of a phase with that name, chrome_args
 * its arguments; they fail the test if there is none. chrome_count counts
 * them. */
const cJSON *chrome_event(const cJSON *json, const char *phase,
                          const char *name);
const cJSON *chrome_args(const cJSON *json, const char *phase,
                         const char *name);
size_t chrome_count(const cJSON *json, const char *phase, const char *name);

/* chrome_check_keys wants each key once in an object; chrome_check_nesting
 * complete events of one track in each other or apart. */
void chrome_check_keys(const cJSON *object);
void chrome_check_nesting(const cJSON *events);

#endif
