// SPDX-License-Identifier: GPL-2.0
/*
 * Gloo's ring_chunked all-reduce over TCP. The ranks find each other by files in a
 * folder that must be empty.
 *
 *   bench-gloo FOLDER ADDRESS RANK WORKERS WORKLOAD...
 */
#include <cstring>
#include <err.h>
#include <memory>
#include <vector>

#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "bench.h"

static std::shared_ptr<gloo::Context> join(const char *folder, const char *address, int rank,
					   int workers)
{
	gloo::rendezvous::FileStore store(folder);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, workers);
	auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address));

	context->connectFullMesh(store, device);
	return context;
}

/* Gloo sums in place, so the contribution is copied to where the sum will be. */
static void run(const std::shared_ptr<gloo::Context> &context, struct bench *b)
{
	b->inflight = 1; /* it blocks */
	bench_alloc(b);
	gloo::AllreduceRingChunked<int32_t> allreduce(context, std::vector<int32_t *>{ b->out[0] },
						      b->elements);
	while (bench_more(b)) {
		bench_fill(b, b->in[0]);
		memcpy(b->out[0], b->in[0], b->elements * sizeof(int32_t));
		allreduce.run();
		bench_take(b, b->out[0]);
	}
	bench_report(b);
	bench_free(b);
}

int main(int argc, char **argv)
{
	if (argc < 6)
		errx(2, "usage: bench-gloo FOLDER ADDRESS RANK WORKERS WORKLOAD...");

	uint32_t workers = bench_number(argv[4], 1, BENCH_WORKERS_MAX);
	uint32_t rank = bench_number(argv[3], 0, workers - 1);
	auto context = join(argv[1], argv[2], rank, workers);

	for (int i = 5; i < argc; i++) {
		struct bench b;

		bench_init(&b, rank, workers, argv[i]);
		run(context, &b);
	}
	return 0;
}
