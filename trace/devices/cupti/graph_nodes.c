/* graph_nodes.c: remembers where nodes of graphs come from.
 *
 * CUDA copies a graph when it is instantiated, so that a kernel's record has
 * the id of a copied node. CUPTI calls us, if we stay subscribed, when a node
 * is made or copied: then the original's id is known, and the span that made
 * it.
 */
#include <stdlib.h>

#include "cupti.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

enum { MOST = 1 << 20 /* nodes */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_table nodes; /* struct cupti_node, by id */
static size_t count;
static void *subscriber; /* NULL: we are none */

/* Returns a copy of a span's name, which is kept: its module may be unloaded.
 * The caller holds the lock. */
static const char *keep(const char *name)
{
    static struct trace_table names; /* by hash */
    uint64_t key = trace_hash_string(TRACE_HASH, name);
    const char *copy;
    uintptr_t known;

    if (trace_table_find(&names, key, &known) &&
        !strcmp((const char *)known, name))
        return (const char *)known;
    copy = strdup(name);
    if (copy)
        trace_table_set(&names, key, (uintptr_t)copy);
    return copy ? copy : "";
}

/* The caller holds the lock. */
static void add(uint64_t id, struct cupti_node node)
{
    struct cupti_node *one;
    uintptr_t known;

    if (trace_table_find(&nodes, id, &known)) {
        *(struct cupti_node *)known = node;
        return;
    }
    if (count == MOST || !(one = malloc(sizeof(*one))))
        return;
    *one = node;
    if (trace_table_set(&nodes, id, (uintptr_t)one))
        count++;
    else
        free(one);
}

static void node_made(uint64_t id)
{
    const char *name = cupti.host->name(cupti.host->current());
    uintptr_t known;

    pthread_mutex_lock(&lock);
    if (!trace_table_find(&nodes, id, &known))
        add(id, (struct cupti_node){id, keep(name)});
    pthread_mutex_unlock(&lock);
}

static void node_copied(uint64_t id, uint64_t original)
{
    struct cupti_node from = {original, ""};
    uintptr_t known;

    pthread_mutex_lock(&lock);
    if (trace_table_find(&nodes, original, &known))
        from = *(struct cupti_node *)known;
    add(id, from);
    pthread_mutex_unlock(&lock);
}

static void called(void *context, int domain, uint32_t id, const void *argument)
{
    const struct cupti_resource *resource = argument;
    uint64_t node, original;

    (void)context;
    if (domain != CUPTI_DOMAIN_RESOURCE || !cupti_is_on() || !resource->data ||
        cupti.graph_node_id(resource->data->node, &node))
        return;
    if (id == CUPTI_NODE_MADE)
        node_made(node);
    else if (id == CUPTI_NODE_COPIED &&
             !cupti.graph_node_id(resource->data->original, &original))
        node_copied(node, original);
}

bool cupti_node_find(uint64_t id, struct cupti_node *node)
{
    uintptr_t known;
    bool found;

    if (!subscriber)
        return false;
    pthread_mutex_lock(&lock);
    found = trace_table_find(&nodes, id, &known);
    if (found)
        *node = *(struct cupti_node *)known;
    pthread_mutex_unlock(&lock);
    return found;
}

void cupti_watch_nodes(void)
{
    void *handle;
    int result = CUPTI_RESULT_INVALID_KIND;

    if (!cupti.host->profiler->gpu_dump_graph_node_mapping || subscriber)
        return;
    if (cupti.graph_node_id && cupti.enable_callback)
        result = cupti.subscribe(&handle, called, NULL);
    if (result) {
        cupti_note_refusal("graph nodes", result);
        return;
    }
    subscriber = handle;
    if ((result = cupti.enable_callback(1, handle, CUPTI_DOMAIN_RESOURCE,
                                        CUPTI_NODE_MADE)) ||
        (result = cupti.enable_callback(1, handle, CUPTI_DOMAIN_RESOURCE,
                                        CUPTI_NODE_COPIED)))
        cupti_note_refusal("graph nodes", result);
}

bool cupti_watches_nodes(void)
{
    return subscriber;
}
