// SPDX-License-Identifier: GPL-2.0
/*
 * Topology files and Slurm's topology.conf: what is read, the exact text of every refusal,
 * that a written topology reads the same, and thousands of damaged files.
 */
#include <string.h>

#include "ktap.h"
#include "topo.h"

#define MUTATIONS	6000

static const char sample[] =
	"hosts:\n"
	"  - {name: h0, addr: 10.0.0.1, where: ns0, rack: 0, pod: 0, cores: 64, idle-cores: 32,\n"
	"     memory: 256Gi, used-memory: 64Gi, nics: [{to: l0, rate: 100G, used: 1.5G}]}\n"
	"  - {name: h1, addr: \"fd00::1\", rack: 1, capacity: 0, nics: [{to: l1, rate: 25G}]}\n"
	"switches:\n"
	"  - {name: l0, rack: 0, capacity: 4}\n"
	"  - {name: l1, rack: 1}\n"
	"  - {name: s0}\n"
	"links:\n"
	"  - {between: [l0, s0], rate: 400G, latency: 1.1e-6, capacity: 3}\n"
	"  - {between: [s0, l1], rate: 400G}\n";

static const char slurm_sample[] =
	"# a cluster\n"
	"SwitchName=leaf0 Nodes=n[001-003,007],x LinkSpeed=900\n"
	"switchname=leaf1 nodes=n[10-11] \\\n"
	"  LinkSpeed=1\n"
	"SwitchName=leaf2 Nodes=r[0-1]c[0-1]\n"
	"SwitchName=mid Switches=leaf[0-1]\r\n"
	"SwitchName=top Switches=mid,leaf2 # end\n";

static struct ina_topo *parse(bool slurm, const char *text, size_t size, struct ina_doc_error *err)
{
	err->text[0] = 0;
	return slurm ? ina_topo_parse_slurm("f", text, size, 1e11, 1e-6, err) :
		       ina_topo_parse("f", text, size, err);
}

static bool same_text(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

static bool same_node(const struct ina_topo_node *a, const struct ina_topo_node *b)
{
	return same_text(a->name, b->name) && a->kind == b->kind && a->level == b->level &&
	       a->rack == b->rack && a->pod == b->pod && same_text(a->addr, b->addr) &&
	       same_text(a->where, b->where) && a->cores == b->cores &&
	       a->idle_cores == b->idle_cores && a->memory == b->memory &&
	       a->used_memory == b->used_memory && a->capacity == b->capacity;
}

static bool same_link(const struct ina_topo_link *a, const struct ina_topo_link *b)
{
	return a->a == b->a && a->b == b->b && a->rate == b->rate && a->used == b->used &&
	       a->latency == b->latency && a->capacity == b->capacity;
}

static bool same(const struct ina_topo *a, const struct ina_topo *b)
{
	bool equal = a && b && a->n_nodes == b->n_nodes && a->n_links == b->n_links &&
		     a->n_racks == b->n_racks && a->n_pods == b->n_pods;

	for (int i = 0; equal && i < a->n_nodes; i++)
		equal = same_node(&a->nodes[i], &b->nodes[i]);
	for (int i = 0; equal && i < a->n_links; i++)
		equal = same_link(&a->links[i], &b->links[i]);
	return equal;
}

/* Written and read again it is the same. */
static bool round_trips(const struct ina_topo *topo)
{
	struct ina_doc_error err = { "" };
	struct ina_topo *again;
	size_t size = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);
	bool ok = file && !ina_topo_write(topo, file);

	if (file)
		fclose(file);
	again = ok ? ina_topo_parse("again", text, size, &err) : NULL;
	if (!again)
		printf("# %s\n", err.text);
	ok = same(topo, again);
	ina_topo_destroy(again);
	free(text);
	return ok;
}

static void test_sample(void)
{
	struct ina_doc_error err;
	struct ina_topo *topo = parse(false, sample, strlen(sample), &err);

	if (!ktap_ok(topo, "a file with every field is read%s", err.text))
		return;
	const struct ina_topo_node *h0 = &topo->nodes[0], *h1 = &topo->nodes[1];

	ktap_ok(topo->n_nodes == 5 && topo->n_links == 4 && topo->n_racks == 2 &&
		topo->n_pods == 1, "5 nodes, 4 links, 2 racks, 1 pod");
	ktap_ok(!strcmp(h0->addr, "10.0.0.1") && !strcmp(h0->where, "ns0") && h0->cores == 64 &&
		h0->idle_cores == 32 && h0->memory == 256 * 0x1p30 &&
		h0->used_memory == 64 * 0x1p30 && h0->capacity == 1 && h0->rack == 0,
		"figures of a host");
	ktap_ok(h1->capacity == 0 && h1->pod == INA_TOPO_NONE && !h1->where && !h1->cores,
		"what is absent is unknown; a capacity of 0 is kept");
	ktap_ok(topo->nodes[2].level == 1 && topo->nodes[4].level == 2 &&
		topo->nodes[2].capacity == 4 && topo->nodes[3].capacity == 0,
		"levels follow from the links");
	ktap_ok(topo->links[0].a == 0 && topo->links[0].b == 2 && topo->links[0].rate == 1e11 &&
		topo->links[0].used == 1.5e9, "links of hosts come first");
	ktap_ok(topo->links[3].a == 3 && topo->links[3].b == 4 &&
		topo->links[2].latency == 1.1e-6 && topo->links[2].capacity == 3,
		"the lower end of a link comes first");
	ktap_ok(round_trips(topo), "written, it reads the same");
	ina_topo_destroy(topo);
}

static void test_slurm(void)
{
	struct ina_doc_error err;
	struct ina_topo *topo = parse(true, slurm_sample, strlen(slurm_sample), &err);

	if (!ktap_ok(topo, "slurm: a topology.conf is read%s", err.text))
		return;
	ktap_ok(topo->n_nodes == 16 && topo->n_links == 15 && topo->n_racks == 3 &&
		topo->n_pods == 1, "slurm: 11 hosts, 5 switches, 3 racks, 1 pod");
	ktap_ok(ina_topo_find(topo, "n001") == 0 && ina_topo_find(topo, "n007") == 3 &&
		ina_topo_find(topo, "x") == 4 && ina_topo_find(topo, "n11") == 6 &&
		ina_topo_find(topo, "r1c0") == 9, "slurm: lists in brackets keep their zeros");
	ktap_ok(topo->nodes[11].level == 1 && topo->nodes[14].level == 2 &&
		topo->nodes[15].level == 3, "slurm: levels");
	ktap_ok(topo->nodes[5].rack == 1 && topo->nodes[5].pod == 0 && topo->nodes[8].rack == 2 &&
		topo->nodes[8].pod == INA_TOPO_NONE && topo->nodes[15].pod == INA_TOPO_NONE,
		"slurm: racks and pods");
	ktap_ok(topo->links[0].a == 0 && topo->links[0].b == 11 && topo->links[0].rate == 1e11 &&
		topo->links[14].a == 13 && topo->links[14].b == 15, "slurm: links");
	ktap_ok(round_trips(topo), "slurm: written, it reads the same");
	ina_topo_destroy(topo);
}

static void test_generated(void)
{
	struct ina_topo *fat = ina_topo_fat_tree(8, 1e11, 1.1e-6);
	struct ina_topo *leaf = ina_topo_leaf_spine(3, 2, 5, 1e10, 4e10, 0);

	ktap_ok(fat && round_trips(fat), "a fat-tree, written, reads the same");
	ktap_ok(leaf && round_trips(leaf), "a leaf-spine fabric, written, reads the same");
	ina_topo_destroy(fat);
	ina_topo_destroy(leaf);
}

/* A refused text and why. */
struct refusal {
	bool slurm;
	const char *text;
	const char *reason;
};

#define HOST	"hosts: [{name: a}, {name: b}]\n"

static const struct refusal refusals[] = {
	{ false, "", "f:1: the file is empty" },
	{ false, "hosts: [", "f:1: did not find expected node content" },
	{ false, "- a\n", "f:1: must be a mapping, not a list" },
	{ false, "hosts: 3\n", "f:1: hosts: must be a list, not a word or number" },
	{ false, "links: []\n", "f:1: no hosts" },
	{ false, "hosts: []\nhosts: []\n", "f:2: hosts: is given twice" },
	{ false, "hosts: &x []\n", "f:1: anchors and aliases are not known here" },
	{ false, "hosts: *x\n", "f:1: anchors and aliases are not known here" },
	{ false, "? [a]\n: b\n", "f:1: a key must be a word" },
	{ false, "hosts: []\n---\nhosts: []\n", "f:2: a second document in the file" },
	{ false, "hosts: [\"\\0\"]\n", "f:1: a zero byte in a text" },
	{ false, "hosts:\n\xff\n", "f:2: invalid leading UTF-8 octet" },
	{ false, "machines: []\n", "f:1: machines: unknown; known: hosts, switches, links" },
	{ false, "hosts:\n  - {cores: 1}\n", "f:2: hosts[0]: name is required" },
	{ false, "hosts:\n- name: [a]\n",
	  "f:2: hosts[0].name: must be a word or number, not a list" },
	{ false, "hosts:\n- name:\n", "f:2: hosts[0].name: must not be empty" },
	{ false, "hosts:\n- name: a b\n",
	  "f:2: hosts[0].name: \"a b\" is no name: at most 255 of a-z A-Z 0-9 . _ - : / @ + %" },
	{ false, "hosts:\n- name: a\n- name: a\n",
	  "f:3: hosts[1].name: there are two of the name \"a\"" },
	{ false, "hosts:\n- {name: a, core: 1}\n",
	  "f:2: hosts[0].core: unknown; known: name, addr, where, rack, pod, cores, idle-cores, "
	  "memory, used-memory, capacity, nics" },
	{ false, "hosts:\n- {name: a, addr: b}\n",
	  "f:2: hosts[0].addr: \"b\" is no IPv4 or IPv6 address" },
	{ false, "hosts:\n- {name: a, cores: 1x}\n",
	  "f:2: hosts[0].cores: \"1x\" is no number; k, M, G, T, Ki, Mi, Gi, Ti may follow" },
	{ false, "hosts:\n- {name: a, cores: nan}\n",
	  "f:2: hosts[0].cores: \"nan\" is no number; k, M, G, T, Ki, Mi, Gi, Ti may follow" },
	{ false, "hosts:\n- {name: a, cores: -1}\n",
	  "f:2: hosts[0].cores: -1 is not within 0 and 1.04858e+06" },
	{ false, "hosts:\n- {name: a, cores: 2, idle-cores: 3}\n",
	  "f:2: hosts[0].idle-cores: more than cores" },
	{ false, "hosts:\n- {name: a, memory: 2G, used-memory: 3G}\n",
	  "f:2: hosts[0].used-memory: more than memory" },
	{ false, "hosts:\n- {name: a, rack: 1.5}\n",
	  "f:2: hosts[0].rack: \"1.5\" is no whole number" },
	{ false, "hosts:\n- {name: a, rack: -1}\n",
	  "f:2: hosts[0].rack: -1 is not within 0 and 1048576" },
	{ false, "hosts:\n- {name: a, rack: 3, pod: 0}\n- {name: b, rack: 3, pod: 1}\n",
	  "f:3: hosts[1].pod: rack 3 is in pod 0 at \"a\"" },
	{ false, "hosts:\n- {name: a, rack: 3, pod: 0}\n- {name: b, rack: 3}\n",
	  "f:3: hosts[1]: rack 3 is in pod 0 at \"a\"" },
	{ false, "hosts:\n- {name: a, rack: 3}\n- {name: b, rack: 3, pod: 1}\n",
	  "f:3: hosts[1].pod: rack 3 is in no pod at \"a\"" },
	{ false, "hosts: [{name: a, rack: 0, pod: 0}]\nswitches:\n- {name: s, rack: 0, pod: 1}\n",
	  "f:3: switches[0].pod: rack 0 is in pod 0 at \"a\"" },
	{ false, "hosts:\n- {name: a, nics: [{rate: 1}]}\n",
	  "f:2: hosts[0].nics[0]: to is required" },
	{ false, "hosts:\n- {name: a, nics: [{to: b, rate: 1}]}\n",
	  "f:2: hosts[0].nics[0].to: no host or switch \"b\"" },
	{ false, "hosts:\n- {name: a, nics: [{to: a, rate: 1}]}\n",
	  "f:2: hosts[0].nics[0]: both ends are \"a\"" },
	{ false, HOST "switches: [{name: s, level: 0}]\n",
	  "f:2: switches[0].level: 0 is not within 1 and 64" },
	{ false, HOST "links: [{rate: 1}]\n", "f:2: links[0]: between is required" },
	{ false, HOST "links:\n- between: [a]\n",
	  "f:3: links[0].between: a link has two ends, not 1" },
	{ false, HOST "links:\n- between: [a, c]\n",
	  "f:3: links[0].between[1]: no host or switch \"c\"" },
	{ false, HOST "links:\n- {between: [a, b], speed: 1}\n",
	  "f:3: links[0].speed: unknown; known: between, rate, used, latency, capacity" },
	{ false, HOST "links:\n- between: [a, b]\n",
	  "f:3: links[0]: rate is required: bit/s, such as 100G" },
	{ false, HOST "links:\n- between: [a, b]\n  rate: 1G\n  used: 2G\n",
	  "f:5: links[0].used: more than rate" },
	{ true, "", "f:1: no Nodes in the file" },
	{ true, "SwitchName=a Nodes=b\nNodes=c\n", "f:2: SwitchName: is required" },
	{ true, "SwitchName=a\n", "f:1: either Nodes or Switches is required" },
	{ true, "SwitchName=a Nodes=b Switches=c\n", "f:1: either Nodes or Switches is required" },
	{ true, "SwitchName\n", "f:1: \"SwitchName\" is not like Key=Value" },
	{ true, "SwitchName=a Nodes=b Nodes=c\n", "f:1: Nodes: is given twice" },
	{ true, "SwitchName=a \\\n Nodes=b\nBlockName=c\n",
	  "f:3: BlockName: unknown; known: SwitchName, Nodes, Switches, LinkSpeed" },
	{ true, "SwitchName=a Nodes=b,\n", "f:1: Nodes: \"\" is no name" },
	{ true, "SwitchName=a! Nodes=b\n", "f:1: SwitchName: \"a!\" is no name" },
	{ true, "SwitchName=a Nodes=b[1-2\n", "f:1: Nodes: a bracket without its other one" },
	{ true, "SwitchName=a Nodes=b]\n", "f:1: Nodes: a bracket without its other one" },
	{ true, "SwitchName=a Nodes=b[2-1]\n", "f:1: Nodes: a range is like [001-128,130]" },
	{ true, "SwitchName=a Nodes=b[x]\n", "f:1: Nodes: a range is like [001-128,130]" },
	{ true, "SwitchName=a Nodes=b[0-999999999]\n",
	  "f:1: Nodes: more than 1048576 names in the file" },
	{ true, "SwitchName=a Nodes=b[0-99999][0-99999]\n",
	  "f:1: Nodes: more than 1048576 names in the file" },
	{ true, "SwitchName=a Nodes=b\nSwitchName=c Nodes=b\n", "f:2: \"b\" is there twice" },
	{ true, "SwitchName=a Nodes=b\nSwitchName=c Switches=d\n",
	  "f:2: Switches: no SwitchName=d in the file" },
	{ true, "SwitchName=a Nodes=b\nSwitchName=c Switches=d\nSwitchName=d Switches=c\n",
	  "f:3: Switches: a ring, or more than 64 levels" },
	{ true, "SwitchName=a Nodes=b\nSwitchName=c Switches=c\n",
	  "f:2: Switches: a ring, or more than 64 levels" },
};

static void test_refusals(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		struct ina_doc_error err;
		struct ina_topo *topo = parse(r->slurm, r->text, strlen(r->text), &err);

		if (!ktap_ok(!topo && !strcmp(err.text, r->reason), "refused: %s", r->reason))
			printf("# got: %s\n", err.text);
		ina_topo_destroy(topo);
	}
}

static void test_limits(void)
{
	static char deep[200], many[(4 << 20) + 4] = "[", large[(16 << 20) + 2];
	char path[] = "/tmp/topo_test.XXXXXX";
	struct ina_doc_error err;
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	memset(deep, '[', sizeof(deep));
	ktap_ok(!parse(false, deep, sizeof(deep), &err) &&
		!strcmp(err.text, "f:1: more than 64 levels"),
		"refused: more than 64 levels");
	for (size_t i = 1; i < sizeof(many); i++)
		many[i] = i % 2 ? '1' : ',';
	ktap_ok(!parse(false, many, sizeof(many), &err) &&
		!strcmp(err.text, "f:1: more than 2097152 values"), "refused: too many values");
	memset(large, ' ', sizeof(large));
	ktap_ok(file && fwrite(large, 1, sizeof(large), file) == sizeof(large) && !fclose(file) &&
		!ina_topo_read(path, &err) && strstr(err.text, ": larger than 16 MiB"),
		"refused: larger than 16 MiB");
	remove(path);
	ktap_ok(!ina_topo_read("/nonexistent", &err) &&
		!strcmp(err.text, "/nonexistent: cannot be read: No such file or directory"),
		"refused: a file that is not there");
	ktap_ok(!ina_topo_write(&(struct ina_topo){ 0 }, stdout), "an empty topology is written");
}

static void test_mutations(bool slurm, const char *text)
{
	char copy[4096];
	int bad = 0, good = 0;

	for (int i = 0; i < MUTATIONS; i++) {
		size_t size = ktap_mutate(text, strlen(text), copy, sizeof(copy));
		struct ina_doc_error err;
		struct ina_topo *topo = parse(slurm, copy, size, &err);

		good += topo && round_trips(topo);
		if (topo ? !round_trips(topo) : !ktap_is_reason(err.text, copy, size)) {
			printf("# mutation %d: \"%s\"\n%.*s\n", i, err.text, (int)size, copy);
			bad++;
		}
		ina_topo_destroy(topo);
	}
	ktap_ok(!bad && good && good < MUTATIONS,
		"%s%d damaged files: %d are still a topology, the rest refused with file and line",
		slurm ? "slurm: " : "", MUTATIONS, good);
}

int main(void)
{
	ktap_start();
	test_sample();
	test_slurm();
	test_generated();
	test_refusals();
	test_limits();
	test_mutations(false, sample);
	test_mutations(true, slurm_sample);
	return ktap_end();
}
