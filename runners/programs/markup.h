/* markup.h: reads the markup of reports. Private.
 *
 * Reports look like XML, but frameworks put names and output of tests into them
 * as they are: bytes that XML forbids, "<" in an attribute, "]]>" in CDATA.
 * A report may also be several documents, and end anywhere. A parser of XML
 * stops at the first of these; this one goes on.
 */
#ifndef TESTLOG_MARKUP_H
#define TESTLOG_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What to call for each element, with its attributes (name, value, ..., NULL),
 * and for the text between its tags. NULL: nothing. Ends may come without a
 * beginning, and are left out at a cut. */
struct markup {
    void *context;
    void (*begin)(void *context, const char *name, const char **attributes);
    void (*end)(void *context, const char *name);
    void (*text)(void *context, const char *text, size_t size);
};

/* runners_markup_read reads a file to its end, in which a NUL becomes '?'.
 * Returns whether the document that began last has ended: the file has one, and
 * is not cut. */
bool runners_markup_read(const struct markup *, FILE *in);

/* runners_markup_attribute returns an attribute's value, NULL if there is none
 * of that name. */
const char *runners_markup_attribute(const char **attributes, const char *name);

#endif
