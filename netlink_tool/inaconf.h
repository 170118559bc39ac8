/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of inaconf share: words in (words.c, args.c), netlink in the
 * middle (nl.c), text or JSON out (print.c, fields.c). An object (job.c,
 * tree.c, ...) is mostly tables over these.
 */
#ifndef INACONF_H
#define INACONF_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/ina.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * enum inaconf_exit - exit status, also what every command returns
 * @INACONF_OK: done
 * @INACONF_FAILED: the kernel or the system refused; the reason was printed
 * @INACONF_USAGE: the words make no sense; what is known was printed
 */
enum inaconf_exit {
	INACONF_OK,
	INACONF_FAILED,
	INACONF_USAGE,
};

/* words.c: lists of words the user may say */

/**
 * struct words - a table whose entries start with a const char *
 * @table: first entry
 * @count: number of entries
 * @stride: size of an entry
 */
struct words {
	const void *table;
	size_t count;
	size_t stride;
};

#define WORDS(a)	{ .table = (a), .count = ARRAY_SIZE(a), .stride = sizeof((a)[0]) }

extern const struct words dtype_words;
extern const struct words auto_words;
extern const struct words on_loss_words;
extern const struct words encap_words;
extern const struct words state_words;
extern const struct words reason_words;
extern const struct words reason_texts;
extern const struct words pacing_words;
extern const struct words path_state_words;
extern const struct words event_words;

/* Word number @i, NULL beyond the end. */
const char *words_get(const struct words *words, uint64_t i);

/* Number of @word, or -1. Only the exact word is found. */
int words_find(const struct words *words, const char *word);

/* Say that @word is no such @what and list what is; returns INACONF_USAGE. */
int words_unknown(const struct words *words, const char *what, const char *word);

/* Print "Error: ..." as one line to stderr; returns INACONF_FAILED. */
int error_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for words that make no sense; returns INACONF_USAGE. */
int error_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* print.c: one call, text or JSON */

/**
 * struct print - where output goes and in which form
 * @file: the stream
 * @json: JSON instead of text
 * @pretty: JSON with line breaks
 * @later: a value was printed in the innermost object or array
 * @depth: open objects and arrays
 */
struct print {
	FILE *file;
	bool json;
	bool pretty;
	bool later;
	unsigned int depth;
};

/*
 * @key is the name in JSON (NULL in an array), @prefix what stands before the
 * value in text. In text print_rate() writes bytes per second as tc(8) does,
 * print_percent() a share of a million in percent. print_text() is for text alone.
 */
void print_array_open(struct print *p, const char *key);
void print_array_close(struct print *p);
void print_object_open(struct print *p, const char *key);
void print_object_close(struct print *p);
void print_string(struct print *p, const char *key, const char *prefix, const char *value);
void print_uint(struct print *p, const char *key, const char *prefix, uint64_t value);
void print_int(struct print *p, const char *key, const char *prefix, int64_t value);
void print_hex(struct print *p, const char *key, const char *prefix, uint64_t value);
void print_number(struct print *p, const char *key, const char *prefix, double value);
void print_bytes(struct print *p, const char *key, const char *prefix, uint64_t value);
void print_rate(struct print *p, const char *key, const char *prefix, uint64_t value);
void print_percent(struct print *p, const char *key, const char *prefix, uint64_t value);
void print_bool(struct print *p, const char *key, const char *yes, const char *no, bool value);
void print_text(struct print *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Longest rate as text, with the zero. */
#define RATE_SIZE	24

/* Bytes per second as tc(8) writes them. */
const char *rate_text(char text[RATE_SIZE], uint64_t value);

/* Flush; returns INACONF_FAILED if anything could not be written. */
int print_flush(struct print *p);

/* nl.c: the netlink socket */

/**
 * struct nl - a socket that speaks to the family
 * @socket: NULL until the first request is sent
 * @family: type of the messages of the family
 * @group: multicast group of the events
 * @seq: number of the last request
 * @request: the request being built, NL_REQUEST_SIZE bytes
 * @buffer: what was received last
 * @size: bytes allocated for @buffer
 * @replies: all replies to the last request, one behind the other
 * @length: bytes used in @replies
 */
struct nl {
	struct mnl_socket *socket;
	uint16_t family;
	uint32_t group;
	uint32_t seq;
	char *request;
	char *buffer;
	size_t size;
	char *replies;
	size_t length;
};

#define NL_REQUEST_SIZE	65536

/**
 * struct inaconf - everything a command works with
 * @out: output
 * @nl: netlink
 */
struct inaconf {
	struct print out;
	struct nl nl;
};

typedef void (*nl_reply_fn)(struct print *p, const struct nlmsghdr *reply, const void *arg);

int nl_init(struct nl *nl);
void nl_exit(struct nl *nl);

/* Start a request in nl->request. */
struct nlmsghdr *nl_request(struct nl *nl, uint8_t command);

/*
 * Send a request, collect all replies in nl->replies. A refusal is printed;
 * @params (of struct param) gives the attribute to blame its name.
 */
int nl_query(struct nl *nl, struct nlmsghdr *request, const struct words *params);

/* Call @fn for every reply to the last request. */
void nl_each(const struct nl *nl, struct print *p, nl_reply_fn fn, const void *arg);

/* Query, then print the replies with @fn as one array. */
int nl_show(struct inaconf *ctx, struct nlmsghdr *request, const struct words *params,
	    nl_reply_fn fn, const void *arg);

/* Join the group of the events. */
int nl_subscribe(struct nl *nl);

/* Receive into nl->buffer; returns the length or a negative errno. */
ssize_t nl_receive(struct nl *nl);

/* args.c: words to attributes */

/**
 * enum param_type - what a keyword is followed by
 * @PARAM_FLAG: nothing, and no attribute
 * @PARAM_U16: a number of 16 bits
 * @PARAM_U32: a number of 32 bits
 * @PARAM_S32: a number of 32 bits that may be negative
 * @PARAM_SIZE: a number of 32 bits, k, M, G, Ki, Mi, Gi may follow
 * @PARAM_WORD: one of a list of words
 * @PARAM_ADDR: an IPv4 or IPv6 address
 * @PARAM_DEV: the name of a network device
 * @PARAM_RATE: bytes per second of a device as tc(8) writes them, or auto: INA_A_DEV_AUTO
 * @PARAM_PERCENT: a share in percent, of a million for the kernel
 */
enum param_type {
	PARAM_FLAG,
	PARAM_U16,
	PARAM_U32,
	PARAM_S32,
	PARAM_SIZE,
	PARAM_WORD,
	PARAM_ADDR,
	PARAM_DEV,
	PARAM_RATE,
	PARAM_PERCENT,
};

#define PARAM_REQUIRED	0x1	/* must be given */
#define PARAM_MULTI	0x2	/* may be given more than once */
#define PARAM_BARE	0x4	/* as first word the value may stand alone */

/**
 * struct param - a keyword of a command
 * @keyword: the word
 * @type: what follows
 * @attr: attribute the value goes to
 * @flags: PARAM_*
 * @words: the words of a PARAM_WORD; words that may stand for the numbers from 0 on
 */
struct param {
	const char *keyword;
	enum param_type type;
	uint16_t attr;
	unsigned int flags;
	const struct words *words;
};

/*
 * Put the words @argv as attributes behind @request. @seen (may be NULL) gets
 * bit i for the i-th entry of @params.
 */
int args_parse(const struct words *params, int argc, char **argv, struct nlmsghdr *request,
	       unsigned int *seen);

/* keywords.c: words to variables */

/**
 * enum keyword_type - what a keyword is followed by
 * @KEYWORD_FLAG: nothing; a bool becomes true
 * @KEYWORD_TEXT: any word, for a const char *
 * @KEYWORD_NUMBER: a quantity, for a double
 */
enum keyword_type {
	KEYWORD_FLAG,
	KEYWORD_TEXT,
	KEYWORD_NUMBER,
};

/**
 * struct keyword - a keyword of a command that asks no kernel
 * @keyword: the word
 * @type: what follows
 * @value: where it goes
 * @min: least number
 * @max: largest number
 */
struct keyword {
	const char *keyword;
	enum keyword_type type;
	void *value;
	double min;
	double max;
};

/* Take the words @argv by a table of struct keyword. */
int keywords_parse(const struct words *keywords, int argc, char **argv);

/**
 * struct command - a word and what it does
 * @name: the word
 * @run: gets the words behind it
 */
struct command {
	const char *name;
	int (*run)(struct inaconf *ctx, int argc, char **argv);
};

/**
 * struct object - a noun of the command line
 * @commands: its verbs (of struct command)
 * @fallback: runs if no verb is given
 * @any: @fallback also takes words that are no verb
 * @help: text for "help"
 */
struct object {
	struct words commands;
	int (*fallback)(struct inaconf *ctx, int argc, char **argv);
	bool any;
	const char *help;
};

/* Run the verb argv[0] of @object. */
int object_run(const struct object *object, struct inaconf *ctx, int argc, char **argv);

int job_run(struct inaconf *ctx, int argc, char **argv);
int tree_run(struct inaconf *ctx, int argc, char **argv);
/* path_auto.c: find paths, and what path add and del take, of struct param. */
int path_auto(struct inaconf *ctx, int argc, char **argv);
extern const struct words path_add_params;
extern const struct words path_del_params;

int path_run(struct inaconf *ctx, int argc, char **argv);
int dev_run(struct inaconf *ctx, int argc, char **argv);
int qdisc_run(struct inaconf *ctx, int argc, char **argv);

/**
 * struct qdisc_etf - how the queueing discipline etf of a device is set
 * @ifindex: the device
 * @found: it has one, perhaps several; then of each of the following what fits least
 * @delta: nanoseconds that packets leave before their time
 * @clock: whose
 * @deadline_mode: packets leave as soon as they can
 * @offload: the device waits for the time
 */
struct qdisc_etf {
	int ifindex;
	bool found;
	int32_t delta;
	int32_t clock;
	bool deadline_mode;
	bool offload;
};

/* qdisc.c: look it up. */
int qdisc_etf(struct qdisc_etf *etf);

int stats_run(struct inaconf *ctx, int argc, char **argv);
int monitor_run(struct inaconf *ctx, int argc, char **argv);
int topo_run(struct inaconf *ctx, int argc, char **argv);
int plan_run(struct inaconf *ctx, int argc, char **argv);

/* What is done with plans; a file each. */
int plan_place(struct inaconf *ctx, int argc, char **argv);
int plan_diff(struct inaconf *ctx, int argc, char **argv);
int plan_apply(struct inaconf *ctx, int argc, char **argv);
int plan_load(struct inaconf *ctx, int argc, char **argv);
int plan_watch(struct inaconf *ctx, int argc, char **argv);

/* plan.c: words before "options". */
int plan_words(int argc, char **argv);

/*
 * The words of job add behind the number of @job: those given, checked by the table of job add,
 * and, if @size is not 0 and they have none, a capacity for as many bytes. *@options is to be
 * freed and ends with NULL.
 */
int plan_options(struct inaconf *ctx, double job, double size, int argc, char **argv,
		 char ***options);

/* job.c: what `job add` takes, of struct param. */
extern const struct words job_add_params;

/* topo_draw.c: a topology as a graph for graphviz, or as a picture. */
struct ina_topo;
void topo_draw_dot(const struct ina_topo *topo, FILE *file);
int topo_draw_svg(const struct ina_topo *topo, FILE *file);

/* fields.c: attributes to output */

/**
 * enum field_type - how an attribute is shown
 * @FIELD_UINT: number of any width
 * @FIELD_INT: number of 32 bits that may be negative
 * @FIELD_HEX: number in base 16
 * @FIELD_BYTES: size of memory
 * @FIELD_WORD: number of a word in a list
 * @FIELD_STRING: text
 * @FIELD_ADDR: address
 * @FIELD_RATE: bytes per second, in text as tc(8) writes them
 * @FIELD_PERCENT: share of a million, in text in percent
 */
enum field_type {
	FIELD_UINT,
	FIELD_INT,
	FIELD_HEX,
	FIELD_BYTES,
	FIELD_WORD,
	FIELD_STRING,
	FIELD_ADDR,
	FIELD_RATE,
	FIELD_PERCENT,
};

/**
 * struct field - an attribute of a reply
 * @attr: number of the attribute
 * @type: how it is shown
 * @key: name in JSON
 * @prefix: text before the value
 * @words: the words of a FIELD_WORD
 */
struct field {
	uint16_t attr;
	enum field_type type;
	const char *key;
	const char *prefix;
	const struct words *words;
};

/* Room for the attributes of any set of the family, by number. */
#define ATTRS_MAX	24

struct attrs {
	const struct nlattr *attr[ATTRS_MAX];
};

/* Longest address as text, with the zero. */
#define ADDR_SIZE	INET6_ADDRSTRLEN

/* Sort the attributes of a reply, or of one nest of it, by number. */
void attrs_parse(struct attrs *attrs, const struct nlmsghdr *reply);
void attrs_parse_nested(struct attrs *attrs, const struct nlattr *nest);

/* Value of an attribute; 0, "" or "-" if it is absent or has a wrong length. */
uint64_t attr_uint(const struct nlattr *attr);
const char *attr_string(const struct nlattr *attr);
const char *attr_addr(const struct nlattr *attr, char text[ADDR_SIZE]);

/* IPv4 and IPv6 as in attributes: 16 bytes, IPv4 mapped into IPv6. */
bool addr_parse(const char *text, struct in6_addr *addr);
const char *addr_text(const struct in6_addr *addr, char text[ADDR_SIZE]);

/* Print those of @count @fields that are present. */
void fields_print(struct print *p, const struct field *fields, size_t count,
		  const struct attrs *attrs);

#endif /* INACONF_H */
