// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf path auto: source ports whose packets take ways without a common
 * router, and a path for each. Where packets go is found by asking the routers
 * or by computing what they compute.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"
#include "route.h"

#define PATHS_MAX	8		/* of a peer, see INA_A_PATH_ID */
#define PORT_FIRST	49152		/* of those nobody is registered for */
#define PORT_LAST	65535
#define AUTO_LIMIT_MS	30000		/* for asking the routers */
#define SEED_FILE	"/proc/sys/net/ipv4/fib_multipath_hash_seed"

/**
 * struct path_auto - what is asked for and what is found
 * @job: number of the job, -1 not said
 * @peer: text of the peer's address, NULL the parent
 * @paths: paths wanted, with @hash the ways routers choose from; 0 as many as there are
 * @hash: what they compute, NULL ask them
 * @replace: paths that are not wanted go
 * @dry: only say what would be done
 * @kind: @hash
 * @seed: its seed
 * @flow: path number 0: this node, the peer, the job's port
 * @fixed: paths that stay
 * @n_fixed: how many
 * @routes: what may be chosen: with @replace paths that are there, then ports
 * @n: how many
 * @next: next port to look at
 * @n_hops: routers of a way
 * @chosen: indices of those that are
 * @n_chosen: how many
 */
struct path_auto {
	double job;
	const char *peer;
	double paths;
	const char *hash;
	bool replace;
	bool dry;
	enum flowhash_kind kind;
	uint32_t seed;
	struct flow flow;
	struct route fixed[PATHS_MAX];
	size_t n_fixed;
	struct route routes[ROUTE_MAX];
	size_t n;
	unsigned int next;
	unsigned int n_hops;
	size_t chosen[ROUTE_MAX];
	size_t n_chosen;
};

static int auto_words_take(struct path_auto *a, int argc, char **argv)
{
	const struct keyword table[] = {
		{ "job", KEYWORD_NUMBER, &a->job, 0, UINT32_MAX },
		{ "peer", KEYWORD_TEXT, &a->peer, 0, 0 },
		{ "paths", KEYWORD_NUMBER, &a->paths, 2, ROUTE_MAX },
		{ "hash", KEYWORD_TEXT, &a->hash, 0, 0 },
		{ "replace", KEYWORD_FLAG, &a->replace, 0, 0 },
		{ "dry-run", KEYWORD_FLAG, &a->dry, 0, 0 },
	};
	const struct words words = WORDS(table);
	int ret = keywords_parse(&words, argc, argv);

	if (ret)
		return ret;
	if (a->job < 0)
		return error_usage("job is required");
	if (a->hash && !a->paths)
		return error_usage("paths is required with hash: how many ways the routers choose from");
	return INACONF_OK;
}

/* The seed of this kernel, if it tells. */
static int auto_seed_read(uint32_t *seed)
{
	FILE *file = fopen(SEED_FILE, "re");
	bool ok = file && fscanf(file, "%" SCNu32, seed) == 1;

	if (file)
		fclose(file);
	if (!ok)
		return error_print("this kernel has no net.ipv4.fib_multipath_hash_seed (6.11 and later have): "
				   "its hash has a random key; leave out hash to probe, or say linux:SEED");
	if (!*seed)
		return error_print("net.ipv4.fib_multipath_hash_seed is 0, the key of the hash is random: "
				   "set it on the routers, or leave out hash to probe");
	return INACONF_OK;
}

/* What the routers compute, and with which seed. */
static int auto_hash_take(struct path_auto *a)
{
	static const char *const kinds[] = {
		[FLOWHASH_XOR] = "xor",
		[FLOWHASH_CRC16] = "crc16",
		[FLOWHASH_LINUX] = "linux",
	};
	static const struct words kind_words = WORDS(kinds);
	const char *colon = strchr(a->hash, ':');
	unsigned long long seed;
	char *end;
	int i = words_find(&kind_words, a->hash);

	a->kind = colon ? FLOWHASH_LINUX : (enum flowhash_kind)i;
	if (colon && strncmp(a->hash, "linux:", strlen("linux:")))
		return words_unknown(&kind_words, "hash", a->hash);
	if (!colon && i < 0)
		return words_unknown(&kind_words, "hash", a->hash);
	if (!colon)
		return a->kind == FLOWHASH_LINUX ? auto_seed_read(&a->seed) : INACONF_OK;
	seed = strtoull(colon + 1, &end, 0);
	if (colon[1] < '0' || colon[1] > '9' || *end || !seed || seed > UINT32_MAX)
		return error_usage("hash: \"%s\" is not a seed from 1 to 4294967295", colon + 1);
	a->seed = (uint32_t)seed;
	return INACONF_OK;
}

/* Ask for one object of the job; *@attrs is what it has. */
static int auto_query(struct inaconf *ctx, const struct path_auto *a, uint8_t command,
		      const struct param *param, struct attrs *attrs)
{
	const struct words params = { .table = param, .count = 1, .stride = sizeof(*param) };
	struct nlmsghdr *request = nl_request(&ctx->nl, command);
	int ret;

	mnl_attr_put_u32(request, param->attr, (uint32_t)a->job);
	ret = nl_query(&ctx->nl, request, &params);
	if (!ret && !ctx->nl.length)
		ret = error_print("the kernel says nothing about job %u", (unsigned int)a->job);
	if (!ret)
		attrs_parse(attrs, (const struct nlmsghdr *)ctx->nl.replies);
	return ret;
}

static bool auto_addr(const struct nlattr *attr, struct in6_addr *addr)
{
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(*addr))
		return false;
	memcpy(addr, mnl_attr_get_payload(attr), sizeof(*addr));
	return true;
}

static int auto_job(struct inaconf *ctx, struct path_auto *a)
{
	static const struct param id = { "job", PARAM_U32, INA_A_JOB_ID, 0, NULL };
	struct attrs attrs;
	int ret = auto_query(ctx, a, INA_CMD_JOB_GET, &id, &attrs);

	if (ret)
		return ret;
	if (attr_uint(attrs.attr[INA_A_JOB_ENCAP]) != INA_ENCAP_UDP)
		return error_print("job %u is not carried by UDP, its packets have no ports: "
				   "add paths with dev, src or dst", (unsigned int)a->job);
	a->flow.proto = IPPROTO_UDP;
	a->flow.sport = (uint16_t)attr_uint(attrs.attr[INA_A_JOB_PORT]);
	a->flow.dport = a->flow.sport;
	return INACONF_OK;
}

/* Is this the address of a child? */
static bool auto_is_child(const struct nlmsghdr *tree, const struct in6_addr *addr)
{
	const struct nlattr *attr;
	struct in6_addr child;
	struct attrs member;

	mnl_attr_for_each(attr, tree, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) != INA_A_TREE_MEMBER)
			continue;
		attrs_parse_nested(&member, attr);
		if (auto_addr(member.attr[INA_A_MEMBER_ADDR], &child) &&
		    IN6_ARE_ADDR_EQUAL(&child, addr))
			return true;
	}
	return false;
}

static int auto_tree(struct inaconf *ctx, struct path_auto *a)
{
	static const struct param job = { "job", PARAM_U32, INA_A_TREE_JOB, 0, NULL };
	struct in6_addr parent;
	struct attrs attrs;
	bool has_parent;
	int ret = auto_query(ctx, a, INA_CMD_TREE_GET, &job, &attrs);

	if (ret)
		return ret;
	has_parent = auto_addr(attrs.attr[INA_A_TREE_PARENT], &parent);
	if (!auto_addr(attrs.attr[INA_A_TREE_LOCAL], &a->flow.src))
		return error_print("this node has no address yet: say tree set with local");
	if (!a->peer && !has_parent)
		return error_print("this node is the root: name a child by peer");
	a->flow.dst = parent;
	if (!a->peer)
		return INACONF_OK;
	if (!addr_parse(a->peer, &a->flow.dst))
		return error_usage("peer: \"%s\" is not an IPv4 or IPv6 address", a->peer);
	if ((has_parent && IN6_ARE_ADDR_EQUAL(&parent, &a->flow.dst)) ||
	    auto_is_child((const void *)ctx->nl.replies, &a->flow.dst))
		return INACONF_OK;
	return error_print("%s is neither the parent nor a child in the tree of job %u", a->peer,
			   (unsigned int)a->job);
}

/* Keep a path of the peer that is there: as one that stays, or one to choose from. */
static void auto_keep(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct path_auto *a = *(struct path_auto *const *)arg;
	struct route route = { .flow = a->flow };
	struct in6_addr peer;
	struct attrs attrs;

	(void)p;
	attrs_parse(&attrs, reply);
	if (attr_uint(attrs.attr[INA_A_PATH_JOB]) != (uint64_t)a->job ||
	    !auto_addr(attrs.attr[INA_A_PATH_PEER], &peer) ||
	    !IN6_ARE_ADDR_EQUAL(&peer, &a->flow.dst))
		return;
	auto_addr(attrs.attr[INA_A_PATH_SRC], &route.flow.src);
	auto_addr(attrs.attr[INA_A_PATH_DST], &route.flow.dst);
	if (attrs.attr[INA_A_PATH_SPORT])
		route.flow.sport = (uint16_t)attr_uint(attrs.attr[INA_A_PATH_SPORT]);
	route.ifindex = (unsigned int)attr_uint(attrs.attr[INA_A_PATH_IFINDEX]);
	route.id = (int)attr_uint(attrs.attr[INA_A_PATH_ID]);
	if (a->replace && route.id && a->n < ROUTE_MAX)
		a->routes[a->n++] = route;
	else if (a->n_fixed < PATHS_MAX)
		a->fixed[a->n_fixed++] = route;
}

static int auto_paths(struct inaconf *ctx, struct path_auto *a)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_PATH_GET);
	int ret;

	request->nlmsg_flags = NLM_F_DUMP;
	ret = nl_query(&ctx->nl, request, &path_add_params);
	if (ret)
		return ret;
	nl_each(&ctx->nl, &ctx->out, auto_keep, &a);
	if (!a->n_fixed && !a->n)
		a->fixed[a->n_fixed++] = (struct route){ .flow = a->flow };
	return INACONF_OK;
}

/* Has a path this port? */
static bool auto_port_is_used(const struct path_auto *a, unsigned int port)
{
	bool used = port == a->flow.dport;

	for (size_t i = 0; i < a->n_fixed; i++)
		used |= a->fixed[i].flow.sport == port;
	for (size_t i = 0; i < a->n; i++)
		used |= a->routes[i].flow.sport == port;
	return used;
}

/* One more port to choose from; false if there is none. */
static bool auto_add_port(struct path_auto *a)
{
	while (a->next <= PORT_LAST && auto_port_is_used(a, a->next))
		a->next++;
	if (a->next > PORT_LAST || a->n == ROUTE_MAX)
		return false;
	a->routes[a->n] = (struct route){ .flow = a->flow, .id = -1 };
	a->routes[a->n++].flow.sport = (uint16_t)a->next++;
	return true;
}

/* How many may still be added. */
static size_t auto_most(const struct path_auto *a)
{
	size_t most = a->paths && a->paths < PATHS_MAX ? (size_t)a->paths : PATHS_MAX;

	return most > a->n_fixed ? most - a->n_fixed : 0;
}

static void auto_choose(struct path_auto *a)
{
	a->n_chosen = disjoint_choose(a->fixed, a->n_fixed, a->routes, a->n, a->n_hops,
				      auto_most(a), a->chosen);
}

/* Without routers there is nothing to choose: what is there stays. */
static void auto_choose_all(struct path_auto *a)
{
	for (a->n_chosen = 0; a->n_chosen < a->n; a->n_chosen++)
		a->chosen[a->n_chosen] = a->n_chosen;
}

/* What a router computes stands for the router behind it. */
static void auto_compute(const struct path_auto *a, struct route *route)
{
	uint32_t bucket = htonl(flowhash_bucket(a->kind, a->seed, &route->flow,
						(unsigned int)a->paths) + 1);

	memset(route->hop, 0, sizeof(route->hop));
	memcpy(&route->hop[0].s6_addr[12], &bucket, sizeof(bucket));
}

/* Ports until there is one for every way. */
static int auto_by_hash(struct path_auto *a)
{
	uint64_t seen = 0, all = a->paths < 64 ? (1ULL << (int)a->paths) - 1 : UINT64_MAX;

	a->n_hops = 1;
	for (size_t i = 0; i < a->n_fixed; i++)
		auto_compute(a, &a->fixed[i]);
	for (size_t i = 0; i < a->n; i++)
		auto_compute(a, &a->routes[i]);
	while (seen != all && auto_add_port(a)) {
		uint64_t bit;

		auto_compute(a, &a->routes[a->n - 1]);
		bit = 1ULL << (a->routes[a->n - 1].hop[0].s6_addr[15] - 1);
		if (seen & bit)
			a->n--;
		seen |= bit;
	}
	auto_choose(a);
	return INACONF_OK;
}

/* Ports until it is likely that all ways were seen. */
static int auto_by_probing(struct path_auto *a)
{
	int64_t end = trace_clock() + AUTO_LIMIT_MS;
	int ret = trace_distance(&a->flow, 0);
	char text[ADDR_SIZE];

	if (ret < 0)
		return -ret;
	a->n_hops = (unsigned int)ret;
	fprintf(stderr, "%s is %u routers away\n", addr_text(&a->flow.dst, text), a->n_hops);
	if (!a->n_hops) {
		auto_choose_all(a);
		return INACONF_OK;
	}
	ret = trace_routes(a->fixed, a->n_fixed, a->n_hops, end);
	while (!ret && a->n_chosen < auto_most(a) && trace_clock() < end) {
		unsigned int enough = disjoint_enough(a->n_fixed + a->n_chosen);

		if (a->n >= enough || !auto_add_port(a))
			break;
		while (a->n < enough && auto_add_port(a))
			;
		ret = trace_routes(a->routes, a->n, a->n_hops, end);
		if (!ret)
			auto_choose(a);
	}
	return ret;
}

static bool auto_is_chosen(const struct path_auto *a, size_t i)
{
	for (size_t c = 0; c < a->n_chosen; c++) {
		if (a->chosen[c] == i)
			return true;
	}
	return false;
}

static void auto_print_way(struct print *p, const struct path_auto *a, const struct route *route)
{
	const char *prefix = " via ";
	char text[ADDR_SIZE];

	if (a->hash) {
		print_uint(p, "way", " way ", route->hop[0].s6_addr[15] - 1U);
		return;
	}
	print_array_open(p, "via");
	for (unsigned int i = 0; i < a->n_hops; i++) {
		if (!disjoint_counts(i, a->n_hops))
			continue;
		print_string(p, NULL, prefix, IN6_IS_ADDR_UNSPECIFIED(&route->hop[i]) ? "*" :
			     addr_text(&route->hop[i], text));
		prefix = " ";
	}
	print_array_close(p);
}

/* A path, what becomes of it, and the way it takes. */
static void auto_print(struct print *p, const struct path_auto *a, const struct route *route,
		       const char *action)
{
	print_object_open(p, NULL);
	print_string(p, "action", "", action);
	if (route->id >= 0)
		print_uint(p, "id", " id ", (uint64_t)route->id);
	print_uint(p, "sport", " sport ", route->flow.sport);
	auto_print_way(p, a, route);
	print_object_close(p);
	print_text(p, "\n");
}

static int auto_do(struct inaconf *ctx, const struct path_auto *a, const struct route *route,
		   const char *action)
{
	bool add = route->id < 0;
	struct nlmsghdr *request = nl_request(&ctx->nl, add ? INA_CMD_PATH_ADD : INA_CMD_PATH_DEL);
	int ret = INACONF_OK;

	mnl_attr_put_u32(request, INA_A_PATH_JOB, (uint32_t)a->job);
	mnl_attr_put(request, INA_A_PATH_PEER, sizeof(a->flow.dst), &a->flow.dst);
	if (add)
		mnl_attr_put_u16(request, INA_A_PATH_SPORT, route->flow.sport);
	else
		mnl_attr_put_u32(request, INA_A_PATH_ID, (uint32_t)route->id);
	if (!a->dry)
		ret = nl_query(&ctx->nl, request, add ? &path_add_params : &path_del_params);
	if (!ret)
		auto_print(&ctx->out, a, route, action);
	return ret;
}

/* What stays, what goes and what comes, in this order: there is room for few paths. */
static int auto_apply(struct inaconf *ctx, const struct path_auto *a)
{
	int ret = INACONF_OK;

	print_array_open(&ctx->out, NULL);
	for (size_t i = 0; i < a->n_fixed; i++)
		auto_print(&ctx->out, a, &a->fixed[i], "keep");
	for (size_t i = 0; i < a->n; i++) {
		if (a->routes[i].id >= 0 && auto_is_chosen(a, i))
			auto_print(&ctx->out, a, &a->routes[i], "keep");
	}
	for (size_t i = 0; !ret && i < a->n; i++) {
		if (a->routes[i].id >= 0 && !auto_is_chosen(a, i))
			ret = auto_do(ctx, a, &a->routes[i], "del");
	}
	for (size_t i = 0; !ret && i < a->n_chosen; i++) {
		if (a->routes[a->chosen[i]].id < 0)
			ret = auto_do(ctx, a, &a->routes[a->chosen[i]], "add");
	}
	print_array_close(&ctx->out);
	return ret;
}

/* Is the way of any port known at all? */
static bool auto_knows(const struct path_auto *a)
{
	for (size_t i = 0; i < a->n; i++) {
		for (unsigned int hop = 0; hop < a->n_hops; hop++) {
			if (!IN6_IS_ADDR_UNSPECIFIED(&a->routes[i].hop[hop]))
				return true;
		}
	}
	return false;
}

int path_auto(struct inaconf *ctx, int argc, char **argv)
{
	static struct path_auto a = { .job = -1, .next = PORT_FIRST };
	int ret = auto_words_take(&a, argc, argv);

	if (!ret && a.hash)
		ret = auto_hash_take(&a);
	if (!ret)
		ret = auto_job(ctx, &a);
	if (!ret)
		ret = auto_tree(ctx, &a);
	if (!ret)
		ret = auto_paths(ctx, &a);
	if (!ret)
		ret = a.hash ? auto_by_hash(&a) : auto_by_probing(&a);
	if (!ret && a.n && a.n_hops && !auto_knows(&a))
		ret = error_print("no router says that it was passed: tell by hash what they compute");
	return ret ? ret : auto_apply(ctx, &a);
}
