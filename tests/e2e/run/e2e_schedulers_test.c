/* e2e_schedulers_test.c: runs suites under the schedulers that
 * testlog-shards(7) describes. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

E2E_FOLDER

/* The suite is build/: its programs have few and many tests. */
static void begin(void)
{
    static const char *const programs[] = {"small", "ci"};

    e2e_begin();
    cr_assert_eq(mkdir("build", 0755), 0);
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        char path[64];

        snprintf(path, sizeof(path), "build/%s_test", programs[i]);
        e2e_link(programs[i], E2E_TRACED, path);
    }
    cr_assert_eq(symlink(BUILD_DIR "/testlog", "testlog"), 0);
}

TestSuite(e2e_schedulers, .init = begin, .timeout = 300);

static const char *results(const char *run)
{
    return e2e_run("cut -f1,3,4 %s/results.tsv | sort", run)->out;
}

/* The tests and outcomes of the whole suite. */
static const char *whole(void)
{
    char here[PATH_MAX], run[PATH_MAX + 16];

    cr_assert_not_null(getcwd(here, sizeof(here)));
    snprintf(run, sizeof(run), "%s/runs/latest",
             e2e_once("whole",
                      "runs=$PWD/runs; cd %s && TRACE_DIR=$runs ./testlog run "
                      "build/*_test",
                      here)
                 ->folder);
    return results(run);
}

/* Shards in a folder must together be the whole suite. */
static void expect_whole(const char *shards)
{
    e2e_exits(1, "rm -rf merged; ./testlog merge %s/*/latest -o merged",
              shards);
    e2e_expect_is(results("merged"), whole());
}

/* Writes a script and makes it executable. */
static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod(path, 0755), 0);
}

/* ---- GNU parallel ---- */

static void need_parallel(void)
{
    if (e2e_run("parallel --version | grep GNU")->code)
        cr_skip_test("GNU parallel is not installed");
}

#define SHARDS                                                                 \
    "'TEST_SHARD={}/4 TRACE_DIR=shards/{} ./testlog run build/*_test'"

Test(e2e_schedulers, spreads_a_suite_with_gnu_parallel)
{
    need_parallel();
    e2e_run("parallel --will-cite -j 2 " SHARDS " ::: 1 2 3 4");
    expect_whole("shards");
}

Test(e2e_schedulers, spreads_a_suite_over_ssh)
{
    const struct e2e *result;

    need_parallel();
    if (e2e_run("test -x /usr/sbin/sshd && command -v ssh-keygen")->code)
        cr_skip_test("not installed: openssh-server, openssh-client");
    result = e2e_run(
        TESTS_DIR
        "/e2e/run/ssh.sh $PWD/ssh parallel --will-cite --ssh $PWD/ssh/ssh "
        "-S loopback --workdir $PWD " SHARDS " ::: 1 2 3 4");
    if (result->code == 77)
        cr_skip_test("sshd does not work here: %.500s", result->err);
    e2e_expect_has(e2e_read("ssh/sshd.log"), "Accepted publickey");
    expect_whole("shards");
}

/* ---- Slurm ---- */

static void need_slurm(void)
{
    if (e2e_run("command -v sbatch && command -v slurmctld && "
                "command -v slurmd && command -v munged")
            ->code)
        cr_skip_test("not installed: slurmctld, slurmd, slurm-client, munge");
    if (geteuid())
        cr_skip_test("only root can start Slurm's daemons");
}

static void run_with_slurm(const char *script)
{
    const struct e2e *result =
        e2e_run(TESTS_DIR "/e2e/run/slurm.sh $PWD/slurm %s", script);

    if (result->code == 77)
        cr_skip_test("Slurm does not work here: %.500s", result->err);
    e2e_expect_code(result, 0);
}

static const char array[] = "#!/bin/sh\n"
                            "#SBATCH --array=1-4\n"
                            "export TEST_SHARD=auto\n"
                            "export TRACE_DIR=array/$SLURM_ARRAY_TASK_ID\n"
                            "./testlog run build/*_test\n"
                            "true\n";

static const char steps[] =
    "#!/bin/sh\n"
    "sbatch --wait array.sh\n"
    "TEST_SHARD=auto srun -n 4 sh -c \\\n"
    "    'TRACE_DIR=steps/$SLURM_PROCID ./testlog run build/*_test || true'\n";

Test(e2e_schedulers, spreads_a_suite_with_slurm)
{
    need_slurm();
    write_script("array.sh", array);
    write_script("steps.sh", steps);
    run_with_slurm("./steps.sh");
    expect_whole("array");
    expect_whole("steps");
}

/* In its first run, the suite stops in the second program. */
static const char stuck[] = "#!/bin/sh\n"
                            "[ \"$SLURM_RESTART_COUNT\" ] || {\n"
                            "    touch started\n"
                            "    sleep 100\n"
                            "}\n"
                            "exec build/ci_test \"$@\"\n";

static const char job[] =
    "#!/bin/sh\n"
    "#SBATCH --requeue\n"
    "export TEST_SHARD=1/1 TRACE_DIR=shards\n"
    "exec ./testlog run build/small_test build/stuck -- -j1\n";

/* Slurm does the same to a node that no longer answers. Then it waits for two
 * minutes, lest the new start has the old credential; two seconds are enough.
 */
static const char requeue[] =
    "#!/bin/sh\n"
    "job=$(sbatch --parsable job.sh)\n"
    "until [ -e started ]; do sleep 0.1; done\n"
    "scontrol update NodeName=$NODE State=DOWN Reason=test\n"
    "until grep -q \"_job_complete: JobId=$job\" slurm/slurmctld.log; do\n"
    "    sleep 0.1\n"
    "done\n"
    "scontrol update JobId=$job StartTime=now+2\n"
    "while squeue -h -j $job | grep -q .; do sleep 0.2; done\n"
    "scontrol show job $job | grep -E 'Restarts=1|JobState=COMPLETED'\n";

Test(e2e_schedulers, runs_a_shard_again_after_its_node_died)
{
    need_slurm();
    write_script("job.sh", job);
    write_script("requeue.sh", requeue);
    write_script("build/stuck", stuck);
    run_with_slurm("./requeue.sh");
    e2e_expect_has(e2e_read("shards/latest/run.json"), "\"interrupted\":null");
    e2e_expect_is(e2e_run("cut -f1,4 shards/latest/results.tsv | sort")->out,
                  e2e_run("printf %%s '%s' | cut -f1,3 | sort", whole())->out);
}

/* ---- MPI ---- */

#define MPIRUN "mpirun --oversubscribe -n 4"
#define LAUNCH "./testlog run --launch '" MPIRUN "' ./ring_test "

/* Open MPI refuses root unless both variables are set. */
#define AS_ROOT                                                                \
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; "

static void need_mpi(void)
{
    if (e2e_run("command -v mpirun && mpicc --showme:version")->code)
        cr_skip_test("not installed: openmpi-bin, libopenmpi-dev");
    if (e2e_run(AS_ROOT MPIRUN " true")->code)
        cr_skip_test("mpirun does not work here");
    if (e2e_sanitized())
        cr_skip_test("Open MPI leaks memory");
    e2e_exits(0,
              "mpicc -DTRACING -I%s/include -o ring_test "
              "%s/tests/programs/ring_mpi.c -rdynamic %s/libtestlog.a "
              "$(pkg-config --libs criterion libpcre2-8) -lpthread -ldl",
              BUILD_DIR, SOURCE_DIR, BUILD_DIR);
}

Test(e2e_schedulers, runs_each_test_on_all_ranks_of_mpi)
{
    need_mpi();
    e2e_expect_is(e2e_last(e2e_exits(0, AS_ROOT LAUNCH)->out),
                  "12 passed, 0 failed, 0 skipped");
    e2e_expect_is(e2e_run("cut -f3,4 testlog-runs/latest/results.tsv | sort | "
                          "grep -c 'ring_test.ring/.*#rank[0-3]$'")
                      ->out,
                  "12\n");
    e2e_expect_is(e2e_run("find testlog-runs/latest/tests -name 'recording*' | "
                          "wc -l")
                      ->out,
                  "12\n");
    e2e_expect_has(e2e_run("./testlog log 'ring/passes_a_token#rank2'")->out,
                   "rank 2 of 4");
    e2e_expect_is(e2e_run("ls -d testlog-runs/20* | wc -l")->out, "1\n");
    e2e_expect_is(e2e_run("ls testlog-runs/latest/tests")->out, "ring_test\n");
}

static const struct {
    const char *fault, *line;
} faults[] = {
    {"die", "ring/waits_for_all#rank2: crashed: SIGABRT"},
    {"kill the runner", "ring/waits_for_all#rank1: crashed: the rank ended "
                        "without results"},
};

Test(e2e_schedulers, names_the_rank_that_dies)
{
    need_mpi();
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const struct e2e *result =
            e2e_exits(1,
                      AS_ROOT "RING='%s' " LAUNCH
                              "-- --filter ring/waits_for_all --stacks=off",
                      faults[i].fault);

        e2e_expect_is(e2e_last(result->out), "0 passed, 4 failed, 0 skipped");
        e2e_expect_has(result->err, faults[i].line,
                       "./testlog run --launch '" MPIRUN
                       "' ./ring_test -- --filter 'ring/waits_for_all'\n");
    }
}

Test(e2e_schedulers, divides_tests_of_mpi_among_shards)
{
    need_mpi();
    for (int i = 1; i <= 2; i++)
        e2e_exits(0, AS_ROOT "TEST_SHARD=%d/2 TRACE_DIR=shards/%d " LAUNCH, i,
                  i);
    e2e_expect_is(
        e2e_last(e2e_run("./testlog merge shards/*/latest -o merged")->out),
        "12 passed, 0 failed, 0 skipped");
    e2e_expect_is(
        e2e_last(e2e_run("./testlog merge shards/1/latest -o other")->out),
        "8 passed, 1 failed, 0 skipped");
}

Test(e2e_schedulers, makes_ranks_shards_on_request)
{
    need_mpi();
    e2e_run(AS_ROOT MPIRUN " --mca orte_abort_on_non_zero_status 0 sh -c "
                           "'TEST_SHARD=auto "
                           "TRACE_DIR=shards/$OMPI_COMM_WORLD_RANK "
                           "exec ./testlog run build/*_test'");
    expect_whole("shards");
}

Test(e2e_schedulers, names_the_ranks_of_a_program_under_mpirun)
{
    need_mpi();
    e2e_run(AS_ROOT MPIRUN " sh -c 'TRACE_DIR=ranks/$OMPI_COMM_WORLD_RANK "
                           "./ring_test --filter ring/sums_the_ranks'");
    e2e_expect_is(e2e_run("cut -f1,4 ranks/*/latest/results.tsv | sort")->out,
                  "passed\tring/sums_the_ranks#rank0\n"
                  "passed\tring/sums_the_ranks#rank1\n"
                  "passed\tring/sums_the_ranks#rank2\n"
                  "passed\tring/sums_the_ranks#rank3\n");
}

/* A rank cannot repeat a test without the others. */
Test(e2e_schedulers, refuses_retries_on_a_rank)
{
    const struct e2e *result =
        e2e_exits(2, "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "
                     "build/small_test --retries 1");

    e2e_expect_is(result->err, "testlog: a rank of MPI runs a test once; leave "
                               "out --retries and --repeat\n");
}

Test(e2e_schedulers, refuses_a_bad_launcher)
{
    const struct e2e *result;

    e2e_expect_is(e2e_run("./testlog run --launch ' ' build/small_test")->err,
                  "testlog: --launch: \" \" has no command\n");
    result = e2e_exits(
        2, "./testlog run --launch=env build/small_test -- --retries 1");
    e2e_expect_is(result->err,
                  "testlog: --launch: a rank of MPI runs a test once; leave "
                  "out --retries and --repeat\n");
    result = e2e_exits(2, "./testlog run --launch env /bin/false");
    e2e_expect_is(result->err,
                  "testlog: --launch: cannot list the tests of /bin/false\n");
    result = e2e_exits(1, "./testlog run --launch ./absent build/small_test -- "
                          "--filter small/passes");
    e2e_expect_has(result->err,
                   "small_test: crashed: cannot be run: No such file");
}

/* ---- Files for others ---- */

static const char *const files[] = {"github", "gitlab", "kubernetes"};

/* Runs the command of each shard as the scheduler would. */
Test(e2e_schedulers, spreads_a_suite_with_the_files_of_docs)
{
    if (e2e_run("/usr/bin/python3 -c 'import yaml'")->code)
        cr_skip_test("not installed: python3-yaml");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        e2e_exits(0,
                  "/usr/bin/python3 " TESTS_DIR
                  "/e2e/run/shard_files.py %s/examples/shards/%s.yml >commands",
                  SOURCE_DIR, files[i]);
        e2e_expect_is(e2e_run("wc -l <commands")->out, "4\n");
        e2e_run("rm -rf shards; PATH=$PWD:$PATH; "
                "while read -r line; do sh -c \"$line\"; done <commands");
        expect_whole("shards");
    }
}
