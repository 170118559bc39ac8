// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest worker: sum one array over all workers of a job and check it.
 * Start it once for every worker of the job, with the same arguments.
 *
 *   allreduce JOB [ELEMENTS]
 */
#include <ina.h>
#include <stdio.h>
#include <stdlib.h>

/* Worker-independent, so that every worker knows the sum: workers times this. */
static int32_t contribution(size_t element)
{
	return (int32_t)(element % 1000) - 500;
}

static int check(const int32_t *sum, size_t count, uint32_t workers)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (sum[i] == contribution(i) * (int32_t)workers)
			continue;
		fprintf(stderr, "element %zu is %d\n", i, sum[i]);
		return 3;
	}
	printf("%zu elements summed over %u workers\n", count, workers);
	return 0;
}

static int run(struct ina_session *session, size_t count)
{
	int32_t *gradient = calloc(count, sizeof(*gradient));
	struct ina_info info;
	int status = 1;
	size_t i;

	if (!gradient)
		return status;
	for (i = 0; i < count; i++)
		gradient[i] = contribution(i);
	if (ina_allreduce(session, gradient, gradient, count, 60000)) {
		fprintf(stderr, "%s\n", ina_error(session));
	} else {
		ina_info(session, &info);
		status = check(gradient, count, info.workers);
	}
	free(gradient);
	return status;
}

int main(int argc, char **argv)
{
	struct ina_session *session;
	size_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 100000;
	int status;

	if (argc < 2 || !count) {
		fprintf(stderr, "usage: %s JOB [ELEMENTS]\n", argv[0]);
		return 2;
	}
	if (ina_open(&session, (uint32_t)strtoul(argv[1], NULL, 0), 60000)) {
		fprintf(stderr, "%s\n", ina_error(NULL));
		return 1;
	}
	status = run(session, count);
	ina_close(session);
	return status;
}
