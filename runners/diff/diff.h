/* diff.h: what the files of `testlog diff` share. Private. */
#ifndef TESTLOG_DIFF_H
#define TESTLOG_DIFF_H

#include "compared.h"

/* ---- diff_text.c ---- */

/* runners_diff_put_text prints what differs between the runs as text. */
void runners_diff_put_text(const struct compared *,
                           const struct recorded_runs *);

/* ---- diff_json.c ---- */

/* runners_diff_put_json prints it as one JSON object. */
void runners_diff_put_json(const struct compared *,
                           const struct recorded_runs *);

#endif
