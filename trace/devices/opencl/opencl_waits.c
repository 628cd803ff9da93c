/* opencl_waits.c: records calls that wait for a device. */
#include "opencl.h"

cl_int opencl_Finish(cl_command_queue queue)
{
    struct opencl_call call = opencl_call("clFinish");
    struct opencl_place place = {.device = TRACE_DEVICES_opencl};
    cl_int result = opencl.next.Finish(queue);

    opencl_queue_find(queue, &place);
    opencl_call_end(&call, TRACE_ACTIVITY_SYNC, result, place.device, 0);
    opencl_rings_read();
    return result;
}

cl_int opencl_WaitForEvents(cl_uint count, const cl_event *list)
{
    struct opencl_call call = opencl_call("clWaitForEvents");
    cl_int result = opencl.next.WaitForEvents(count, list);

    opencl_call_end(&call, TRACE_ACTIVITY_SYNC, result, TRACE_DEVICES_opencl,
                    0);
    opencl_rings_read();
    return result;
}
