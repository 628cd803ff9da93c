/* cupti_graph_nodes_test.c: names the spans that made the nodes of graphs. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_graph_nodes, .init = devices_init);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);

/* Makes a node of a graph, or copies one. */
static void make(uint64_t id, uint64_t original)
{
    void *handle = dlopen(BUILD_DIR "/tests/playback.so", RTLD_NOW);
    void (*node)(uint64_t, uint64_t) = (void (*)(uint64_t, uint64_t))(
        uintptr_t)dlsym(handle, "trace_playback_node");

    cr_assert(node, "%s", dlerror());
    node(id, original);
    dlclose(handle);
}

#define FIRST UINT64_C(38654705664)

/* Plays back two kernels of each of three nodes: copies of copies of 11 and 12,
 * and an unknown one. */
static char *lines_of_copies(const char *options)
{
    struct trace_span_ref one, two;

    outer.interest = inner.interest = TRACE_UNREGISTERED;
    trace_site_register(&outer);
    trace_site_register(&inner);
    devices_options(options);
    devices_play("graph");
    devices_begin();
    one = trace_span_open_(&outer, 0, NULL);
    two = trace_span_open_(&inner, 0, NULL);
    make(11, 0);
    trace_span_leave_(two);
    make(12, 0);
    trace_span_leave_(one);
    make(21, 11);
    make(22, 12);
    make(21, 0); /* CUPTI may report a copy as made, too */
    make(FIRST, 21);
    make(FIRST + 1, 22);
    return devices_lines(test_read());
}

Test(cupti_graph_nodes, are_named_by_the_span_that_made_them)
{
    char *lines = lines_of_copies("gpu_dump_graph_node_mapping=true");

    cr_expect_eq(e2e_count(lines, "graph.node=38654705664 graph.original=11 "
                                  "graph.span=inner"),
                 2, "%s", lines);
    cr_expect_eq(e2e_count(lines, "graph.node=38654705665 graph.original=12 "
                                  "graph.span=outer"),
                 2, "%s", lines);
    cr_expect_eq(e2e_count(lines, "graph.original"), 4, "%s", lines);
}

Test(cupti_graph_nodes, have_no_names_unless_it_is_asked_for)
{
    char *lines = lines_of_copies("");
    char *calls = devices_calls();

    cr_expect_eq(e2e_count(lines, "graph.original"), 0, "%s", lines);
    cr_expect_eq(e2e_count(calls, "EnableCallback"), 0);
}

/* We are the subscriber whom another one would find. */
Test(cupti_graph_nodes, are_no_other_client)
{
    struct trace_reader *reader;

    devices_options("gpu_dump_graph_node_mapping=true");
    devices_begin();
    devices_launch(1);
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), "playback");
    cr_expect_str_eq(devices_meta(reader, "refused"), "");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 0);
}

Test(cupti_graph_nodes, say_that_cupti_refuses)
{
    devices_set("FAIL", "5:27");
    devices_options("gpu_dump_graph_node_mapping=true");
    devices_begin();
    cr_expect_str_eq(devices_meta(test_read(), "refused"),
                     "graph nodes: 27 CUPTI_ERROR_NOT_SUPPORTED");
}
