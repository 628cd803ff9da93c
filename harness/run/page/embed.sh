#!/bin/sh
# embed.sh OUTPUT [FOLDER]: writes a C file with a page. It is FOLDER.html in the
# folder report/FOLDER, or report/page.html: @CSS@ is the files in `style_sheets`
# beside it, @JS@ those in `scripts`, both relative to report/, and @STYLE@ and
# @SCRIPT@ their SHA-256, which the page's Content-Security-Policy admits. A
# folder without FOLDER.html extends page.html, and asks a server for its data.
set -eu
LC_ALL=C
export LC_ALL
out=$(realpath "$1")
name=${2:-page}
from=${2:-.}
cd "$(dirname "$0")/report"

own=$from/$name.html more=.
[ -e "$own" ] || own=page.html more=$from

# all LIST: prints the files in a list, and those that the folder adds.
all() {
    if [ "$more" = . ]; then
        xargs cat <"$from/$1"
    else
        cat "$1" "$more/$1" | xargs cat
    fi
}

styles() {
    all style_sheets
}

scripts() {
    all scripts
}

digest() {
    sha256sum | cut -c-64 | tr a-f A-F | basenc -d --base16 | base64
}

template() {
    sed "s|@STYLE@|$(styles | digest)|; s|@SCRIPT@|$(scripts | digest)|" "$own" |
        if [ "$more" = . ]; then
            cat
        else
            sed "s|; base-uri|; connect-src 'self'&|"
        fi
}

# part FROM TO: prints the text between two marks, without the last newline.
part() {
    printf %s "$(template | sed -n "$1,$2p" | sed "1s/.*@CSS@//; 1s/.*@JS@//; \$s/@CSS@.*//; \$s/@JS@.*//")"
}

page() {
    part 1 /@CSS@/
    styles
    part /@CSS@/ /@JS@/
    scripts
    part /@JS@/ '$'
}

{
    echo '#include "harness/run/page/report_html.h"'
    echo "const unsigned char test_log_${name}_html[] = {"
    page | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1,/g'
    echo '};'
    echo "const size_t test_log_${name}_html_size = sizeof(test_log_${name}_html);"
} >"$out"
