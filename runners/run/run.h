/* run.h: what the files of `testlog run` share. Private. */
#ifndef TESTLOG_RUN_H
#define TESTLOG_RUN_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <testlog/trace.h>

#include "runners/programs/frameworks.h"

struct cJSON;
struct test_log_history;
struct test_log_options;
struct test_log_run;

/* ---- receive_results.c: results on their way from a program ---- */

/* A program sends a line for each test as it ends, then one for the whole
 * run. */
struct handover {
    int from, to;           /* the ends of a pipe; 0: there is none */
    struct trace_text part; /* of a line whose end has not come */
    struct trace_text text; /* all received lines */
    size_t passed_on;       /* bytes of it that are in results.jsonl */
    size_t tests;           /* lines of tests among these */
};

/* runners_handover_begin makes the pipe; `to` is the program's end. Without a
 * pipe, results are read from files only. runners_handover_give, in the
 * program's process, keeps its end open. */
void runners_handover_begin(struct handover *);
void runners_handover_give(const struct handover *);

/* runners_handover_read reads the received lines and writes those of tests to
 * results.jsonl. */
void runners_handover_read(struct handover *);

/* runners_handover_finish, once the program has ended, takes the last line if
 * it has no newline; of a program that died, it may be cut and does not count
 * then. */
void runners_handover_finish(struct handover *, bool died);

/* runners_handover_is_test tells whether a line is about a test. */
bool runners_handover_is_test(const char *line);
void runners_handover_end(struct handover *);

/* ---- program_results.c ---- */

/* runners_merge adds the results of a program, whose folder in the run is
 * `folder`: those that it sent or, if none came, those that its process wrote
 * to its own folder, `process`. Returns how many there were. `first` is true
 * until a program's are merged. */
enum told runners_merge(struct test_log_run *, const char *folder,
                        const char *process, const struct handover *,
                        bool *first);

/* runners_merge_json does the same with a program's parsed run.json. */
void runners_merge_json(struct test_log_run *, const struct cJSON *,
                        bool *first);

/* runners_merge_head adds the contents of a program's or run's run.json, except
 * its tests; `first` as above. */
void runners_merge_head(struct test_log_run *, const struct cJSON *,
                        bool *first);

/* ---- output.c: captured output, printed program by program ---- */

/* Text from stdout or stderr that is not printed yet. */
struct stream {
    FILE *file;   /* the beginning of it, or NULL */
    size_t moved; /* bytes of the file */
    bool full;    /* the file takes no more */
    struct trace_text text;
};

/* The zero value captures nothing. */
struct output {
    int from[2], to[2]; /* pipes for stdout and stderr; 0: none */
    struct stream streams[2];
    int copy;         /* a file that gets all text; 0: none */
    size_t copied;    /* bytes */
    bool keeps_stdin; /* no other program wants to read it */
    bool reads_all;   /* `read` gets stderr, too */
    /* Gets the text of stdout; NULL: nobody does. */
    void (*read)(void *reader, const char *bytes, size_t size);
    void *reader;
};

/* runners_output_begin makes the pipes: one if stdout and stderr go to the same
 * place, or must be `in_order`. Returns -1 with errno without them.
 * runners_output_give, in the program's process, puts them in place;
 * runners_output_given, in ours, closes the program's ends. */
int runners_output_begin(struct output *, bool in_order);
void runners_output_give(const struct output *);
void runners_output_given(struct output *);

/* runners_output_poll sets the two entries to poll; runners_output_read reads
 * the available text. */
void runners_output_poll(const struct output *, struct pollfd *);
void runners_output_read(struct output *);

/* runners_output_waits reads, too, and tells whether there is text to print.
 * runners_output_show prints the text so far; runners_output_end, once the
 * program has ended, prints the rest. runners_output_keep writes the rest to a
 * file, which must be readable too, and prints only testlog's own lines. */
bool runners_output_waits(struct output *);
void runners_output_show(struct output *);
void runners_output_end(struct output *);
void runners_output_keep(struct output *, int file);

/* ---- children.c: running programs ---- */

/* The zero value is a program that shares our output and sends no results. */
struct child {
    pid_t pid;
    bool ended;
    int status;                /* then, as waitpid has it */
    const char *preload;       /* what LD_PRELOAD begins with; NULL: as ours */
    const struct cJSON *ctest; /* its place and variables; NULL: ours */
    char **variables;          /* more of them, "NAME=value"; NULL: none */
    bool foreign;              /* it knows nothing of SIGUSR1 */
    struct handover handover;
    struct output output;
    struct child *next;
};

/* runners_start starts a program; returns 0, or -errno if it cannot be run. The
 * struct must not move until the child has ended. */
int runners_start(struct child *, char *path, char **argv);

/* runners_wait sleeps until a child has ended or written, `fd` (0: none) is
 * readable, or the time is over (-1: never). Then it passes signals on, reads
 * from children, and marks those that have ended. */
void runners_wait(int fd, int milliseconds);

/* runners_take_signals blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1; they are
 * then passed on to the programs that run. Below make, the death of a parent
 * with one thread counts as SIGTERM. runners_interrupted returns the signal
 * that ended the run, or 0. */
void runners_take_signals(void);
int runners_interrupted(void);

/* runners_hand_on_signals does the same for a program that was not built for
 * testlog: it gets every signal, and only the program decides when to end. */
void runners_hand_on_signals(void);

/* runners_spawn runs a program to its end, like a child that has not started
 * (NULL: in our environment); returns what waitpid tells, or -errno if it
 * cannot be run. */
int runners_spawn(char *path, char **argv, const struct child *like);

/* ---- signals.c: signals on their way to programs ---- */

enum { RUNNERS_TICK = 100 }; /* ms between checks if nothing can wake us */

/* The programs that run. */
extern struct child *runners_children;

/* runners_pass_on_signals passes pending signals on; runners_child_ended tells,
 * once, whether SIGCHLD was among them. */
void runners_pass_on_signals(void);
bool runners_child_ended(void);

/* runners_signals_fd returns a descriptor that is readable when a signal is
 * pending; 0: there is none. */
int runners_signals_fd(void);

/* runners_restore_signals, in a new process, unblocks them. */
void runners_restore_signals(void);

/* runners_wait_to_write passes signals on until `fd` can be written to. */
void runners_wait_to_write(int fd);

/* runners_asked tells, once, whether SIGUSR1 has asked what is running. */
bool runners_asked(void);

/* ---- jobserver.c: GNU make's ---- */

/* runners_jobserver_find connects to the jobserver that MAKEFLAGS names, if its
 * descriptors are open pipes. It must come before any file is opened: files
 * would get the numbers of descriptors that make has closed. */
void runners_jobserver_find(void);

/* runners_jobserver_hold takes tokens, or gives them back, so that `jobs` can
 * run at once, the first one without a token. Returns how many can run: fewer
 * if tokens are missing, `jobs` without a jobserver. */
size_t runners_jobserver_hold(size_t jobs);

/* runners_jobserver_fd returns a descriptor that is readable when there are
 * tokens; 0 without a jobserver. */
int runners_jobserver_fd(void);

/* runners_jobserver_end gives all tokens back. They also go back if this
 * process is killed. */
void runners_jobserver_end(void);

/* ---- serial.c ---- */

/* runners_is_serial tells whether a program must run alone: it has the note of
 * TEST_LOG_SERIAL. */
bool runners_is_serial(const char *path);

/* ---- programs.c ---- */

enum program_state {
    PROGRAM_WAITING,
    PROGRAM_LEFT_OUT, /* by --failed, or a filter */
    PROGRAM_RUNNING,
    PROGRAM_ENDED,
};

/* X(NAME): what programs of a kind can do, or are. */
#define PROGRAM_CANS(X)                                                        \
    X(FLAGS)   /* they take our flags */                                       \
    X(CHOOSE)  /* we can run single tests of them */                           \
    X(DEBUG)   /* --debug-failed */                                            \
    X(SUGGEST) /* they name the test that was probably meant */                \
    X(ANSWER)  /* SIGUSR1 */                                                   \
    X(HIDE)    /* scripts: they may start any program */                       \
    X(EXIT)    /* each is one test, of which the exit code tells */

enum program_can {
#define X(name) PROGRAM_##name,
    PROGRAM_CANS(X)
#undef X
};

#define PROGRAM_CAN(name) (1u << PROGRAM_##name)

/* The kind of a program, without the launcher or the ctest that starts it. */
struct program_kind {
    unsigned can; /* PROGRAM_CAN of each */
};

struct program {
    char *path;
    char *name;    /* of all its files and results: "name", "name~2" */
    char *test;    /* "suite/test" that a launcher starts; NULL: all run */
    char *folder;  /* in the run, once it has started */
    char *process; /* the folder for files of its process alone */
    char *preload; /* libraries to start it with; NULL: none */
    char *timeout; /* the flag for ctest's timeout; NULL: none */
    struct framework_place place; /* where ctest starts it */
    const char **asked; /* tests of GoogleTest that ctest starts one by one */
    size_t asked_count, asked_capacity; /* 0: all */
    const struct cJSON *ctest;          /* its test in ctest; NULL: none */
    bool serial;                        /* runs alone */
    bool failed;   /* a test failed and has not passed since */
    size_t tests;  /* that are in its history; 0: it has none */
    uint64_t time; /* ns that they took */
    enum program_state state;
    size_t jobs;                         /* while it runs */
    uint64_t started;                    /* ns, monotonic */
    size_t from, count;                  /* its results in the run */
    bool empty;                          /* it has no tests */
    bool flagless;                       /* it takes none of our flags */
    const struct program_kind *kind;     /* NULL: not known yet */
    struct framework_program *framework; /* NULL: it uses Criterion */
    struct program_file file;
    bool lacks_testlog;           /* though it uses Criterion: */
    struct framework_start flags; /* it gets those that Criterion has, too */
    const char *own_flag;         /* a flag that Criterion lacks; NULL: none */
    size_t refusal;               /* bytes of Criterion's usage that it wrote */
    bool annotated;               /* its tests capture their own output */
    struct child child;
};

struct programs {
    struct program *all;
    char **made; /* paths of some, to be freed */
    size_t made_count;
    size_t count;
    char **flags;     /* for each of them */
    char **arguments; /* for each of them, as ctest's; NULL ends them */
    int flag_count;
    bool elsewhere;           /* other shards have tests of other frameworks */
    bool preload;             /* load testlog into programs that lack it */
    const char *join;         /* where runs of ctests are; NULL: no such run */
    const char *join_as;      /* the program's name there; NULL: its file's */
    const char *ctest_folder; /* NULL: the programs are not ctest's */
    struct cJSON *ctest;      /* what it listed */
    char *launch;             /* words of the launcher, which point into it */
    char **launcher;          /* before the path of each of them */
    size_t launcher_count;
};

/* runners_programs_make takes `count` paths; -1 without memory. */
int runners_programs_make(struct programs *, char **paths, size_t count);
void runners_programs_free(struct programs *);

/* runners_programs_add adds a program to an array with room for it; NULL
 * without memory. */
struct program *runners_programs_add(struct programs *, char *path,
                                     const char *name);

/* runners_programs_find_frameworks finds which programs use other frameworks.
 * `argv` are the flags for the programs. -1 if it has printed what is wrong.
 * runners_programs_choose chooses the tests of these programs, and leaves those
 * out that have none; -1 if it has printed what is wrong. */
int runners_programs_find_frameworks(struct programs *,
                                     const struct test_log_options *,
                                     char **argv);
int runners_programs_choose(struct programs *, const struct test_log_history *);

/* runners_programs_mark_serial marks programs that match a glob, or that are
 * serial by themselves; returns how many matched. */
size_t runners_programs_mark_serial(struct programs *, const char *glob);
void runners_programs_find_serial(struct programs *);

/* runners_programs_recall notes each program's history, and with `failed`
 * leaves out programs without a failure. */
void runners_programs_recall(struct programs *, const struct test_log_history *,
                             bool failed);
size_t runners_programs_in(const struct programs *, enum program_state);

/* runners_programs_argv returns the arguments that a program is started with,
 * to be freed; NULL without memory. */
char **runners_programs_argv(const struct programs *, char *path);

/* ---- program_kinds.c ---- */

/* runners_kind_of finds what a program is, once its framework is known.
 * runners_can tells whether it can do PROGRAM_CAN of something;
 * runners_runs_single_tests, whether a command can run one test of it. */
const struct program_kind *runners_kind_of(const struct program *);
bool runners_can(const struct program *, unsigned what);
bool runners_runs_single_tests(const struct program *);

/* ---- pass_durations.c ---- */

/* runners_durations_begin, for shards by time, collects the durations of the
 * programs' tests; -1 if it has printed what is wrong. runners_durations
 * returns the path that programs read them from, NULL without them. */
int runners_durations_begin(const struct programs *, struct test_log_options *,
                            const struct test_log_history *);
const char *runners_durations(void);

/* ---- ctest.c ---- */

/* runners_ctest_begin makes programs of the tests in `ctest_folder`; -1 if it
 * has printed what is wrong. */
int runners_ctest_begin(struct programs *);

/* runners_ctest_property returns a property of a test that ctest has listed;
 * NULL if it is not set. */
const struct cJSON *runners_ctest_property(const struct cJSON *test,
                                           const char *name);

/* runners_ctest_argv returns the arguments of a program, to be freed; NULL
 * without memory. runners_ctest_enter, in the program's process, goes to its
 * working directory and sets its variables; -1 with errno. */
char **runners_ctest_argv(const struct program *, size_t *count);
int runners_ctest_enter(const void *test);

/* ---- list_programs.c ---- */

/* runners_list_programs prints the tests of all programs, as one array of JSON
 * or with `cmake` as a line for CMake each, and returns the exit code. */
int runners_list_programs(const struct programs *,
                          const struct test_log_history *, bool cmake);

/* runners_ctest_command returns the command that runs the tests of a build
 * folder by ctest, to be freed; `runs` is the folder in it that has the runs of
 * ctests. `elsewhere`: the user may not be in our working directory. NULL
 * without memory. */
char *runners_ctest_command(const char *runs, bool elsewhere);

/* ---- joined_tests.c: the tests of a ctest ---- */

/* The folder, beside the runs, of files that processes of a ctest share. */
#define RUNNERS_JOINED    ".joined"
#define RUNNERS_JOIN_LIST "list-"

/* runners_find_ctest returns the nearest ctest above this process, 0 if there
 * is none. runners_count_joining returns how many commands of its tests join a
 * run in `dir`, 0 if that is unknown. */
pid_t runners_find_ctest(void);
size_t runners_count_joining(pid_t ctest, const char *dir);

/* ---- stored_text.c ---- */

/* runners_stored_text returns the text that a file keeps, to be freed; NULL if
 * there is none. runners_store_text puts another one in its place; if it fails,
 * the file keeps the old one. The caller has locked the file. */
char *runners_stored_text(int file);
int runners_store_text(int file, const char *text);

/* ---- join.c: the run of a ctest ---- */

struct joined {
    int file;        /* shared by the processes of a ctest */
    const char *dir; /* where the run is */
    char *path;      /* of the run */
    unsigned number; /* of this process among them, from 1 on; 0: it is alone */
};

/* runners_join makes `run` a part of that of the ctest that started us, or of
 * our parent without one, in programs->join, and gives the programs names that
 * are unique there; -1 with errno. runners_join_end, once our results are
 * written, writes the files of the run if no other process will, and frees
 * all. */
int runners_join(struct joined *, struct test_log_run *, struct programs *,
                 const struct test_log_options *);
void runners_join_end(struct joined *, const struct test_log_options *);

/* ---- preload.c ---- */

/* runners_preload_begin chooses the libraries that each program is started
 * with; -1 if it has printed what is wrong. runners_preload_note notes that a
 * program ended without results; runners_preload_explain prints how many such
 * programs there were. */
int runners_preload_begin(struct programs *);
void runners_preload_note(const struct program *);
void runners_preload_explain(void);

/* ---- launch.c ---- */

/* runners_launch_read splits the command of a launcher at blanks; -1 if there
 * is no word, or no memory. runners_launch_argv returns the arguments that a
 * test is started with, as runners_programs_argv does. */
int runners_launch_read(struct programs *, const char *command);
char **runners_launch_argv(const struct programs *, const struct program *);

/* runners_launch_expand, with a launcher, makes each test of the programs a
 * program. -1 if it has printed what is wrong. */
int runners_launch_expand(struct programs *, const struct test_log_options *);

/* runners_launch_merge adds the results of all ranks of a test, as
 * runners_merge does. */
enum told runners_launch_merge(struct test_log_run *, const struct program *,
                               bool *first);

/* ---- program_verdict.c ---- */

/* How a program ended. */
struct program_end {
    const char *folder, *process;
    int status; /* as waitpid has it, or -errno if it could not be run */
    enum told told;
    uint64_t began, duration; /* ns, since the run's start */
    const char *own_flag;     /* that it got, but Criterion lacks; NULL: none */
    const struct framework_program *framework; /* NULL: it uses Criterion */
    bool is_script;
    bool selects;     /* so that none of its tests may match */
    bool has_refused; /* it printed Criterion's usage, and ran no test */
    bool has_output;  /* there is an output.txt in its folder */
};

/* runners_refusal_read looks for the usage that Criterion prints in place of
 * running tests; `seen` is a size_t, 0 at first. runners_refusal_is_whole tells
 * whether all of it has been seen. */
void runners_refusal_read(void *seen, const char *bytes, size_t size);
bool runners_refusal_is_whole(size_t seen);

/* runners_verdict returns the exit code that a program counts with, and adds a
 * test to the run if its results do not tell how it ended. */
int runners_verdict(struct test_log_run *, const struct program_end *);
/* runners_worse joins two exit codes: 2 beats 1 beats 0; 4 only if both are
 * 4. */
int runners_worse(int all, int one);

/* runners_code returns the exit code of a program that has no results. */
int runners_code(int status);

/* ---- scheduler.c ---- */

/* What runs side by side. */
struct schedule {
    struct test_log_run *run;
    struct programs *programs;
    const struct test_log_options *options;
    const struct test_log_history *last;
    unsigned joined;            /* our number among processes of a ctest */
    size_t limit;               /* tests at once */
    size_t used;                /* of these, by programs that run */
    size_t running;             /* programs */
    bool in_turn;               /* one program after another */
    bool tokens;                /* jobs are taken from make's jobserver */
    bool first;                 /* no results are merged yet */
    char gpu_library[PATH_MAX]; /* for programs without one; "": none */
    uint64_t show_at; /* when to print what SIGUSR1 asked for; 0: nothing */
    int code;
};

/* runners_next returns the program to start next, NULL if none is waiting:
 * those that took longest last time first, serial ones last; with
 * --failed-first, those with failed tests come before all others. */
struct program *runners_next(const struct schedule *);

/* runners_share returns how many tests at once a program may run that starts
 * now; 0 if it has to wait. */
size_t runners_share(const struct schedule *, const struct program *);

/* runners_run_programs runs them all; returns the exit code. `joined` is the
 * number of this process among those that share the run; 0: it is alone. */
int runners_run_programs(struct test_log_run *, struct programs *,
                         const struct test_log_options *,
                         const struct test_log_history *, unsigned joined);

/* ---- status_line.c ---- */

/* runners_status_begin decides whether there is a status line; the rest does
 * nothing if there is none. */
void runners_status_begin(const struct schedule *);
bool runners_status_shown(void);
void runners_status_paint(const struct schedule *);
void runners_status_erase(void);

/* runners_status_text adds the status line at a time. */
void runners_status_text(struct trace_text *, const struct schedule *,
                         uint64_t now);

#endif
