// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf on another machine: this program itself in a network namespace of that name, else the
 * operator's command. It has its own process group, so that a key pressed here does not
 * end it half-way, and a time limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apply.h"

#define HOST_OUTPUT_MAX	(16U << 20)
#define HOST_THREADS	31	/* besides the one that starts them */
#define HOST_NETNS_DIR	"/var/run/netns"

extern char **environ;

/**
 * struct host_process - a command that runs
 * @pid: of it and of its group
 * @pidfd: readable when it has ended
 * @pipes: where its output and its errors come from
 * @texts: what came
 * @sizes: how much
 */
struct host_process {
	pid_t pid;
	int pidfd;
	int pipes[2];
	char *texts[2];
	size_t sizes[2];
};

static bool host_is_netns(const char *where)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), HOST_NETNS_DIR "/%s", where);

	return !strchr(where, '/') && n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

/* The words of the command into @argv, which has room; @copy holds what is split. */
static int host_words(const struct reach *reach, const struct ina_host *host, char *copy, bool json,
		      char **argv, struct answer *answer)
{
	char *rest = NULL;
	int n = 0;

	if (host_is_netns(host->where)) {
		argv[n++] = (char *)"inaconf";
		argv[n++] = (char *)"-n";
		argv[n++] = host->where;
	} else if (reach->hook) {
		while (reach->hook[n]) {
			argv[n] = reach->hook[n];
			n++;
		}
		argv[n++] = host->where;
		argv[n++] = (char *)"inaconf";
	} else {
		snprintf(answer->why, sizeof(answer->why),
			 "%.80s is no network namespace of this machine, and no hook is given",
			 host->where);
		return -ENOENT;
	}
	if (json)
		argv[n++] = (char *)"-j";
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[n++] = word;
	argv[n] = NULL;
	return 0;
}

static int host_spawn(struct host_process *p, char **argv, bool local, int out, int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int ret;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	ret = posix_spawnp(&p->pid, local ? "/proc/self/exe" : argv[0], &actions, &attr, argv,
			   environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

static void host_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int host_start(struct host_process *p, char **argv, bool local)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, ret = 0;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) || pipe2(err, O_CLOEXEC | O_NONBLOCK))
		ret = -errno;
	/* Only our ends must not block. */
	if (!ret && (fcntl(out[1], F_SETFL, 0) || fcntl(err[1], F_SETFL, 0)))
		ret = -errno;
	if (!ret)
		ret = host_spawn(p, argv, local, out[1], err[1]);
	p->pipes[0] = out[0];
	p->pipes[1] = err[0];
	p->pidfd = ret ? -1 : (int)syscall(SYS_pidfd_open, p->pid, 0);
	host_close(&out[1]);
	host_close(&err[1]);
	return ret;
}

/* Take what has come from one pipe; it is closed at its end. */
static int host_take(struct host_process *p, int i)
{
	char buffer[4096];
	ssize_t n;

	while (p->pipes[i] >= 0 && (n = read(p->pipes[i], buffer, sizeof(buffer))) != 0) {
		char *bigger;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		bigger = p->sizes[i] + (size_t)n < HOST_OUTPUT_MAX ?
			 realloc(p->texts[i], p->sizes[i] + (size_t)n + 1) : NULL;
		if (!bigger)
			return -EFBIG;
		memcpy(bigger + p->sizes[i], buffer, (size_t)n);
		p->texts[i] = bigger;
		p->sizes[i] += (size_t)n;
		bigger[p->sizes[i]] = '\0';
	}
	host_close(&p->pipes[i]);
	return 0;
}

static double host_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Until it ends, not until its output does: what it leaves behind may hold that open. */
static int host_wait(struct host_process *p, double timeout)
{
	double end = host_clock() + timeout;
	struct pollfd fds[3];
	int ret = 0;

	do {
		double left = end - host_clock();

		fds[0] = (struct pollfd){ .fd = p->pipes[0], .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = p->pipes[1], .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = p->pidfd, .events = POLLIN };
		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(fds, 3, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			return -errno;
		ret = host_take(p, 0);
		if (!ret)
			ret = host_take(p, 1);
	} while (!ret && !(fds[2].revents & POLLIN));
	return ret;
}

/* Why a command failed: the first line it wrote to its errors, or its status. */
static void host_blame(const struct host_process *p, int status, struct answer *answer)
{
	const char *text = p->texts[1] ? p->texts[1] : "";

	if (!strncmp(text, "Error: ", 7))
		text += 7;
	if (*text && *text != '\n')
		snprintf(answer->why, sizeof(answer->why), "%.*s", (int)strcspn(text, "\n"), text);
	else if (WIFSIGNALED(status))
		snprintf(answer->why, sizeof(answer->why), "ended by signal %d", WTERMSIG(status));
	else
		snprintf(answer->why, sizeof(answer->why), "exit status %d", WEXITSTATUS(status));
}

static int host_finish(struct host_process *p, int ret, double timeout, struct answer *answer)
{
	int status = 0;

	if (ret)
		kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ret == -ETIMEDOUT)
		snprintf(answer->why, sizeof(answer->why), "no answer within %g s", timeout);
	else if (ret)
		snprintf(answer->why, sizeof(answer->why), "%s", strerror(-ret));
	if (ret || !status)
		return ret;
	host_blame(p, status, answer);
	return -EIO;
}

static int host_execute(const struct reach *reach, char **argv, bool local, struct answer *answer)
{
	struct host_process p = { .pidfd = -1, .pipes = { -1, -1 } };
	int ret = host_start(&p, argv, local);

	if (ret)
		snprintf(answer->why, sizeof(answer->why), "cannot run %.80s: %s", argv[0],
			 strerror(-ret));
	else
		ret = host_finish(&p, p.pidfd < 0 ? -EMFILE : host_wait(&p, reach->timeout),
				  reach->timeout, answer);
	for (int i = 0; i < 2; i++)
		host_close(&p.pipes[i]);
	host_close(&p.pidfd);
	free(p.texts[1]);
	answer->text = p.texts[0];
	answer->size = p.sizes[0];
	return ret;
}

static size_t host_count(const struct reach *reach, const char *words)
{
	size_t n = 8;

	for (; *words; words++)
		n += *words == ' ';
	for (int i = 0; reach->hook && reach->hook[i]; i++)
		n++;
	return n;
}

int host_run(const struct reach *reach, const struct ina_host *host, const char *words, bool json,
	     struct answer *answer)
{
	char **argv = calloc(host_count(reach, words), sizeof(*argv)), *copy = strdup(words);
	int ret = -ENOMEM;

	*answer = (struct answer){ .why = "out of memory" };
	if (argv && copy)
		ret = host_words(reach, host, copy, json, argv, answer);
	if (argv && !ret)
		ret = host_execute(reach, argv, host_is_netns(host->where), answer);
	free(argv);
	free(copy);
	return ret;
}

/**
 * struct host_queue - what is to be done for many machines
 * @fn: what
 * @ctx: its argument
 * @n: how many machines
 * @next: the next one
 */
struct host_queue {
	void (*fn)(void *ctx, int i);
	void *ctx;
	int n;
	atomic_int next;
};

static void *host_queue_work(void *arg)
{
	struct host_queue *queue = arg;
	int i;

	while ((i = atomic_fetch_add(&queue->next, 1)) < queue->n)
		queue->fn(queue->ctx, i);
	return NULL;
}

void host_each(int n, void (*fn)(void *ctx, int i), void *ctx)
{
	struct host_queue queue = { .fn = fn, .ctx = ctx, .n = n };
	pthread_t threads[HOST_THREADS];
	int started = 0;

	while (started < HOST_THREADS && started + 1 < n &&
	       !pthread_create(&threads[started], NULL, host_queue_work, &queue))
		started++;
	host_queue_work(&queue);
	while (started--)
		pthread_join(threads[started], NULL);
}
