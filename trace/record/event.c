/* event.c: records events and log lines. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "stack.h"
#include "trace/device.h"

/* ---- Interest ---- */

/* The scope of the calling thread's spans. */
static struct trace_scope scope_of(struct trace_writer *writer)
{
    if (!trace_is_current(writer))
        return (struct trace_scope){0, 0};
    if (!trace_is_busy(writer))
        trace_settle(writer);
    return trace_scope_;
}

bool trace_site_ask_(struct trace_site *site)
{
    struct trace_scope scope;
    unsigned interest;

    if (trace_interest_of(site) == TRACE_UNREGISTERED)
        trace_site_register(site);
    interest = trace_interest_of(site);
    if (interest == TRACE_AWAITED) {
        trace_site_called();
        return false;
    }
    if (interest <= TRACE_ALWAYS || interest == TRACE_UNREGISTERED)
        return interest == TRACE_ALWAYS;
    scope = scope_of(&trace_writer);
    /* An enclosing span may limit the level. */
    if (site->level + scope.takes > TRACE_LEVEL_TRACE &&
        (site->kind != TRACE_SITE_SPAN || !(interest & TRACE_JUDGED) ||
         scope.takes == TRACE_LEVEL_TRACE))
        return interest & TRACE_ALWAYS;
    return interest & (TRACE_ALWAYS | TRACE_COMMONLY | TRACE_JUDGED) ||
           site->level <= scope.adds;
}

/* ---- Events ---- */

/* Adds the message of an event before it is recorded. */
static void message_of(const struct trace_site *site, unsigned flags,
                       size_t count, const struct trace_value *values,
                       struct trace_text *message)
{
    if (flags & TRACE_FLAG_PRINTF) {
        size_t size = trace_values_size(count, values);
        unsigned char *stored = malloc(size + 1);

        if (stored) {
            struct trace_values next = {stored, stored + size, NULL};

            trace_values_store(stored, count, values);
            trace_format(message, site->name, &next);
        }
        free(stored);
    } else if (flags & TRACE_FLAG_MESSAGE) {
        trace_text_add(message, values->as.text, values->size);
    } else {
        trace_text_string(message, site->name);
    }
}

/* Returns whether the subscriber wants an event, by its values. */
static __attribute__((noinline)) bool wants_event(
    const struct trace_site *site, unsigned flags, size_t count,
    const struct trace_value *values)
{
    struct trace_text message = {.ceiling = 1 << 20};
    bool fields = !(flags & (TRACE_FLAG_PRINTF | TRACE_FLAG_MESSAGE));
    uintptr_t busy = trace_ours_begin(&trace_writer);

    message_of(site, flags, count, values, &message);

    bool wanted = trace_subscriber->event(site, trace_scope_,
                                          message.data ? message.data : "",
                                          fields ? count : 0, values);

    trace_text_free(&message);
    trace_ours_end(&trace_writer, busy);
    return wanted;
}

static inline void put_event(struct trace_writer *writer,
                             struct trace_site *site, unsigned flags,
                             size_t count, const struct trace_value *values,
                             size_t bytes)
{
    struct trace_record *record =
        trace_put_of(writer, TRACE_KIND_EVENT, site, trace_current(writer),
                     count, values, bytes);

    if (likely(record != NULL)) {
        record->flags = (uint8_t)flags;
        trace_publish(writer, record);
    }
}

static __attribute__((noinline)) void put_judged_event(
    struct trace_writer *writer, struct trace_site *site, unsigned flags,
    size_t count, const struct trace_value *values)
{
    int error = errno;
    struct trace_hold hold;
    bool wanted;

    trace_hold(&hold);
    trace_settle(writer);
    wanted = wants_event(site, flags, count, values);
    trace_release(&hold);
    if (wanted)
        put_event(writer, site, flags, count, values,
                  trace_bytes_of(count, values));
    errno = error;
}

static void print_event(struct trace_site *, unsigned flags, size_t count,
                        const struct trace_value *);

static inline void event(struct trace_site *site, unsigned flags, size_t count,
                         const struct trace_value *values, size_t bytes)
{
    struct trace_writer *writer;

    if (unlikely(bytes >= TRACE_UNPRINTED)) {
        print_event(site, flags, count, values);
        return;
    }
    writer = trace_enter();
    if (unlikely(!writer))
        return;
    if (unlikely(trace_is_judged(site)))
        put_judged_event(writer, site, flags, count, values);
    else
        put_event(writer, site, flags, count, values, bytes);
    trace_leave(writer);
}

static __attribute__((noinline)) void print_event(
    struct trace_site *site, unsigned flags, size_t count,
    const struct trace_value *values)
{
    struct trace_printed printed;

    if (!trace_print_begin(&printed, count, values))
        return;
    event(site, flags, count, printed.values,
          trace_bytes_of(count, printed.values));
    trace_print_end(&printed);
}

void trace_event_(struct trace_site *site, size_t count,
                  const struct trace_value *values)
{
    if (!trace_seems_full() || !trace_is_lost(site))
        event(site, 0, count, values, trace_bytes_of(count, values));
}

static void put_message(struct trace_site *site, const char *text)
{
    struct trace_value value = trace_text_(text);

    event(site, TRACE_FLAG_MESSAGE, 1, &value, trace_values_size(1, &value));
}

void trace_message(struct trace_site *site, const char *message)
{
    if (!trace_is_recording() || trace_writer.busy == TRACE_LOCKED)
        return;
    /* Its id belongs to this recording: the next one must assign it again. */
    if (trace_interest_of(site) == TRACE_UNREGISTERED)
        trace_site_register(site);
    trace_sites_lock();
    __atomic_store_n(&site->interest, trace_site_interest(site),
                     __ATOMIC_RELEASE);
    trace_sites_unlock();
    if (trace_site_on_(site))
        put_message(site, message);
}

/* ---- Counters and signposts ---- */

static void put_always(struct trace_site *site, enum trace_kind kind,
                       unsigned flags, size_t count,
                       const struct trace_value *values)
{
    struct trace_writer *writer = trace_enter();
    struct trace_record *record;

    if (!writer)
        return;
    record = trace_put_of(writer, kind, site, trace_current(writer), count,
                          values, trace_bytes_of(count, values));
    if (record) {
        record->flags = (uint8_t)flags;
        trace_publish(writer, record);
    }
    trace_leave(writer);
}

void trace_counter_(struct trace_site *site, struct trace_value value)
{
    struct trace_printed printed;

    if (likely(value.type != TRACE_TYPE_CALLBACK)) {
        put_always(site, TRACE_KIND_COUNTER, 0, 1, &value);
    } else if (trace_print_begin(&printed, 1, &value)) {
        put_always(site, TRACE_KIND_COUNTER, 0, 1, printed.values);
        trace_print_end(&printed);
    }
}

void trace_signpost_(struct trace_site *site, const char *header,
                     const char *format, ...)
{
    struct trace_printed printed;
    char *message = NULL;
    va_list args;

    if (!trace_print_begin(&printed, 0, NULL))
        return;
    va_start(args, format);
    if (vasprintf(&message, format, args) < 0)
        message = NULL;
    va_end(args);

    struct trace_value values[] = {trace_text_(header),
                                   trace_text_(message ? message : format)};

    put_always(site, TRACE_KIND_SIGNPOST, TRACE_FLAG_MESSAGE, 2, values);
    free(message);
    trace_print_end(&printed);
}

/* ---- Log lines ---- */

void trace_log_now(struct trace_site *site, const char *format, va_list args)
{
    struct trace_printed printed;
    char *message = NULL;

    if (!trace_print_begin(&printed, 0, NULL))
        return;
    if (vasprintf(&message, format, args) < 0)
        message = NULL;
    put_message(site, message ? message : format);
    free(message);
    trace_print_end(&printed);
}

/* Returns whether the call site was recorded with `format`; in C++, a site may
 * get several. */
static inline bool own_format(struct trace_site *site, const char *format)
{
    const char *own = __atomic_load_n(&site->name, __ATOMIC_RELAXED);

    if (unlikely(!own) && !__atomic_load_n(&site->id, __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&site->name, &own, format, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    return likely(own == format);
}

void trace_log_(struct trace_site *site, const char *format, ...)
{
    struct trace_value values[TRACE_ARGS_MAX];
    va_list args;
    size_t bytes = 0;
    int count = -1;

    if (trace_seems_full() && trace_is_lost(site))
        return;
    if (own_format(site, format)) {
        va_start(args, format);
        count = trace_args_take(site, format, &args, values, &bytes);
        va_end(args);
    }
    if (likely(count >= 0)) {
        event(site, TRACE_FLAG_PRINTF, (size_t)count, values, bytes);
    } else if (count == -2 || trace_format_writes(format)) {
        put_message(site, format);
    } else {
        va_start(args, format);
        trace_log_now(site, format, args);
        va_end(args);
    }
}
