/* finding_table.c: prints what made the host wait for devices. */
#include "finding_table.h"

#include "log/devices/blocking.h"

#define FINDING_COLUMNS(X)                                                     \
    X("Total", "total_ns", TIME, one->time)                                    \
    X("Longest", "longest_ns", TIME, one->to - one->from)                      \
    X("At", "start_ns", TIME, (int64_t)(one->from - zero))                     \
    X("Test", "test", TEXT, recording->test)                                   \
    X("Finding", "finding", TEXT, one->text.data)

static const struct runners_column *const columns =
    RUNNERS_COLUMNS(FINDING_COLUMNS);

static void begin(struct finding_table *table)
{
    if (!table->table.columns)
        runners_table_begin(&table->table, columns, table->form);
}

int runners_findings_add(struct finding_table *table,
                         const struct recording *recording,
                         struct trace_reader *reader)
{
    uint64_t zero = runners_zero_of(&table->noted, recording, reader);
    struct log_blockings found;
    int status = log_blocking_find(&found, reader);

    for (size_t i = 0; i < found.count && !status; i++) {
        const struct log_blocking *one = &found.all[i];

        begin(table);
        runners_table_add(&table->table, RUNNERS_CELLS(FINDING_COLUMNS));
        table->some = true;
    }
    log_blockings_free(&found);
    return status;
}

void runners_findings_end(struct finding_table *table, const char *where)
{
    if (table->form != RUNNERS_AS_TEXT)
        begin(table);
    runners_table_end(&table->table);
    if (table->form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, "finding", table->table.rows);
    runners_noted_free(&table->noted);
}
