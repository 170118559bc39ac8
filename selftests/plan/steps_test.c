// SPDX-License-Identifier: GPL-2.0
/*
 * The steps from one plan to another that have a name, word by word, and what is no reason for
 * steps.
 */
#include "machines.h"

#define JOB(id, tree)	"- {id: " #id ", options: {capacity: 10}, tree: [" tree "]}\n"
#define NODE(h, ip, rest)	"{host: h" #h ", addr: 10.0.0." #ip ", " rest "}, "

/* The steps from @a to @b as text, one line each: job, host and the last command. */
static bool steps_are(const char *a, const char *b, bool prune, const char *wanted)
{
	struct ina_plan *first = plan_of(a), *second = plan_of(b);
	struct ina_cluster *hosts = hosts_of(first, second), *now = applied(hosts, first);
	struct ina_cluster *goal = ina_cluster_goal(now, second, prune);
	char got[4096] = "";
	struct ina_commands commands;
	struct ina_steps steps;
	const char *why;
	long runs = 0;

	detach(now, goal);
	why = run_all(now, goal, true, &runs);
	if (ina_steps_plan(now, goal, &steps))
		abort();
	for (int i = 0; i < steps.n; i++) {
		const struct ina_step *s = &steps.steps[i];

		if (ina_step_commands(now->jobs[s->job], s, 5000, &commands))
			abort();
		for (int k = 0; k < commands.n; k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s h%d: %s\n",
				 ina_phase_words[s->phase], s->host, commands.words[k]);
		ina_commands_clear(&commands);
	}
	ina_steps_clear(&steps);
	ina_cluster_destroy(hosts);
	ina_cluster_destroy(now);
	ina_cluster_destroy(goal);
	ina_plan_destroy(first);
	ina_plan_destroy(second);
	if (!why && !strcmp(got, wanted))
		return true;
	printf("# %s\n# got:\n%s", why ? why : "other steps", got);
	return false;
}

static const char chain[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0, workers: 1")
	NODE(2, 3, "parent: h1, workers: 1"));
static const char swapped[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(2, 3, "parent: h0, workers: 1")
	NODE(1, 2, "parent: h2, workers: 1"));
static const char aggregator[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0")
	NODE(2, 3, "parent: h1, workers: 1") NODE(3, 4, "parent: h1, workers: 1"));
static const char contracted[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0, workers: 0")
	NODE(2, 3, "parent: h0, workers: 1") NODE(3, 4, "parent: h0, workers: 1"));
static const char crossed[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0")
	NODE(2, 3, "parent: h1, workers: 1")) JOB(8,
	NODE(3, 4, "workers: 0") NODE(4, 5, "parent: h3")
	NODE(5, 6, "parent: h4, workers: 1"));
static const char back[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(4, 5, "parent: h0")
	NODE(2, 3, "parent: h4, workers: 1")) JOB(8,
	NODE(3, 4, "workers: 0") NODE(1, 2, "parent: h3")
	NODE(5, 6, "parent: h1, workers: 1"));
static const char pair[] = "jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") NODE(2, 3, "parent: h0, workers: 1"));
static const char joined[] = "jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") NODE(2, 3, "parent: h1, workers: 1")
	NODE(3, 4, "parent: h0, workers: 1"));
static const char under[] = "jobs:\n" JOB(7, NODE(4, 5, "workers: 0")
	NODE(0, 1, "parent: h4") NODE(1, 2, "parent: h0, workers: 1")
	NODE(2, 3, "parent: h1, workers: 1"));
static const char deeper[] = "jobs:\n"
	"- {id: 7, options: {capacity: 20}, tree: [" NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") "]}";
static const char elsewhere[] = "jobs:\n" JOB(9, NODE(6, 7, "workers: 1"));

static const struct {
	const char *from, *to;
	bool prune;
	const char *steps, *text;
} named[] = {
	{ chain, chain, false,
	  "",
	  "the same plan has no steps" },
	{ chain, swapped, false,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "move h1: tree set job 7 local 10.0.0.2 parent 10.0.0.3 workers 1\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 child 10.0.0.2 workers 1\n",
	  "parent and child change places" },
	{ aggregator, contracted, false,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 child 10.0.0.4 workers 0\n"
	  "end h1: job del id 7\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 workers 1\n"
	  "move h3: tree set job 7 local 10.0.0.4 parent 10.0.0.1 workers 1\n",
	  "children go to the root, and who has nobody left ends its part" },
	{ contracted, aggregator, false,
	  "create h1: job add id 7 capacity 10\n"
	  "create h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 child 10.0.0.4 "
	  "workers 0\n"
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n"
	  "move h3: tree set job 7 local 10.0.0.4 parent 10.0.0.2 workers 1\n",
	  "and back" },
	{ crossed, back, false,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "end h1: job del id 7\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 workers 1\n"
	  "create h1: job add id 8 capacity 10\n"
	  "create h1: tree set job 8 local 10.0.0.2 parent 10.0.0.4 child 10.0.0.6 workers 0\n"
	  "hold h3: tree hold job 8 ms 5000\n"
	  "expect h3: tree set job 8 local 10.0.0.4 child 10.0.0.2 workers 0\n"
	  "end h4: job del id 8\n"
	  "move h5: tree set job 8 local 10.0.0.6 parent 10.0.0.2 workers 1\n"
	  "create h4: job add id 7 capacity 10\n"
	  "create h4: tree set job 7 local 10.0.0.5 parent 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.5 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.5 workers 1\n",
	  "two jobs exchange their aggregators: the first steps aside" },
	{ pair, joined, false,
	  "create h3: job add id 7 capacity 10\n"
	  "create h3: tree set job 7 local 10.0.0.4 parent 10.0.0.1 workers 1\n"
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 child 10.0.0.4 child 10.0.0.3 "
	  "workers 0\n"
	  "expect h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 workers 1\n"
	  "release h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 child 10.0.0.4 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n",
	  "a worker that comes does not make up for one that moves" },
	{ pair, under, false,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "expect h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 workers 1\n"
	  "create h4: job add id 7 capacity 10\n"
	  "create h4: tree set job 7 local 10.0.0.5 child 10.0.0.1 workers 0\n"
	  "abdicate h0: tree set job 7 local 10.0.0.1 parent 10.0.0.5 child 10.0.0.2 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n",
	  "another root, under which nobody is forgotten" },
	{ chain, deeper, false,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "abdicate h0: job del id 7\n"
	  "end h1: job del id 7\n"
	  "end h2: job del id 7\n"
	  "create h1: job add id 7 capacity 20\n"
	  "create h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 workers 1\n"
	  "create h0: job add id 7 capacity 20\n"
	  "create h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 workers 0\n",
	  "other settings: the job ends everywhere before it begins again" },
	{ chain, elsewhere, false,
	  "create h6: job add id 9 capacity 10\n"
	  "create h6: tree set job 9 local 10.0.0.7 workers 1\n",
	  "a job that is not in the plan is left alone" },
	{ chain, elsewhere, true,
	  "hold h0: tree hold job 7 ms 5000\n"
	  "abdicate h0: job del id 7\n"
	  "end h1: job del id 7\n"
	  "end h2: job del id 7\n"
	  "create h6: job add id 9 capacity 10\n"
	  "create h6: tree set job 9 local 10.0.0.7 workers 1\n",
	  "unless it is to be pruned" },
};

static void test_named(void)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		ktap_ok(steps_are(named[i].from, named[i].to, named[i].prune, named[i].steps), "%s",
			named[i].text);
}

/* What a job has, in the words of `job show`, does for what a plan says in its own. */
static void test_settings(void)
{
	static const struct {
		const char *words;
		bool same;
	} cases[] = {
		{ "capacity 1000", true }, { "capacity 1k", true }, { "capacity 0x3e8", true },
		{ "capacity 1k fragment auto depth 2", true }, { "capacity 1k fragment 0", true },
		{ "capacity 1k dtype fp32", true }, { "capacity 1k dtype int32", false },
		{ "capacity 1Ki", false }, { "capacity 1k depth 3", false },
		{ "capacity 1k fragment 128", false }, { "capacity 1k exponent 3", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char yaml[256];
		struct ina_plan *plan;
		struct ina_cluster *hosts, *now, *goal;
		struct ina_steps steps;

		snprintf(yaml, sizeof(yaml), "jobs: [{id: 7, options: %s, tree: [{host: h0, "
			 "addr: 10.0.0.1, workers: 1}]}]", cases[i].words);
		plan = plan_of(yaml);
		hosts = hosts_of(plan, plan);
		now = applied(hosts, plan);
		free(now->places[0].options);
		now->places[0].options = strdup("capacity 1000 dtype fp32 fragment 256 depth 2");
		goal = ina_cluster_goal(now, plan, false);
		if (ina_steps_plan(now, goal, &steps))
			abort();
		ktap_ok(!steps.n == cases[i].same, "%s %s", cases[i].words,
			cases[i].same ? "is there" : "is something else");
		ina_steps_clear(&steps);
		ina_plan_destroy(plan);
		ina_cluster_destroy(hosts);
		ina_cluster_destroy(now);
		ina_cluster_destroy(goal);
	}
}

/* What is configured may be nonsense: machines that are each other's parents. */
static void test_nonsense(void)
{
	struct ina_plan *plan = plan_of("jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
		NODE(1, 2, "parent: h0") NODE(2, 3, "parent: h1")
		NODE(3, 4, "parent: h2, workers: 1")
		NODE(4, 5, "parent: h3, workers: 1")));
	struct ina_cluster *hosts = hosts_of(plan, plan), *now = applied(hosts, plan);
	struct ina_cluster *goal = ina_cluster_goal(now, plan, false);
	struct ina_steps steps;

	for (int h = 0; h < 4; h++) {
		struct ina_place *place = ina_cluster_place(now, 0, h);

		place->parent = addresses[(h + 3) % 4];
		place->n_children = 0;
		if (ina_place_add_child(place, &addresses[(h + 1) % 4]))
			abort();
	}
	for (int h = 0; h < 4; h++)
		ina_cluster_place(now, 0, h)->attached = 0;
	ktap_ok(!ina_steps_plan(now, goal, &steps) && steps.n, "a ring becomes a tree");
	ina_steps_clear(&steps);
	ina_plan_destroy(plan);
	ina_cluster_destroy(hosts);
	ina_cluster_destroy(now);
	ina_cluster_destroy(goal);
}

int main(void)
{
	ktap_start();
	machines_start();
	test_named();
	test_settings();
	test_nonsense();
	return ktap_end();
}
