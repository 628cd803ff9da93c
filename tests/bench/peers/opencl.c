/* opencl.c: what the layer adds to a launch of OpenCL.
 *
 * The layer is loaded at a process's first call, so two copies of this program
 * take turns: one alone, one with the layer in BENCH_LAYER. Time is that of the
 * launching thread's processor, because the device is the processor as well.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "peer.h"

enum { BATCH = 256 };

/* ---- A copy ---- */

static cl_command_queue queue;
static cl_kernel kernel;

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int open_device(void)
{
    const char *source = "kernel void nothing(void) {}";
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_program program;

    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return -1;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL))
        return -1;
    kernel = clCreateKernel(program, "nothing", NULL);
    return kernel ? 0 : -1;
}

static double launch(size_t count)
{
    const size_t one = 1;
    double spent = 0;

    if (!kernel && open_device())
        return -1;
    for (size_t done = 0; done < count; done += BATCH) {
        double before = cpu_ns();

        for (int i = 0; i < BATCH; i++)
            clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL,
                                   NULL);
        spent += cpu_ns() - before;
        clFinish(queue);
    }
    return spent / (double)((count + BATCH - 1) / BATCH * BATCH);
}

/* ---- Both ---- */

static struct copy {
    FILE *asks, *answers;
} bare, layered;

static void start(struct copy *copy, const char *layer, const char *folder)
{
    int in[2], out[2];

    if (pipe(in) || pipe(out))
        exit(1);
    if (!fork()) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (layer) {
            setenv("OPENCL_LAYERS", layer, 1);
            setenv("TESTLOG_RECORD", folder, 1);
        }
        close(in[1]); /* the other copy would not end */
        execl("/proc/self/exe", "opencl", "copy", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    copy->asks = fdopen(in[1], "w");
    copy->answers = fdopen(out[0], "r");
}

static double ask(struct copy *copy, size_t count)
{
    double answer = -1;

    fprintf(copy->asks, "launch %zu\n", count);
    fflush(copy->asks);
    return fscanf(copy->answers, "%lf", &answer) == 1 ? answer : -1;
}

/* Without a device, the peer is as if it were not installed. */
static double added(size_t count)
{
    double alone = ask(&bare, count), with = ask(&layered, count);

    if (alone < 0 || with < 0)
        exit(1);
    return with - alone;
}

int main(int argc, char **argv)
{
    static const struct work copies[] = {{"launch", launch}};
    static const struct work both[] = {{"added", added}};
    const char *layer = getenv("BENCH_LAYER");
    char folder[] = "/tmp/bench.XXXXXX", command[64];
    int code;

    if (argc > 1 && !strcmp(argv[1], "copy"))
        return serve(copies, 1);
    if (!layer || !mkdtemp(folder))
        return 1;
    start(&bare, NULL, NULL);
    start(&layered, layer, folder);
    code = serve(both, 1);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) ? 1 : code;
}
