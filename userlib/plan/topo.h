/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cluster as the planner sees it: machines and switches joined by links. Indices
 * are positions in the arrays and never change once a topology is built.
 */
#ifndef INA_PLAN_TOPO_H
#define INA_PLAN_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "doc.h"

#define INA_TOPO_NONE	(-1)

/**
 * enum ina_topo_kind - what a node is
 * @INA_TOPO_HOST: a machine: may hold workers and, with ina_agg, aggregate
 * @INA_TOPO_SWITCH: a switch: may aggregate if it has a capacity
 */
enum ina_topo_kind {
	INA_TOPO_HOST,
	INA_TOPO_SWITCH,
};

/**
 * struct ina_topo_node - a machine or a switch
 * @name: unique, not empty
 * @kind: machine or switch
 * @level: 0 for machines, 1 for the switches machines are plugged into, and so on up
 * @rack: number of the rack, INA_TOPO_NONE above racks
 * @pod: number of the pod, INA_TOPO_NONE above pods
 * @addr: address of the machine in the trees, NULL if none was given
 * @where: how to reach its configuration: a network namespace of this machine or a
 *	   word for the operator's hook; NULL if only @name is to be used
 * @cores: processors
 * @idle_cores: of them, on average without work
 * @memory: bytes
 * @used_memory: of them, in use
 * @capacity: trees it may aggregate at once; 0: none
 * @aggregator: of a switch: machine that aggregates for it; NULL if there is none
 * @line: where it is in the file it comes from; 0: not known
 */
struct ina_topo_node {
	char *name;
	enum ina_topo_kind kind;
	int level;
	int rack;
	int pod;
	char *addr;
	char *where;
	double cores;
	double idle_cores;
	double memory;
	double used_memory;
	int capacity;
	char *aggregator;
	int line;
};

/**
 * struct ina_topo_link - a cable, the same in both directions
 * @a: index of the lower end (the smaller level)
 * @b: index of the upper end
 * @rate: bit/s each way
 * @used: of them, taken by others
 * @latency: seconds
 * @capacity: trees that may cross it with aggregation at once; 0: no limit
 */
struct ina_topo_link {
	int a;
	int b;
	double rate;
	double used;
	double latency;
	int capacity;
};

/**
 * struct ina_topo - the cluster
 * @nodes: machines and switches, in the order of the input
 * @n_nodes: how many
 * @links: links, in the order of the input
 * @n_links: how many
 * @n_racks: racks are numbered from 0
 * @n_pods: pods are numbered from 0
 * @file: the file it comes from; NULL: not known
 * @room_nodes: private: nodes there is memory for
 * @room_links: private: links there is memory for
 * @names: private: table of node indices by the hash of the name, 2 * @room_nodes wide
 */
struct ina_topo {
	struct ina_topo_node *nodes;
	int n_nodes;
	struct ina_topo_link *links;
	int n_links;
	int n_racks;
	int n_pods;
	char *file;
	int room_nodes;
	int room_links;
	int *names;
};

/*
 * topo.c: build and look. An index or a negative errno: -EEXIST for a name there is,
 * -EINVAL for what is no node or link. Texts are copied; the ends of a link may come in
 * either order; @n_racks and @n_pods follow the nodes.
 */
struct ina_topo *ina_topo_create(void);
void ina_topo_destroy(struct ina_topo *topo);
int ina_topo_add_node(struct ina_topo *topo, const struct ina_topo_node *node);
int ina_topo_add_link(struct ina_topo *topo, const struct ina_topo_link *link);

/* Index of the node of that name, INA_TOPO_NONE if there is none. */
int ina_topo_find(const struct ina_topo *topo, const char *name);

/* Name of the file, for errors. */
static inline const char *ina_topo_file(const struct ina_topo *topo)
{
	return topo->file ? topo->file : "the topology";
}

/*
 * Write "FILE:LINE: ..." of a node, or "FILE: ..." for INA_TOPO_NONE, to @err, as far as it is
 * known; returns -EINVAL.
 */
int ina_topo_fail(const struct ina_topo *topo, int node, struct ina_doc_error *err,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/**
 * struct ina_topo_ends - links by node
 * @first: where the links of each node begin in @link; n_nodes + 1 entries
 * @link: indices of links, each at both of its ends
 */
struct ina_topo_ends {
	int *first;
	int *link;
};

/* Whether there was memory; to be cleared in any case. */
bool ina_topo_ends_init(struct ina_topo_ends *ends, const struct ina_topo *topo);
void ina_topo_ends_clear(struct ina_topo_ends *ends);

/* The other end of a link of @node. */
static inline int ina_topo_other(const struct ina_topo *topo, int link, int node)
{
	return topo->links[link].a == node ? topo->links[link].b : topo->links[link].a;
}

/* generate.c: regular fabrics; NULL with errno set if the figures make no sense. */

/* Every switch may aggregate one tree and no link has a limit: change it as needed. */

/*
 * Fat-tree of even degree @k: k pods of k/2 edge and k/2 aggregation switches,
 * (k/2)^2 core switches, k^3/4 hosts. All links have @rate bit/s and @latency.
 */
struct ina_topo *ina_topo_fat_tree(int k, double rate, double latency);

/* @leaves leaf switches with @hosts hosts each, joined by @spines spine switches: one pod. */
struct ina_topo *ina_topo_leaf_spine(int leaves, int spines, int hosts, double host_rate,
				     double spine_rate, double latency);

/*
 * topo_read.c: topology files; @path may be "-". NULL with the reason in @err. The second
 * reads @size bytes at @text, and @name stands for the file in errors.
 */
struct ina_topo *ina_topo_read(const char *path, struct ina_doc_error *err);
struct ina_topo *ina_topo_parse(const char *name, const char *text, size_t size,
				struct ina_doc_error *err);

/* Names of machines and switches: at most 255 of a-z A-Z 0-9 . _ - : / @ + % */
bool ina_topo_name_ok(const char *name);

/* topo_write.c: write a file that reads as the same topology; 0 or a negative errno. */
int ina_topo_write(const struct ina_topo *topo, FILE *file);

/*
 * topo_slurm.c: Slurm's topology.conf. It knows no rates, so every link gets @rate and
 * @latency. Racks are the switches with nodes, pods what is below a switch of level 2.
 */
struct ina_topo *ina_topo_read_slurm(const char *path, double rate, double latency,
				     struct ina_doc_error *err);
struct ina_topo *ina_topo_parse_slurm(const char *name, const char *text, size_t size,
				      double rate, double latency, struct ina_doc_error *err);

#endif
