/* run_members.h: the members of run.json that are written, read again and
 * merged. Private.
 *
 * X(kind, member, field) is a member with the value of one field. W(kind,
 * member) has the values of several fields. D(kind, member) is derived from
 * them, and not read. A kind is written by its put_KIND in run_json.c, and read
 * by its read_KIND in read_run_json.c. A new member is a field of its struct in
 * model.h, a row, and a line in testlog-files.7; merged runs have it, too.
 */
#ifndef TESTLOG_RUN_MEMBERS_H
#define TESTLOG_RUN_MEMBERS_H

/* struct test_log_try */
#define TEST_LOG_TRY_MEMBERS(X)                                                \
    X(outcome, "outcome", outcome)                                             \
    X(text, "reason", reason)                                                  \
    X(number, "start_ns", began)                                               \
    X(number, "duration_ns", duration)                                         \
    X(folder, "folder", folder)                                                \
    X(some_number, "part", source)

/* struct test_log_result, in results.jsonl, too */
#define TEST_LOG_RESULT_MEMBERS(X, W, D)                                       \
    X(text, "program", program)                                                \
    W(name, "name")                                                            \
    X(some_text, "title", title)                                               \
    X(outcome, "outcome", outcome)                                             \
    X(text, "reason", reason)                                                  \
    X(some_text, "known", known)                                               \
    X(some_text, "assertions", assertions)                                     \
    X(some_text, "flavour", flavour)                                           \
    X(text, "file", file)                                                      \
    X(number, "line", line)                                                    \
    X(number, "start_ns", began)                                               \
    X(number, "duration_ns", duration)                                         \
    X(some_number, "worker_ns", occupied)                                      \
    W(usage, "usage")                                                          \
    X(folder, "folder", folder)                                                \
    X(some_text, "recording", recording)                                       \
    D(tries, "tries")                                                          \
    D(flaky, "flaky")                                                          \
    X(some_number, "part", source)                                             \
    W(earlier, "earlier")

/* struct test_log_result, once its recording was read */
#define TEST_LOG_RECORDED_MEMBERS(X, W, D)                                     \
    W(lost, "lost")                                                            \
    D(dropped, "dropped")                                                      \
    X(some_text, "survivors", survivors)                                       \
    X(unless, "rendered", unrendered)                                          \
    X(number, "unjudged", unjudged)

/* struct test_log_merged_run */
#define TEST_LOG_SOURCE_MEMBERS(X)                                             \
    X(text, "run", run)                                                        \
    X(text, "host", host)                                                      \
    X(text, "testlog", testlog)                                                \
    X(end, "end", end)                                                         \
    X(shard, "shard", shard)                                                   \
    X(moment, "start", start)                                                  \
    X(offset, "offset_ns", offset)                                             \
    X(known, "uncertainty_ns", uncertainty)                                    \
    X(number, "tests", tests)

/* X(member, field) in struct test_log_run: the filters, and where they come
 * from. A merged run has those that all its runs share. */
#define TEST_LOG_FILTER_MEMBERS(X)                                             \
    X("log", show)                                                             \
    X("log_origin", show_origin)                                               \
    X("trace", record)                                                         \
    X("trace_origin", record_origin)

/* X(member) in struct test_log_sums: how many tests had that outcome. */
#define TEST_LOG_COUNTS(X)                                                     \
    X(passed)                                                                  \
    X(failed)                                                                  \
    X(skipped)

#endif
