/* chrome.h: exports and parses traces, and checks them. */
#ifndef TESTS_CHROME_H
#define TESTS_CHROME_H

#include <cjson/cJSON.h>

#include "support.h"

/* chrome_export exports a recording as process 7 and parses it. chrome_parse
 * parses the text of an open_memstream() and frees it. Both keep the result. */
cJSON *chrome_export(struct trace_reader *, const char *const *metadata);
cJSON *chrome_parse(char *text, size_t size);

/* chrome_export_without_memory exports a recording again and again, where
 * allocation 1, 2, ... fails, below `most`. */
void chrome_export_without_memory(struct trace_reader *, size_t most);

/* chrome_text returns a member's text, "" if there is none. chrome_number fails
 * the test if there is none. */
const char *chrome_text(const cJSON *object, const char *key);
double chrome_number(const cJSON *object, const char *key);
double chrome_end(const cJSON *event);

/* chrome_event returns the first event with a phase and name, chrome_args its
 * arguments; they fail the test if there is none. chrome_count counts such
 * events. */
const cJSON *chrome_event(const cJSON *json, const char *phase,
                          const char *name);
const cJSON *chrome_args(const cJSON *json, const char *phase,
                         const char *name);
size_t chrome_count(const cJSON *json, const char *phase, const char *name);

/* chrome_check_keys expects unique keys in every object. chrome_check_nesting
 * expects complete events of one track to be nested or disjoint.
 * chrome_check_arrows expects both ends of every arrow with that name, the
 * start first, each inside a slice; it returns the number of arrows. */
void chrome_check_keys(const cJSON *object);
void chrome_check_nesting(const cJSON *events);
size_t chrome_check_arrows(const cJSON *json, const char *name);

#endif
