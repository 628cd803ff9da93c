/* loading_crash.c: a test that crashes in C++ or in code that it loads. */
#ifdef LOADED

int sum(const volatile int *of)
{
    return *of;
}

#elif defined(CXX)

#    include <testlog/test_log.h>

namespace net
{
template <class T> struct list {
    __attribute__((noinline)) T sum(const volatile T *of)
    {
        return *of + 1;
    }
};
} // namespace net

TEST_LOG(crashing, null_pointer)
{
    net::list<int> one;

    cr_assert_eq(one.sum(nullptr), 1);
}

#else

#    include <dlfcn.h>
#    include <testlog/test_log.h>

TEST_LOG(crashing, null_pointer)
{
    int (*sum)(const volatile int *);

    *(void **)&sum = dlsym(dlopen("./sum.so", RTLD_NOW), "sum");
    cr_assert_eq(sum(NULL), 1);
}

#endif
