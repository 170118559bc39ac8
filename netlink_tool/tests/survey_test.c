// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of survey.c: answers of a machine that are not what inaconf prints. What is believed
 * of damaged ones can be put back, the rest is refused with a reason. Random numbers from
 * INA_SEED, if given. Speaks TAP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../selftests/plan/ktap.h"
#include "apply.h"

#define MUTATIONS	20000

static const char jobs[] =
	"[{\"id\":7,\"capacity\":\"1000\",\"dtype\":\"fp32\",\"depth\":\"2\",\"port\":\"4253\"}]";
static const char trees[] =
	"[{\"job\":7,\"parent\":\"10.0.0.1\",\"local\":\"10.0.0.2\",\"attached\":1,\"workers\":1,"
	"\"children\":[{\"addr\":\"10.0.0.3\"},{\"addr\":\"10.0.0.4\"}]}]";
static const char paths[] =
	"[{\"job\":7,\"peer\":\"10.0.0.1\",\"chunk\":51200,\"timeout\":50,\"loss_limit_ppm\":10000,"
	"\"id\":0,\"weight\":0,\"sport\":4253,\"src\":\"10.0.0.2\",\"dst\":\"10.0.0.1\"},"
	"{\"job\":7,\"peer\":\"10.0.0.3\",\"chunk\":51200,\"timeout\":50,\"loss_limit_ppm\":10000,"
	"\"id\":1,\"weight\":3,\"sport\":49153,\"dev\":\"eth1\",\"ifindex\":2,"
	"\"src\":\"10.0.0.2\",\"dst\":\"10.1.0.3\"}]";

/* What the machine says. */
static struct {
	const char *words;
	const char *text;
	size_t size;
} said[] = {
	{ "job show", jobs, sizeof(jobs) - 1 },
	{ "tree show", trees, sizeof(trees) - 1 },
	{ "path show", paths, sizeof(paths) - 1 },
};

int host_run(const struct reach *reach, const struct ina_host *host, const char *words, bool json,
	     struct answer *answer)
{
	size_t i = 0;

	(void)reach;
	(void)host;
	while (strcmp(said[i].words, words) || !json)
		i++;
	*answer = (struct answer){ .text = malloc(said[i].size + 1), .size = said[i].size };
	memcpy(answer->text, said[i].text, said[i].size);
	answer->text[said[i].size] = 0;
	return 0;
}

void host_each(int n, void (*fn)(void *ctx, int i), void *ctx)
{
	for (int i = 0; i < n; i++)
		fn(ctx, i);
}

/* Ask, for the place of job 7. */
static int ask(struct ina_place *place, struct ina_doc_error *err)
{
	static const struct reach reach;
	struct ina_host host = { (char *)"a", (char *)"a" };
	uint32_t id = 7;
	const struct ina_cluster cluster = { .hosts = &host, .n_hosts = 1, .jobs = &id, .n_jobs = 1 };

	*place = (struct ina_place){ 0 };
	*err = (struct ina_doc_error){ "" };
	return survey_place(&reach, &cluster, 0, 0, place, err);
}

/* The commands that put a place there, and that take it away again. */
static bool can_be_put_back(const struct ina_place *place)
{
	static const struct ina_place nothing;
	struct ina_commands there, back;
	bool ok = !ina_place_commands(7, &nothing, place, &there) &&
		  !ina_place_commands(7, place, &nothing, &back) && !there.n == !back.n;

	for (int i = 0; i < there.n; i++)
		ok &= !strchr(there.words[i], '\n');
	ina_commands_clear(&there);
	ina_commands_clear(&back);
	return ok;
}

static void test_good(void)
{
	struct ina_doc_error err;
	struct ina_place place;
	int ret = ask(&place, &err);

	ktap_ok(!ret && place.tree && place.n_children == 2 && place.n_paths == 2 &&
		ina_path_is_implied(&place.paths[0]) && place.paths[1].sport == 49153,
		"a good answer is believed");
	ina_place_clear(&place);
}

/* Answer @which is @text: refused for @why, NULL if it is believed. */
static void test_answer(int which, const char *text, const char *why)
{
	const char *before = said[which].text;
	struct ina_doc_error err;
	struct ina_place place;
	int ret;

	said[which].text = text;
	said[which].size = strlen(text);
	ret = ask(&place, &err);
	said[which].text = before;
	said[which].size = strlen(before);
	if (!ktap_ok(!ret == !why && (!why || strstr(err.text, why)), "%s: %s", text,
		     why ? why : "nothing to say of it"))
		printf("# %s\n", err.text);
	ina_place_clear(&place);
}

static void test_damaged(int which)
{
	const char *text = said[which].text;
	size_t whole = said[which].size;
	int bad = 0, good = 0;
	char copy[1024];

	said[which].text = copy;
	for (int i = 0; i < MUTATIONS; i++) {
		struct ina_doc_error err;
		struct ina_place place;
		int ret;

		said[which].size = ktap_mutate(text, whole, copy, sizeof(copy));
		ret = ask(&place, &err);
		good += !ret;
		if (ret ? !*err.text : !can_be_put_back(&place)) {
			printf("# mutation %d: \"%s\"\n%.*s\n", i, err.text, (int)said[which].size, copy);
			bad++;
		}
		ina_place_clear(&place);
	}
	said[which].text = text;
	said[which].size = whole;
	ktap_ok(!bad && good && good < MUTATIONS,
		"%s: %d damaged answers, of which %d are believed, the rest refused with a reason",
		said[which].words, MUTATIONS, good);
}

int main(void)
{
	ktap_start();
	test_good();
	test_answer(2, "[{\"job\":7,\"peer\":\"nobody\"}]", "\"nobody\" is no address");
	test_answer(2, "[{\"job\":7,\"weight\":0}]", "no peer: not what inaconf prints");
	test_answer(1, "[]", NULL);
	/* The job went between the questions. */
	said[1].text = "[]";
	said[1].size = 2;
	test_answer(0, "[]", NULL);
	said[0].text = "[]";
	said[0].size = 2;
	test_answer(2, "[{\"job\":7,\"peer\":\"nobody\"}]", "\"nobody\" is no address");
	said[0].text = jobs;
	said[0].size = sizeof(jobs) - 1;
	said[1].text = trees;
	said[1].size = sizeof(trees) - 1;
	for (int i = 0; i < 3; i++)
		test_damaged(i);
	return ktap_end();
}
