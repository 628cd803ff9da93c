/* runners_markup_test.c: reads the markup of reports that are no XML. */
#include "runners/programs/markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static void begin(void *seen, const char *name, const char **attributes)
{
    trace_text_printf(seen, "<%s", name);
    for (; *attributes; attributes += 2)
        trace_text_printf(seen, "|%s|%s", attributes[0], attributes[1]);
    trace_text_char(seen, '>');
}

static void end(void *seen, const char *name)
{
    trace_text_printf(seen, "</%s>", name);
}

static void text(void *seen, const char *bytes, size_t size)
{
    trace_text_add(seen, bytes, size);
}

static char *read_back(const char *bytes, size_t size, bool *whole)
{
    struct trace_text seen = {0};
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");

    cr_assert_not_null(in);
    *whole = runners_markup_read(
        &(struct markup){
            .context = &seen, .begin = begin, .end = end, .text = text},
        in);
    fclose(in);
    return test_keep(seen.data ? seen.data : calloc(1, 1));
}

/* Text and tags with what is read of them; "..." is cut. */
static const struct row {
    const char *given, *seen;
    bool cut;
} rows[] = {
    {"<?xml version='1.0'?><!DOCTYPE a><a b=\"c\" d='e'>f<!-- g > --></a>\n",
     "<a|b|c|d|e>f</a>\n", false},
    {"<a b=\"&lt;&gt;&amp;&quot;&apos;&#x41;&#66;\">&lt;&#10;</a>",
     "<a|b|<>&\"'AB><\n</a>", false},
    {"<a b=\"&nbsp;&#x1F600;&\">&;&#;&</a>", "<a|b|&nbsp;&#x1F600;&>&;&#;&</a>",
     false},
    {"<a b=\"1\t2\n3\">4\r\n5\r6</a>", "<a|b|1 2 3>4\n5\r6</a>", false},
    {"<a/>", "<a></a>", false},
    {"<a ><b/ ></a >", "<a><b></a>", false},
    /* names as they are */
    {"<a b=\"c < d\" e=\"f > g\"/>", "<a|b|c < d|e|f > g></a>", false},
    {"<a b=\"say \"x\" twice\" e=\"1\"/>", "<a|b|say \"x\" twice|e|1></a>",
     false},
    {"<a b=\"'\" c='\"'/>", "<a|b|'|c|\"></a>", false},
    {"<a b=\"M\xfcnchen\x01\xef\xbf\xbe\"/>",
     "<a|b|M\xfcnchen\x01\xef\xbf\xbe>"
     "</a>",
     false},
    {"<a>1 < 2 <3</a>", "<a>1 < 2 <3</a>", false},
    /* CDATA */
    {"<a><![CDATA[<b>&amp;\r\n]]></a>", "<a><b>&amp;\n</a>", false},
    {"<a><![CDATA[x[y[0]]>1\nFailure!]]></a>", "<a>x[y[0]]>1\nFailure!</a>",
     false},
    {"<a><![CDATA[1]]>]]&gt;<![CDATA[2]]></a>", "<a>1]]>2</a>", false},
    {"<a><![CDATA[1]]> <![CDATA[2]]>\n</a>", "<a>1 2\n</a>", false},
    /* several documents, and ends without a beginning */
    {"<?xml?><a><b/></a>\n<?xml?><a><c/></a>", "<a><b></b></a>\n<a><c></c></a>",
     false},
    {"<a><b></a><a/>", "<a><b></a><a></a>", false},
    {"<a></b></a>", "<a></b></a>", false},
    {"<a><b/><a></a>", "<a><b></b><a></a>", true},
    {"<a></a><a>", "<a></a><a>", true},
    /* cuts */
    {"", "", true},
    {"<a", "", true},
    {"<a><b c=\"d", "<a>", true},
    {"<a><b c=\"d\"", "<a>", true},
    {"<a><![CDATA[x]]", "<a>x]]", true},
    {"<a>x</a", "<a>x", true},
    {"<a>x<!-- y", "<a>x", true},
};

Test(runners_markup, reads_what_is_no_xml)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        bool whole;
        char *seen = read_back(rows[i].given, strlen(rows[i].given), &whole);

        cr_expect_str_eq(seen, rows[i].seen, "%s: %s", rows[i].given, seen);
        cr_expect_eq(whole, !rows[i].cut, "%s", rows[i].given);
    }
}

Test(runners_markup, replaces_a_nul)
{
    static const char bytes[] = "<a b=\"c\0d\">e\0f</a>";
    bool whole;
    char *seen = read_back(bytes, sizeof(bytes) - 1, &whole);

    cr_expect_str_eq(seen, "<a|b|c?d>e?f</a>");
    cr_expect(whole);
}
