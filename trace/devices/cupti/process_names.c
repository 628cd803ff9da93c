/* process_names.c: what the process knows beside CUPTI's records: names of
 * calls and of errors, texts at addresses, places of devices. */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cupti.h"

static const char *call_name(void *context, enum cupti_domain domain,
                             uint32_t id)
{
    const char *name = NULL;

    (void)context;
    return cupti.callback_name((int)domain, id, &name) ? NULL : name;
}

/* A statically linked runtime cannot be asked. */
static const char *error_name(void *context, enum cupti_domain domain,
                              int result)
{
    const char *name = NULL;

    (void)context;
    if (domain == CUPTI_DOMAIN_RUNTIME) {
        const char *(*function)(int) = (const char *(*)(int))(
            uintptr_t)cupti_symbol("libcudart.so", "cudaGetErrorName");

        return function ? function(result) : NULL;
    }

    int (*function)(int, const char **) = (int (*)(int, const char **))(
        uintptr_t)cupti_symbol("libcuda.so", "cuGetErrorName");

    return function && !function(result, &name) ? name : NULL;
}

bool cupti_is_readable(const void *at)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)at, 1};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ||
           errno != EFAULT;
}

/* The addresses that were checked, and whether they are readable. */
static struct trace_table checked;

static const char *text_at(void *context, uint64_t address)
{
    const char *text = (const char *)(uintptr_t)address;
    uintptr_t readable = 0;

    (void)context;
    if (!trace_table_find(&checked, address, &readable)) {
        readable = cupti_is_readable(text);
        trace_table_set(&checked, address, readable);
    }
    return readable ? text : NULL;
}

static bool find_pci(void *context, const char *uuid,
                     char address[CUPTI_PCI_ROOM])
{
    (void)context;
    return cupti_pci_address("/proc/driver/nvidia/gpus", uuid, address);
}

static bool find_node(void *context, uint64_t id, struct cupti_node *node)
{
    (void)context;
    return cupti_node_find(id, node);
}

const struct cupti_source cupti_process = {
    .call = call_name,
    .error = error_name,
    .text = text_at,
    .node = find_node,
    .pci = find_pci,
};
