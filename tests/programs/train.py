"""Uses CUDA as PyTorch does: it loads libtorch_cuda.so and launches a kernel.

Usage: train.py TORCH DRIVER [before|while], when another profiler starts.
"""
import ctypes
import os
import sys


class Subscriber(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("other", ctypes.c_char_p), ("other_size", ctypes.c_size_t)]


def profile(torch):
    """What a profiler does when it starts."""
    cupti = ctypes.CDLL(os.environ["TRACE_CUPTI"])
    handle = ctypes.c_void_p()
    own = Subscriber(ctypes.sizeof(Subscriber), b"Kineto", None, 0)
    assert cupti.cuptiSubscribe_v2(ctypes.byref(handle), None, None,
                                   ctypes.byref(own)) == 0
    assert cupti.cuptiActivityRegisterCallbacks(torch.request, torch.done) == 0


def main(torch, driver, when=""):
    torch = ctypes.CDLL(torch)
    cuda = ctypes.CDLL(driver)
    context = ctypes.c_void_p()
    if when == "before":
        profile(torch)
    assert cuda.cuInit(0) == 0
    if when == "while":
        profile(torch)
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxPushCurrent_v2(context) == 0
    assert cuda.cuLaunchKernel(None) == 0


main(*sys.argv[1:])
