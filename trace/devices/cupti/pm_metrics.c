/* pm_metrics.c: chooses the counters that a chip can sample.
 *
 * CUPTI refuses a list as a whole, without the names that it lacks, and its
 * object is unusable then. Each attempt takes some milliseconds.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "pm.h"
#include "trace/base/text.h"

#define PERCENT ".avg.pct_of_peak_sustained_elapsed"

/* The list "default". They need one pass on GA100 to GB202, except that some
 * chips lack the last ones. */
static const struct {
    const char *name, *metric; /* for display; CUPTI's */
} defaults[] = {
    {"GPU active %", "gr__cycles_active" PERCENT},
    {"SM active %", "sm__cycles_active" PERCENT},
    {"occupancy %", "sm__warps_active" PERCENT},
    {"tensor active %", "sm__pipe_tensor_cycles_active" PERCENT},
    {"DRAM read %", "dram__read_throughput" PERCENT},
    {"DRAM write %", "dram__write_throughput" PERCENT},
    {"PCIe read bytes/s", "pcie__read_bytes.sum.per_second"},
    {"PCIe write bytes/s", "pcie__write_bytes.sum.per_second"},
};

enum { DEFAULT_COUNT = sizeof(defaults) / sizeof(*defaults) };

struct cupti_pm_calls cupti_pm;

bool cupti_pm_load(void *handle)
{
    bool found = true;

#define TRACE_X(name, symbol, type, last)                                      \
    cupti_pm.name =                                                            \
        (int (*)(struct cupti_pm_##type *))(uintptr_t)dlsym(handle, symbol);   \
    found &= cupti_pm.name != NULL;
    CUPTI_PM_CALLS(TRACE_X)
#undef TRACE_X
    return found;
}

/* ---- The list ---- */

static bool is_default(const char *metric)
{
    for (size_t i = 0; i < DEFAULT_COUNT; i++)
        if (!strcmp(defaults[i].metric, metric))
            return true;
    return false;
}

/* Returns a name for display that stays valid. */
static const char *name_of(const char *metric)
{
    char *name;

    for (size_t i = 0; i < DEFAULT_COUNT; i++)
        if (!strcmp(defaults[i].metric, metric))
            return defaults[i].name;
    if (!strstr(metric, ".pct"))
        return metric;
    return asprintf(&name, "%s %%", metric) < 0 ? metric : name;
}

static void leave_out(struct trace_text *left_out, const char *metric,
                      const char *why)
{
    trace_text_printf(left_out, "%s%s %s", left_out->size ? "; " : "", metric,
                      why);
}

static void add(struct cupti_pm_counters *counters, const char *metric,
                struct trace_text *left_out)
{
    for (size_t i = 0; i < counters->count; i++)
        if (!strcmp(counters->metrics[i], metric))
            return;
    if (counters->count == TRACE_ACTIVITY_FIELDS)
        leave_out(left_out, metric, "is one too many");
    else
        counters->metrics[counters->count++] = metric;
}

/* Splits the list in place. */
static void read_list(struct cupti_pm_counters *counters,
                      struct trace_text *left_out)
{
    char *rest = counters->text.data, *word;

    while ((word = strsep(&rest, "+"))) {
        if (strcmp(word, "default") != 0)
            add(counters, word, left_out);
        else
            for (size_t i = 0; i < DEFAULT_COUNT; i++)
                add(counters, defaults[i].metric, left_out);
    }
}

static void drop(struct cupti_pm_counters *counters, size_t index)
{
    counters->count--;
    for (size_t i = index; i < counters->count; i++)
        counters->metrics[i] = counters->metrics[i + 1];
}

/* ---- CUPTI's object for a chip ---- */

static int open_host(void **host, const char *chip, const uint8_t *availability)
{
    struct cupti_pm_host open = {CUPTI_PM_HEAD(host), .kind = CUPTI_PM_HOST,
                                 .chip = chip, .availability = availability};
    int result = cupti_pm.host(&open);

    *host = result ? NULL : open.host;
    return result;
}

static void close_host(void *host)
{
    struct cupti_pm_host_end end = {CUPTI_PM_HEAD(host_end), .host = host};

    if (host)
        cupti_pm.host_end(&end);
}

static int add_metrics(void *host, const char **metrics, size_t count)
{
    struct cupti_pm_metrics all = {CUPTI_PM_HEAD(metrics), .host = host,
                                   .names = metrics, .count = count};

    return cupti_pm.metrics(&all);
}

/* ---- Unknown names ---- */

/* The size of a metric's name without what follows, ".avg.per_second". Some
 * names have dots before their two underscores. */
static size_t size_of_base(const char *metric)
{
    const char *middle = strstr(metric, "__");

    middle = middle ? middle : metric;
    return (size_t)(middle - metric) + strcspn(middle, ".");
}

/* Returns the name at the least distance, if it is less than `least`. */
static const char *nearest(const char *name, size_t size, const char **names,
                           size_t count, size_t *least)
{
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t distance =
            trace_distance(name, size, names[i], strlen(names[i]));

        if (distance < *least) {
            *least = distance;
            found = names[i];
        }
    }
    return found;
}

/* Says which counter was meant. */
static void leave_out_unknown(const char *metric, void *host, const char *chip,
                              struct trace_text *left_out)
{
    size_t size = size_of_base(metric), least = size / 2 + 1;
    struct cupti_pm_sub_metrics ends = {CUPTI_PM_HEAD(sub_metrics),
                                        .host = host};
    const char *base = NULL, *end = NULL;

    for (uint32_t kind = CUPTI_PM_COUNTER; kind <= CUPTI_PM_THROUGHPUT;
         kind++) {
        struct cupti_pm_base_metrics all = {CUPTI_PM_HEAD(base_metrics),
                                            .host = host, .kind = kind};
        const char *found =
            cupti_pm.base_metrics(&all)
                ? NULL
                : nearest(metric, size, all.names, all.count, &least);

        base = found ? found : base;
        ends.kind = found ? kind : ends.kind;
    }
    ends.name = base;
    least = SIZE_MAX;
    if (base && !cupti_pm.sub_metrics(&ends))
        end =
            nearest(metric[size] ? metric + size : PERCENT,
                    metric[size] ? strlen(metric + size) : sizeof(PERCENT) - 1,
                    ends.names, ends.count, &least);
    trace_text_printf(left_out, "%s%s does not exist on %s",
                      left_out->size ? "; " : "", metric, chip);
    if (end)
        trace_text_printf(left_out, "; write %s%s", base, end);
}

/* Drops the counters that a chip lacks. */
static void drop_unknown(struct cupti_pm_counters *counters, const char *chip,
                         const uint8_t *availability,
                         struct trace_text *left_out)
{
    for (size_t i = 0; i < counters->count;) {
        const char *metric = counters->metrics[i];
        void *host, *fresh;
        bool known = !open_host(&host, chip, availability) &&
                     !add_metrics(host, &metric, 1);

        close_host(host);
        if (known) {
            i++;
            continue;
        }
        if (!is_default(metric) && !open_host(&fresh, chip, availability)) {
            leave_out_unknown(metric, fresh, chip, left_out);
            close_host(fresh);
        }
        drop(counters, i);
    }
}

/* ---- One pass ---- */

/* Makes the image that configures the device for the counters. Returns how many
 * passes it needs; 0 if CUPTI makes none. */
static size_t configure(struct cupti_pm_counters *counters)
{
    struct cupti_pm_config_size size = {CUPTI_PM_HEAD(config_size),
                                        .host = counters->host};
    struct cupti_pm_config config = {CUPTI_PM_HEAD(config),
                                     .host = counters->host};
    struct cupti_pm_passes passes = {CUPTI_PM_HEAD(passes), .count = 0};

    if (cupti_pm.config_size(&size) || !(config.image = malloc(size.size)))
        return 0;
    config.size = passes.size = size.size;
    passes.image = config.image;
    if (cupti_pm.config(&config) || cupti_pm.passes(&passes)) {
        free(config.image);
        return 0;
    }
    counters->config = config.image;
    counters->config_size = config.size;
    return passes.count;
}

int cupti_pm_choose(struct cupti_pm_counters *counters, const char *list,
                    const char *chip, const uint8_t *availability,
                    struct trace_text *left_out)
{
    size_t passes = 0;
    int result;

    *counters = (struct cupti_pm_counters){.count = 0};
    trace_text_string(&counters->text, list);
    if (counters->text.failed)
        return CUPTI_PM_RESULT_OUT_OF_MEMORY;
    read_list(counters, left_out);
    for (bool checked = false; counters->count;) {
        if ((result = open_host(&counters->host, chip, availability)))
            return result;
        result =
            add_metrics(counters->host, counters->metrics, counters->count);
        if (!result && (passes = configure(counters)) == 1)
            break;
        close_host(counters->host);
        if (result && !checked) {
            drop_unknown(counters, chip, availability, left_out);
            checked = true;
            continue;
        }
        if (result || !passes)
            return result ? result : CUPTI_RESULT_UNKNOWN;
        free(counters->config);
        leave_out(left_out, counters->metrics[--counters->count],
                  "needs another pass, and sampling has one");
    }
    for (size_t i = 0; i < counters->count; i++)
        counters->names[i] = name_of(counters->metrics[i]);
    return 0;
}
