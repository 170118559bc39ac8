// SPDX-License-Identifier: GPL-2.0
/*
 * Open MPI's MPI_Allreduce, under mpirun, one rank for each worker.
 *
 *   bench-mpi WORKLOAD...
 */
#include <err.h>
#include <mpi.h>

#include "bench.h"

int main(int argc, char **argv)
{
	int i, rank, workers;
	struct bench b;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &workers);
	for (i = 1; i < argc; i++) {
		bench_init(&b, rank, workers, argv[i]);
		b.inflight = 1; /* it blocks */
		bench_alloc(&b);
		while (bench_more(&b)) {
			bench_fill(&b, b.in[0]);
			if (MPI_Allreduce(b.in[0], b.out[0], b.elements, MPI_INT32_T, MPI_SUM,
					  MPI_COMM_WORLD))
				errx(1, "MPI_Allreduce has failed");
			bench_take(&b, b.out[0]);
		}
		bench_report(&b);
		bench_free(&b);
	}
	MPI_Finalize();
	return 0;
}
