#!/bin/sh
# zone_text.sh OUTPUT: writes a C file with the text of zone.h, for runtime
# compilers.
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")"

{
    cat <<'END'
#include <testlog/zone.h>

#define DEFINE "#ifndef TRACING\n#define TRACING\n#endif\n"

static const char text[] = DEFINE
END
    sed 's/[\\"]/\\&/g; s/.*/    "&\\n"/' zone.h
    cat <<'END'
    "#line 1\n";

const char *trace_zone_source_(int traced)
{
    return traced ? text : text + sizeof(DEFINE) - 1;
}
END
} >"$out"
