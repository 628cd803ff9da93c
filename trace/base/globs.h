/* globs.h: fnmatch(3) with extended patterns, such as "@(a|b)", where the C
 * library has them: musl's has not. Private to the project. */
#ifndef TRACE_GLOBS_H
#define TRACE_GLOBS_H

#include <fnmatch.h>

#ifndef FNM_EXTMATCH
#    define FNM_EXTMATCH 0
#endif

#endif
