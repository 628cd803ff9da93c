/* gtest_opencl.cpp: tests of GoogleTest that run a kernel. With the adapter,
 * each has its compilations, launches, copies and memory on its own time line:
 *
 *  g++ -DTRACING gtest_opencl.cpp gtest_adapter.cpp \
 *      $(pkg-config --cflags --libs gtest_main testlog-core) -lOpenCL
 *
 * A suite for CUDA looks the same. */
#define CL_TARGET_OPENCL_VERSION 120

#include <vector>

#include <CL/cl.h>
#include <gtest/gtest.h>
#include <testlog/core.h>

namespace
{

const char *const source = "__kernel void twice(__global float *values)\n"
                           "{\n"
                           "    values[get_global_id(0)] *= 2;\n"
                           "}\n";

class Twice : public testing::Test
{
  protected:
    static cl_context context;
    static cl_command_queue queue;
    static cl_program program;
    static cl_kernel kernel;

    /* All tests of the suite use one device. */
    static void SetUpTestSuite()
    {
        cl_platform_id platform;
        cl_device_id device;
        cl_int error;

        if (clGetPlatformIDs(1, &platform, nullptr) ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr))
            return;
        context =
            clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        queue = clCreateCommandQueue(context, device, 0, &error);
        const char *text = source;
        program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
        clBuildProgram(program, 1, &device, "", nullptr, nullptr);
        kernel = clCreateKernel(program, "twice", &error);
    }

    static void TearDownTestSuite()
    {
        if (!context)
            return;
        clReleaseKernel(kernel);
        clReleaseProgram(program);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }

    void SetUp() override
    {
        if (!context)
            GTEST_SKIP() << "no OpenCL device";
    }

    /* Runs the kernel several times. */
    static std::vector<float> run(std::vector<float> values, int times)
    {
        const size_t count = values.size(), size = count * sizeof(float);
        cl_int error;
        cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, size,
                                       values.data(), &error);
        trace_span(INFO, "run", ("times", times));

        clSetKernelArg(kernel, 0, sizeof(memory), &memory);
        for (int i = 0; i < times; i++)
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr,
                                   0, nullptr, nullptr);
        clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, size, values.data(), 0,
                            nullptr, nullptr);
        clReleaseMemObject(memory);
        return values;
    }
};

cl_context Twice::context;
cl_command_queue Twice::queue;
cl_program Twice::program;
cl_kernel Twice::kernel;

} // namespace

TEST_F(Twice, Doubles)
{
    EXPECT_EQ(run({1, 2, 3}, 1), (std::vector<float>{2, 4, 6}));
}

TEST_F(Twice, DoublesThreeTimes)
{
    EXPECT_EQ(run({1, 2, 3}, 3), (std::vector<float>{8, 16, 24}));
}
