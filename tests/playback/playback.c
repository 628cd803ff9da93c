/* playback.c: a libcupti that plays back recorded buffers, for tests without
 * a GPU. It traces nothing: records come from a file, or are made up by
 * trace_playback_launch, and go through the client's own callbacks.
 *
 * Variables, all starting with PLAYBACK_, say what to play and what to
 * break:
 *   FIXTURE=FILE     played at the first flush; fixture.py has the format
 *   API=N            the version (default 130001)
 *   STRIDE=K:N,...   records of kind K are N bytes long; below 0: unknown
 *   REFUSE=K:CODE    enabling kind K returns CODE
 *   FAIL=N:CODE      the Nth call returns CODE
 *   UNIFIED=N:CODE   configuring unified memory returns CODE the Nth time
 *   DROPPED=N        reports N dropped records more than had no buffer
 *   TRUNCATE=N       the last buffer lacks its last N bytes
 *   UNKNOWN=N        the Nth record of the first buffer has an unknown kind
 *   ZERO=1           kernels have no times
 *   OFF=K:N,...      times of kind K are N seconds off
 *   INCOMPLETE=1     kernels have no end, and come only at a forced flush
 *   REVERSE=1        the last buffer comes first
 *   LATE=1           each flush brings one buffer
 *   THREAD=1         buffers are completed on another thread
 *   GREEDY=N         asks for N buffers at once and returns the rest empty
 *   CALLS=FILE       writes a line for each call there
 *   HANG_DISABLE=1   disabling a kind never returns
 *   NAME=N           the kernel's mangled name has about N characters
 *   TOOL=NAME        a tool outside of the process has subscribed
 *   PM_...           see pm.c
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "playback.h"
#include "records.h"

enum {
    KINDS = RECORD_KINDS,
    CALLS = 1024,
    IDS = 64,
    INVALID_PARAMETER = 1,
    MAX_LIMIT = 12,
    INVALID_KIND = 21,
    MULTIPLE = 39,
    EXTERNAL = 39,
    KERNEL = 10,
    RUNTIME = 5,
    DRIVER = 4,
    DEVICE = 8,
};

/* ---- Settings ---- */

const char *playback_setting(const char *name)
{
    char variable[64];
    const char *value;

    snprintf(variable, sizeof(variable), "PLAYBACK_%s", name);
    value = getenv(variable);
    return value && *value ? value : NULL;
}

long playback_number(const char *name, long otherwise)
{
    const char *value = playback_setting(name);

    return value ? strtol(value, NULL, 10) : otherwise;
}

/* Returns CODE of "N:CODE" if N is `first`, otherwise 0. */
static int second_of(const char *name, long first)
{
    const char *at = playback_setting(name);
    char *end;

    for (; at && *at; at = *end == ',' ? end + 1 : "") {
        long key = strtol(at, &end, 10);
        long value = *end == ':' ? strtol(end + 1, &end, 10) : 0;

        if (key == first)
            return (int)value;
    }
    return 0;
}

static int called(const char *call, long argument)
{
    static long calls;

    calls_note(call, argument);
    return second_of("FAIL", __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED));
}

/* ---- The client ---- */

/* CUPTI's own clock. */
static uint64_t wall_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct {
    void (*wanted)(uint8_t **, size_t *, size_t *);
    void (*done)(void *, uint32_t, uint8_t *, size_t, size_t);
    uint64_t (*clock)(void);
    uint64_t base; /* where the fixture's time zero is */
    bool zeroed;   /* it promises zeroed buffers */
    bool enabled[KINDS];
    bool silent[CALLS]; /* calls of the driver */
} client = {.clock = wall_clock};

uint64_t playback_clock(void)
{
    return client.clock();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The lengths of CUPTI 13.0's records. */
static const uint16_t lengths[KINDS] = {
    [1] = 96,   [2] = 88,  [4] = 40,  [5] = 40,   [8] = 184,  [9] = 32,
    [10] = 216, [11] = 32, [17] = 56, [22] = 96,  [25] = 104, [36] = 56,
    [37] = 24,  [38] = 56, [39] = 24, [49] = 128, [51] = 56,  [52] = 72,
};

static size_t length_of(uint32_t kind)
{
    int set = kind < KINDS ? second_of("STRIDE", (long)kind) : 0;

    if (set)
        return set > 0 ? (size_t)set : 0;
    return kind < KINDS ? lengths[kind] : 0;
}

static uint32_t kind_at(const uint8_t *record)
{
    uint32_t kind;

    memcpy(&kind, record, sizeof(kind));
    return kind;
}

/* ---- The fixture ---- */

struct header {
    char magic[16];
    uint32_t order, pointer, api, strides, buffers, strings, pool, unused;
    char clock[16], captured[32], device[64], driver[32];
};

struct stride {
    uint32_t kind, bytes;
};

struct buffer {
    uint32_t sequence, stream;
    uint64_t valid;
};

struct string {
    uint64_t old;
    uint32_t offset, unused;
};

static struct {
    struct header header;
    const struct stride *strides;
    uint8_t *buffers[IDS]; /* a struct buffer and its bytes */
    const struct string *strings;
    const char *pool;
    bool loaded;
    unsigned played; /* buffers */
} fixture;

static const uint8_t *load(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    uint8_t *bytes = NULL;

    if (fd >= 0 && !fstat(fd, &status) &&
        (bytes = malloc((size_t)status.st_size)) &&
        read(fd, bytes, (size_t)status.st_size) != status.st_size)
        bytes[0] = '\0';
    if (fd >= 0)
        close(fd);
    return bytes;
}

static void open_fixture(void)
{
    const char *path = playback_setting("FIXTURE");
    const uint8_t *at = path ? load(path) : NULL;

    fixture.loaded = true;
    if (!at || memcmp(at, "gpu playback 1", 15) != 0)
        return;
    memcpy(&fixture.header, at, sizeof(fixture.header));
    at += sizeof(fixture.header);
    fixture.strides = (const void *)at;
    at += fixture.header.strides * sizeof(struct stride);
    for (uint32_t i = 0; i < fixture.header.buffers && i < IDS; i++) {
        fixture.buffers[i] = (uint8_t *)(uintptr_t)at;
        at += sizeof(struct buffer) + ((const struct buffer *)at)->valid;
    }
    fixture.strings = (const void *)at;
    at += fixture.header.strings * sizeof(struct string);
    fixture.pool = (const char *)at;
}

static size_t recorded_length(uint32_t kind)
{
    for (uint32_t i = 0; i < fixture.header.strides; i++)
        if (fixture.strides[i].kind == kind)
            return fixture.strides[i].bytes;
    return 0;
}

/* ---- A fixture's record, moved to this process ---- */

static uint64_t get(const uint8_t *record, size_t at, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, record + at, size);
    return value;
}

static void set(uint8_t *record, size_t at, uint64_t value, size_t size)
{
    memcpy(record + at, &value, size);
}

static void move_time(uint8_t *record, size_t at, size_t length, uint64_t by)
{
    if (at && at + 8 <= length && get(record, at, 8))
        set(record, at, get(record, at, 8) + by, 8);
}

static void move_string(uint8_t *record, size_t at, size_t length)
{
    uint64_t old = at && at + 8 <= length ? get(record, at, 8) : 0;

    for (uint32_t i = 0; old && i < fixture.header.strings; i++)
        if (fixture.strings[i].old == old) {
            set(record, at, (uintptr_t)fixture.pool + fixture.strings[i].offset,
                8);
            return;
        }
    if (old)
        set(record, at, 0, 8);
}

/* The ids of spans, numbered in the order of their pushes. */
static uint64_t pushed[IDS];
static unsigned pushed_count;

static void adapt(uint8_t *record, uint32_t kind, size_t length)
{
    const struct record_row *row = &record_rows[kind];
    int64_t off = second_of("OFF", kind) * INT64_C(1000000000);
    uint64_t id;

    move_time(record, row->start, length, client.base + (uint64_t)off);
    move_time(record, row->end, length, client.base + (uint64_t)off);
    move_string(record, row->string, length);
    if (row->thread && row->thread + 4u <= length &&
        get(record, row->thread, 4) == 1)
        set(record, row->thread, (uint64_t)getpid(), 4);
    if (kind == EXTERNAL) {
        id = get(record, 8, 8);
        set(record, 8, id && id <= pushed_count ? pushed[id - 1] : 0, 8);
    }
    if (kind == KERNEL && playback_number("ZERO", 0))
        set(record, 16, 0, 8);
    if (kind == KERNEL &&
        (playback_number("ZERO", 0) || playback_number("INCOMPLETE", 0)))
        set(record, 24, 0, 8);
}

/* ---- Buffers ---- */

struct out {
    uint8_t *bytes;
    size_t size, valid;
};

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

static size_t unbuffered; /* atomic: records without a buffer */

static bool ask(struct out *out)
{
    size_t most = 0;

    *out = (struct out){0};
    client.wanted(&out->bytes, &out->size, &most);
    if (out->bytes && !client.zeroed)
        memset(out->bytes, 0, out->size);
    if (out->bytes && !is_zero(out->bytes, out->size))
        abort();
    return out->bytes != NULL;
}

static void *complete_there(void *context)
{
    struct out *out = context;

    client.done(NULL, 0, out->bytes, out->size, out->valid);
    return NULL;
}

static void complete(struct out *out)
{
    pthread_t thread;

    if (!out->bytes)
        return;
    if (playback_number("THREAD", 0) &&
        !pthread_create(&thread, NULL, complete_there, out))
        pthread_join(thread, NULL);
    else
        complete_there(out);
    out->bytes = NULL;
}

/* Copies a record, cut or extended to this library's length. */
static void give(struct out *out, const uint8_t *record, uint32_t kind,
                 bool adapted)
{
    size_t from = adapted ? length_of(kind) : recorded_length(kind);
    size_t length = length_of(kind);

    if (kind >= KINDS || !client.enabled[kind] || !length)
        return;
    if (out->bytes && out->valid + length > out->size)
        complete(out);
    if (!out->bytes && !ask(out)) {
        __atomic_add_fetch(&unbuffered, 1, __ATOMIC_RELAXED);
        return;
    }
    memcpy(out->bytes + out->valid, record, from < length ? from : length);
    if (!adapted)
        adapt(out->bytes + out->valid, kind, length);
    out->valid += length;
}

static void spoil(struct out *out, unsigned index)
{
    size_t unknown = (size_t)playback_number("UNKNOWN", 0);
    uint8_t *at = out->bytes;

    if (!at)
        return;
    if (index + 1 == fixture.header.buffers && playback_number("TRUNCATE", 0))
        out->valid -= (size_t)playback_number("TRUNCATE", 0);
    while (!index && unknown-- > 0)
        if (unknown)
            at += length_of(kind_at(at));
        else
            set(at, 0, 120, 4);
}

static void play(unsigned index)
{
    const struct buffer *buffer = (const void *)fixture.buffers[index];
    const uint8_t *at = (const uint8_t *)(buffer + 1);
    const uint8_t *end = at + buffer->valid;
    struct out out = {0};

    while (at < end) {
        give(&out, at, kind_at(at), false);
        at += recorded_length(kind_at(at));
    }
    spoil(&out, index);
    complete(&out);
}

static uint64_t last_time(const struct buffer *buffer)
{
    const uint8_t *at = (const uint8_t *)(buffer + 1);
    const uint8_t *end = at + buffer->valid;
    uint64_t last = 0;

    for (; at < end; at += recorded_length(kind_at(at))) {
        const struct record_row *row = &record_rows[kind_at(at)];
        uint64_t start = row->start ? get(at, row->start, 8) : 0;
        uint64_t stop = row->end ? get(at, row->end, 8) : start;

        last = stop > last ? stop : last;
    }
    return last;
}

/* CUPTI has no record of what has not happened yet. */
static void wait_until_it_happened(void)
{
    uint64_t last = 0;

    for (unsigned i = 0; i < fixture.header.buffers; i++) {
        uint64_t end = last_time((const void *)fixture.buffers[i]);

        last = end > last ? end : last;
    }
    for (int i = 0;
         i < 10000 && client.clock && client.clock() < client.base + last; i++)
        usleep(100);
}

static void play_some(bool forced)
{
    unsigned count = fixture.header.buffers;

    if (!forced && playback_number("INCOMPLETE", 0))
        return;
    while (fixture.played < count) {
        unsigned next = fixture.played++;

        play(playback_number("REVERSE", 0) ? count - 1 - next : next);
        if (playback_number("LATE", 0) && !forced)
            return;
    }
}

/* Asks for more buffers than a client gives, and returns them empty. */
static void be_greedy(void)
{
    static bool was;
    long count = was ? 0 : playback_number("GREEDY", 0);
    struct out *outs = calloc((size_t)count + 1, sizeof(*outs));
    long given = 0;

    was = true;
    for (long i = 0; outs && i < count; i++)
        given += ask(&outs[i]);
    if (count)
        calls_note("given", given);
    for (long i = 0; outs && i < count; i++)
        complete(&outs[i]);
    free(outs);
}

/* ---- Made-up launches ---- */

/* The name of a function without arguments, "_Z8launchedv", of about so many
 * characters. */
static const char *name_of_kernel(void)
{
    static char name[8192];
    long letters = playback_number("NAME", 0) - 7;
    int before;

    if (letters < 1 || letters > (long)sizeof(name) - 16)
        return "_Z8launchedv";
    before = snprintf(name, sizeof(name), "_Z%ld", letters);
    memset(name + before, 'k', (size_t)letters);
    name[before + letters] = 'v';
    return name;
}

static struct out pending;
static __thread uint64_t stack[IDS];
static __thread unsigned depth;

static const char *kernel_name;

static void launch(uint32_t id)
{
    uint8_t record[256] = {0};
    uint64_t now = client.clock();

    if (depth) {
        set(record, 0, EXTERNAL, 4);
        set(record, 4, 3, 4);
        set(record, 8, stack[depth - 1], 8);
        set(record, 16, id, 4);
        give(&pending, record, EXTERNAL, true);
    }
    memset(record, 0, sizeof(record));
    set(record, 0, RUNTIME, 4);
    set(record, 4, 505, 4);
    set(record, 8, now, 8);
    set(record, 16, now + 100, 8);
    set(record, 28, (uint64_t)gettid(), 4);
    set(record, 32, id, 4);
    give(&pending, record, RUNTIME, true);
    memset(record, 0, sizeof(record));
    set(record, 0, KERNEL, 4);
    set(record, 16, now + 200, 8);
    set(record, 24, now + 300, 8);
    for (size_t at = 52; at < 76; at += 4)
        set(record, at, 1, 4);
    set(record, 92, id, 4);
    set(record, 104, (uintptr_t)kernel_name, 8);
    give(&pending, record, KERNEL, true);
}

static uint32_t last_id = 100000;

/* trace_playback_launch pretends that the calling thread launches kernels. */
API void trace_playback_launch(unsigned count);

void trace_playback_launch(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_lock(&lock);
        kernel_name = kernel_name ? kernel_name : name_of_kernel();
        launch(++last_id);
        pthread_mutex_unlock(&lock);
    }
}

/* trace_playback_call reports a call of the driver by the calling thread. */
API void trace_playback_call(uint32_t id);

void trace_playback_call(uint32_t id)
{
    uint8_t record[64] = {0};

    if (client.silent[id % CALLS])
        return;
    set(record, 0, DRIVER, 4);
    set(record, 4, id, 4);
    set(record, 8, client.clock(), 8);
    set(record, 16, client.clock(), 8);
    set(record, 28, (uint64_t)gettid(), 4);
    pthread_mutex_lock(&lock);
    set(record, 32, ++last_id, 4);
    give(&pending, record, DRIVER, true);
    pthread_mutex_unlock(&lock);
}

/* trace_playback_end loses the records that were not flushed, as when the
 * driver is torn down. */
API void trace_playback_end(void);

void trace_playback_end(void)
{
    pthread_mutex_lock(&lock);
    pending = (struct out){0};
    pthread_mutex_unlock(&lock);
}

API const char *trace_playback_id(void);

const char *trace_playback_id(void)
{
    return playback_setting("FIXTURE") ? playback_setting("FIXTURE")
                                       : "made up";
}

/* ---- CUPTI's own functions ---- */

CALL(cuptiGetVersion, uint32_t *version)
{
    *version = (uint32_t)playback_number("API", 130001);
    return called("GetVersion", 0);
}

CALL(cuptiGetResultString, int result, const char **text)
{
    static const struct {
        int code;
        const char *word;
    } words[] = {
        {15, "CUPTI_ERROR_NOT_INITIALIZED"},
        {21, "CUPTI_ERROR_INVALID_KIND"},
        {27, "CUPTI_ERROR_NOT_SUPPORTED"},
        {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
        {999, "CUPTI_ERROR_UNKNOWN"},
    };

    *text = "CUPTI_ERROR";
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (words[i].code == result)
            *text = words[i].word;
    return 0;
}

CALL(cuptiGetCallbackName, int domain, uint32_t id, const char **name)
{
    static const struct {
        int domain;
        uint32_t id;
        const char *name;
    } names[] = {
        {2, 505, "__cudaLaunchKernel_v13000"},
        {2, 311, "cudaGraphLaunch_v10000"},
        {2, 211, "cudaLaunchKernel_v7000"},
        {2, 31, "cudaMemcpy_v3020"},
        {2, 20, "cudaMalloc_v3020"},
        {2, 22, "cudaFree_v3020"},
        {2, 164, "cudaDeviceReset_v3020"},
        {2, 373, "cudaMallocAsync_v11020"},
        {2, 375, "cudaFreeAsync_v11020"},
        {2, 51, "cudaMemset_v3020"},
        {2, 135, "cudaEventRecord_v3020"},
        {2, 131, "cudaStreamSynchronize_v3020"},
        {2, 315, "cudaStreamBeginCapture_v10000"},
        {2, 319, "cudaStreamEndCapture_v10000"},
        {2, 16, "cudaSetDevice_v3020"},
        {1, 4, "cuDeviceGetCount"},
        {1, 17, "cuCtxSynchronize"},
        {1, 307, "cuLaunchKernel"},
        {1, 386, "cuDevicePrimaryCtxRetain"},
        {1, 544, "cuDevicePrimaryCtxRelease_v2"},
        {1, 497, "cuStreamEndCapture"},
        {1, 539, "cuStreamBeginCapture_v2"},
        {1, 678, "cuLibraryLoadData"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].domain == domain && names[i].id == id) {
            *name = names[i].name;
            return 0;
        }
    return INVALID_PARAMETER;
}

CALL(cuptiSetThreadIdType, int type)
{
    return called("SetThreadIdType", type);
}

CALL(cuptiActivitySetAttribute, int attribute, size_t *size, void *value)
{
    enum { ZEROED = 5 };

    if (attribute != ZEROED || *size != 1 || *(uint8_t *)value != 1)
        return INVALID_PARAMETER;
    client.zeroed = true;
    return 0;
}

CALL(cuptiActivityRegisterCallbacks,
     void (*wanted)(uint8_t **, size_t *, size_t *),
     void (*done)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    client.wanted = wanted;
    client.done = done;
    return called("RegisterCallbacks", 0);
}

CALL(cuptiActivityRegisterTimestampCallback, uint64_t (*clock)(void))
{
    client.clock = clock;
    client.base = clock();
    return called("RegisterTimestampCallback", 0);
}

CALL(cuptiActivityEnable, int kind)
{
    int failed = called("Enable", kind);
    int refused = second_of("REFUSE", kind);

    if (!failed && !refused)
        client.enabled[kind] = true;
    return failed ? failed : refused;
}

/* A device that was there before. */
static void dump_device(void)
{
    uint8_t record[256] = {0};

    set(record, 0, DEVICE, 4);
    set(record, 136, (uintptr_t) "Playback", 8);
    pthread_mutex_lock(&lock);
    give(&pending, record, DEVICE, true);
    pthread_mutex_unlock(&lock);
}

CALL(cuptiActivityEnableAndDump, int kind)
{
    int result = cuptiActivityEnable(kind);

    if (!result && kind == DEVICE)
        dump_device();
    return result;
}

CALL(cuptiActivityDisable, int kind)
{
    while (playback_setting("HANG_DISABLE"))
        pause();
    client.enabled[kind] = false;
    return called("Disable", kind);
}

CALL(cuptiActivityEnableDriverApi, uint32_t id, uint8_t enable)
{
    calls_note(enable ? "EnableDriverApi" : "DisableDriverApi", (long)id);
    client.silent[id % CALLS] = !enable;
    return 0;
}

CALL(cuptiActivityEnableAllSyncRecords, uint8_t enable)
{
    calls_note("EnableAllSyncRecords", enable);
    return 0;
}

CALL(cuptiActivityEnableCudaEventDeviceTimestamps, uint8_t enable)
{
    calls_note("EnableCudaEventDeviceTimestamps", enable);
    return 0;
}

struct counter {
    uint32_t scope, kind, device, enable;
};

CALL(cuptiActivityConfigureUnifiedMemoryCounter, struct counter *counters,
     uint32_t count)
{
    static long calls;

    for (uint32_t i = 0; i < count; i++)
        calls_note("ConfigureUnifiedMemoryCounter", counters[i].kind);
    return second_of("UNIFIED", ++calls);
}

CALL(cuptiActivityEnableRuntimeApi, uint32_t id, uint8_t enable)
{
    calls_note(enable ? "EnableRuntimeApi" : "DisableRuntimeApi", (long)id);
    return 0;
}

CALL(cuptiActivityFlushAll, uint32_t forced)
{
    int failed = called("FlushAll", (long)forced);

    if (failed)
        return failed;
    pthread_mutex_lock(&lock);
    if (!fixture.loaded) {
        open_fixture();
        wait_until_it_happened();
    }
    be_greedy();
    play_some(forced);
    complete(&pending);
    pthread_mutex_unlock(&lock);
    return 0;
}

CALL(cuptiActivityGetNextRecord, uint8_t *bytes, size_t valid, void **record)
{
    uint8_t *at = *record ? *record : bytes;

    if (!bytes)
        return INVALID_PARAMETER;
    if (*record)
        at += length_of(kind_at(at));
    if (at + 4 > bytes + valid)
        return MAX_LIMIT;
    if (!length_of(kind_at(at)))
        return INVALID_KIND;
    if (at + length_of(kind_at(at)) > bytes + valid)
        return MAX_LIMIT;
    *record = at;
    return 0;
}

CALL(cuptiActivityGetNumDroppedRecords, void *context, uint32_t stream,
     size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = (size_t)playback_number("DROPPED", 0) +
               __atomic_exchange_n(&unbuffered, 0, __ATOMIC_RELAXED);
    return called("GetNumDroppedRecords", 0);
}

CALL(cuptiActivityPushExternalCorrelationId, int kind, uint64_t id)
{
    bool known = false;

    (void)kind;
    if (depth == IDS)
        abort(); /* popped in reverse */
    stack[depth++] = id;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < pushed_count; i++)
        known |= pushed[i] == id;
    if (!known && pushed_count < IDS)
        pushed[pushed_count++] = id;
    pthread_mutex_unlock(&lock);
    return 0;
}

CALL(cuptiActivityPopExternalCorrelationId, int kind, uint64_t *id)
{
    (void)kind;
    if (!depth)
        return INVALID_PARAMETER;
    *id = stack[--depth];
    return 0;
}

/* ---- CUPTI's only subscriber ---- */

struct parameters {
    size_t size;
    const char *name;
    char *other;
    size_t other_size;
};

static struct {
    bool taken;
    char name[64];
    void (*callback)(void *, int, uint32_t, const void *);
    bool resources[32]; /* which of them it wants to know */
} subscriber;

/* The name is that of the tool or of the subscriber that is there. */
static int subscribe(const char *call, void **handle, const char *name,
                     struct parameters *parameters)
{
    const char *tool = playback_setting("TOOL");
    int failed = called(call, 0);

    if (failed)
        return failed;
    if (!handle || (parameters && parameters->size != sizeof(*parameters)))
        return INVALID_PARAMETER;
    if (tool || subscriber.taken) {
        if (parameters && parameters->other)
            snprintf(parameters->other, parameters->other_size, "%s",
                     tool ? tool : subscriber.name);
        return MULTIPLE;
    }
    subscriber.taken = true;
    snprintf(subscriber.name, sizeof(subscriber.name), "CUPTI%s%s",
             name ? " for " : "", name ? name : "");
    *handle = &subscriber;
    return 0;
}

CALL(cuptiSubscribe, void **handle,
     void (*callback)(void *, int, uint32_t, const void *), void *context)
{
    int result = subscribe("Subscribe", handle, NULL, NULL);

    (void)context;
    if (!result)
        subscriber.callback = callback;
    return result;
}

CALL(cuptiEnableCallback, uint32_t enable, void *handle, int domain,
     uint32_t id)
{
    int failed = called("EnableCallback", (long)id);

    if (failed || handle != &subscriber || domain != 3 || id >= 32)
        return failed ? failed : INVALID_PARAMETER;
    subscriber.resources[id] = enable;
    return 0;
}

/* A node's address is its id. */
CALL(cuptiGetGraphNodeId, void *node, uint64_t *id)
{
    *id = (uintptr_t)node;
    return node ? 0 : INVALID_PARAMETER;
}

/* trace_playback_node reports that the calling thread makes a node of a graph,
 * or copies the `original`, unless that is 0. */
API void trace_playback_node(uint64_t id, uint64_t original);

void trace_playback_node(uint64_t id, uint64_t original)
{
    void *data[] = {NULL, NULL, (void *)(uintptr_t)id,
                    (void *)(uintptr_t)original};
    void *resource[] = {NULL, NULL, data};
    uint32_t what = original ? 20 : 13;

    if (subscriber.taken && subscriber.callback && subscriber.resources[what])
        subscriber.callback(NULL, 3, what, resource);
}

CALL(cuptiSubscribe_v2, void **handle, void *callback, void *context,
     struct parameters *parameters)
{
    (void)callback;
    (void)context;
    return subscribe("Subscribe_v2", handle,
                     parameters ? parameters->name : NULL, parameters);
}

CALL(cuptiUnsubscribe, void *handle)
{
    int failed = called("Unsubscribe", 0);

    if (failed || handle != &subscriber || !subscriber.taken)
        return failed ? failed : INVALID_PARAMETER;
    subscriber.taken = false;
    return 0;
}
