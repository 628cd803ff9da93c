/* kernels.c: names kernels, and notices their first launches. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

enum { LAUNCHED_MOST = 1 << 16 };

struct kernel {
    const char *name; /* kept for ever */
    uint64_t of;      /* the hash of its program's build and its name */
    uint32_t references;
};

static struct trace_table kernels;  /* struct kernel, by handle */
static struct trace_table names;    /* strings, by their hash */
static struct trace_table builds;   /* the number of a build, by program */
static struct trace_table launched; /* by struct kernel's `of` */

static uint64_t key_of(const void *handle)
{
    return (uintptr_t)handle;
}

/* Strings of equal hashes are taken for equal. */
static const char *keep_name(const char *name)
{
    uint64_t hash = trace_hash_string(TRACE_HASH, name);
    uintptr_t at;
    char *copy;

    if (trace_table_find(&names, hash, &at))
        return (const char *)at;
    copy = strdup(name);
    if (!copy || !trace_table_set(&names, hash, (uintptr_t)copy)) {
        free(copy);
        return "?";
    }
    return copy;
}

static struct kernel *find(cl_kernel handle)
{
    uintptr_t at;

    return trace_table_find(&kernels, key_of(handle), &at) ? (struct kernel *)at
                                                           : NULL;
}

static void forget(cl_kernel handle)
{
    free(find(handle));
    trace_table_remove(&kernels, key_of(handle));
}

static uint64_t identity(cl_program program, const char *name)
{
    uintptr_t build = 0;
    uint64_t hash;

    trace_table_find(&builds, key_of(program), &build);
    hash = trace_hash(TRACE_HASH, &program, sizeof(program));
    hash = trace_hash(hash, &build, sizeof(build));
    return trace_hash_string(hash, name);
}

/* Asks the driver, outside of the lock. */
static void add(cl_kernel handle)
{
    struct kernel *one = calloc(1, sizeof(*one));
    cl_program program = NULL;
    char name[1024] = "?";

    if (!one)
        return;
    opencl.next.GetKernelInfo(handle, OPENCL_KERNEL_FUNCTION_NAME, sizeof(name),
                              name, NULL);
    opencl.next.GetKernelInfo(handle, OPENCL_KERNEL_PROGRAM, sizeof(program),
                              &program, NULL);
    opencl_lock();
    one->name = keep_name(name);
    one->of = identity(program, name);
    one->references = 1;
    forget(handle);
    if (!trace_table_set(&kernels, key_of(handle), (uintptr_t)one))
        free(one);
    opencl_unlock();
}

static bool is_first(uint64_t of)
{
    uintptr_t seen;

    if (trace_table_find(&launched, of, &seen))
        return false;
    if (launched.count >= LAUNCHED_MOST)
        trace_table_free(&launched);
    return trace_table_set(&launched, of, 1);
}

const char *opencl_kernel_launched(cl_kernel handle, bool *first)
{
    const struct kernel *one;
    const char *name = "?";

    *first = false;
    opencl_lock();
    one = find(handle);
    if (one) {
        name = one->name;
        *first = is_first(one->of);
    }
    opencl_unlock();
    return name;
}

void opencl_program_built(cl_program program)
{
    static uintptr_t last;

    opencl_lock();
    trace_table_set(&builds, key_of(program), ++last);
    opencl_unlock();
    opencl_flush_at_exit();
}

/* ---- Replacements ---- */

cl_kernel opencl_CreateKernel(cl_program program, const char *name,
                              cl_int *error)
{
    cl_kernel kernel = opencl.next.CreateKernel(program, name, error);

    if (kernel)
        add(kernel);
    return kernel;
}

cl_int opencl_CreateKernelsInProgram(cl_program program, cl_uint room,
                                     cl_kernel *all, cl_uint *number)
{
    cl_uint count = 0;
    cl_int result =
        opencl.next.CreateKernelsInProgram(program, room, all, &count);

    if (number && !result)
        *number = count;
    for (cl_uint i = 0; all && !result && i < count && i < room; i++)
        add(all[i]);
    return result;
}

cl_kernel opencl_CloneKernel(cl_kernel kernel, cl_int *error)
{
    cl_kernel clone = opencl.next.CloneKernel(kernel, error);

    if (clone)
        add(clone);
    return clone;
}

cl_int opencl_RetainKernel(cl_kernel kernel)
{
    cl_int result = opencl.next.RetainKernel(kernel);
    struct kernel *one;

    if (result)
        return result;
    opencl_lock();
    one = find(kernel);
    if (one)
        one->references++;
    opencl_unlock();
    return OPENCL_SUCCESS;
}

/* Forgets the kernel first: another thread may get its address at once. */
cl_int opencl_ReleaseKernel(cl_kernel kernel)
{
    struct kernel *one;

    opencl_lock();
    one = find(kernel);
    if (one && !--one->references)
        forget(kernel);
    opencl_unlock();
    return opencl.next.ReleaseKernel(kernel);
}
