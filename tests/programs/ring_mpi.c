/* ring_mpi.c: tests of an MPI program, which RING makes fail. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>
#include <testlog/test_log.h>

static int rank, size;

static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void end(void)
{
    MPI_Finalize();
}

TestSuite(ring, .init = begin, .fini = end, .timeout = 60);

static bool must(const char *what)
{
    const char *ring = getenv("RING");

    return ring && !strcmp(ring, what);
}

TEST_LOG(ring, passes_a_token)
{
    int token = rank, got = -1;

    log_info("rank %d of %d", rank, size);
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    cr_expect_eq(got, (rank + size - 1) % size);
}

TEST_LOG(ring, sums_the_ranks)
{
    int sum = 0;

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    cr_expect_eq(sum, size * (size - 1) / 2);
}

TEST_LOG(ring, waits_for_all)
{
    if (rank == 2 && must("die"))
        abort();
    if (rank == 1 && must("kill the runner")) {
        kill(getppid(), SIGKILL);
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
