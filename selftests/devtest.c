// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/ina by hand, for the tests of the device: a list of steps, each with the
 * result it must have. The first step that ends otherwise is printed and ends
 * the program with status 1.
 *
 *   devtest STEP...      STEP is "WORDS... [= ERRNO|SIGNAL]", e.g. "attach 7"
 *                        "mmap result all rw = EACCES" "poll in out"
 *
 * The table at the end lists the words. Up to 8 files can be open; `use` picks
 * one. INA_DEV names another device node.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ina_dev.h>

#include "failnth.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define FILES_MAX	8
#define WORDS_MAX	8
/* Results of a step that are no errno. */
#define SIGNAL_BASE	1000
#define DIFFERS		2000

enum area { CTL, CONTRIB, RESULT, AREAS };

static const struct {
	const char *name;
	uint64_t offset;
} areas[AREAS] = {
	[CTL] = { "ctl", INA_MMAP_CTL },
	[CONTRIB] = { "contrib", INA_MMAP_CONTRIB },
	[RESULT] = { "result", INA_MMAP_RESULT },
};

/**
 * struct file - an open file
 * @fd: -1 not open
 * @attach: what the kernel said when it was attached
 * @map: where the areas are mapped, NULL if they are not
 * @mapped: bytes mapped of each
 */
static struct file {
	int fd;
	struct ina_attach attach;
	char *map[AREAS];
	size_t mapped[AREAS];
} files[FILES_MAX];

static struct file *file = files;
static unsigned int fail_nth;
static sigjmp_buf fault;
static bool refused;

static __attribute__((noreturn)) void usage(const char *what, const char *word)
{
	fprintf(stderr, "devtest: %s \"%s\"\n", what, word ? word : "");
	exit(2);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	if (!text)
		usage("a number is missing", text);
	value = strtoull(text, &end, 0);
	if (end == text || *end)
		usage("not a number", text);
	return value;
}

static enum area area_find(const char *name)
{
	for (int i = 0; name && i < AREAS; i++) {
		if (!strcmp(areas[i].name, name))
			return i;
	}
	usage("no such area", name);
}

static size_t area_size(enum area area)
{
	return area == CTL ? file->attach.ctl_size : file->attach.array_size;
}

/* Bytes: a number, all (the whole area), all+N or all-N. */
static uint64_t bytes(enum area area, const char *text)
{
	if (text && !strcmp(text, "all"))
		return area_size(area);
	if (text && !strncmp(text, "all+", 4))
		return area_size(area) + number(text + 4);
	if (text && !strncmp(text, "all-", 4))
		return area_size(area) - number(text + 4);
	return number(text);
}

static int prot(const char *text)
{
	int value = PROT_NONE;

	if (!text)
		usage("a protection is missing", text);
	value |= strchr(text, 'r') ? PROT_READ : 0;
	value |= strchr(text, 'w') ? PROT_WRITE : 0;
	value |= strchr(text, 'x') ? PROT_EXEC : 0;
	return value;
}

static int result(long ret)
{
	return ret < 0 ? errno : 0;
}

static int differs(const char *what, int64_t got, int64_t expected)
{
	if (got == expected)
		return 0;
	printf("%s is %" PRId64 ", not %" PRId64 "\n", what, got, expected);
	return DIFFERS;
}

static int file_open(int flags)
{
	const char *path = getenv("INA_DEV");

	file->fd = open(path ? path : "/dev/ina", flags | O_CLOEXEC);
	return result(file->fd);
}

static int step_open(char **word)
{
	return file_open(word[1] && !strcmp(word[1], "ro") ? O_RDONLY : O_RDWR);
}

static int step_use(char **word)
{
	uint64_t i = number(word[1]);

	if (i >= FILES_MAX)
		usage("too many files", word[1]);
	file = &files[i];
	return 0;
}

static int step_close(char **word)
{
	(void)word;
	for (int i = 0; i < AREAS; i++) {
		if (file->map[i])
			munmap(file->map[i], file->mapped[i]);
	}
	close(file->fd);
	*file = (struct file){ .fd = -1 };
	return 0;
}

/* fail-nth N: of the next attach, the Nth allocation of the kernel. */
static int step_fail_nth(char **word)
{
	fail_nth = (unsigned int)number(word[1]);
	return 0;
}

static int attach_ioctl(struct ina_attach *attach)
{
	int ret;

	if (!fail_nth)
		return result(ioctl(file->fd, INA_IOC_ATTACH, attach));
	fail_nth_begin(fail_nth);
	ret = result(ioctl(file->fd, INA_IOC_ATTACH, attach));
	printf("fault=%d\n", fail_nth_end());
	fail_nth = 0;
	return ret;
}

static int step_attach(char **word)
{
	struct ina_attach attach = { .job = (uint32_t)number(word[1]), .rank = INA_RANK_NONE };
	int ret;

	if (word[2])
		attach.flags = (uint32_t)number(word[2]);
	if (word[2] && word[3])
		attach.rank = (uint32_t)number(word[3]);
	ret = file->fd < 0 ? file_open(O_RDWR) : 0;
	if (!ret)
		ret = attach_ioctl(&attach);
	if (!ret)
		file->attach = attach;
	return ret;
}

static int step_submit(char **word)
{
	struct ina_submit submit = {
		.round = number(word[1]),
		.length = (uint32_t)number(word[2]),
		.flags = word[3] ? (uint32_t)number(word[3]) : 0,
	};

	return result(ioctl(file->fd, INA_IOC_SUBMIT, &submit));
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* alarm MS [restart]: from now on a signal comes that often. */
static int step_alarm(char **word)
{
	int flags = word[2] && !strcmp(word[2], "restart") ? SA_RESTART : 0;
	suseconds_t us = (suseconds_t)number(word[1]) * 1000;
	const struct itimerval often = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm, .sa_flags = flags }, NULL);
	return result(setitimer(ITIMER_REAL, &often, NULL));
}

/* Rounds of a file that has submitted none, one after the other. */
static void *submit_rounds(void *length)
{
	struct ina_submit submit = { .length = *(const uint32_t *)length };
	struct ina_wait wait = { .timeout_ms = -1 };

	while (!__atomic_load_n(&refused, __ATOMIC_RELAXED) &&
	       !ioctl(file->fd, INA_IOC_SUBMIT, &submit) &&
	       !ioctl(file->fd, INA_IOC_WAIT, &wait) &&
	       !ioctl(file->fd, INA_IOC_RELEASE, &submit.round))
		wait.round = ++submit.round;
	return NULL;
}

/*
 * submit-beside LENGTH TIMES: a wrong round, while a thread that no signal reaches submits. Who
 * wakes up in a class of its own interrupts that in the middle, whatever the kernel's preemption.
 */
static int step_submit_beside(char **word)
{
	struct ina_submit wrong = { .round = UINT64_MAX, .length = 1 };
	uint32_t length = (uint32_t)number(word[1]);
	const struct sched_param first = { .sched_priority = 1 }, usual = { 0 };
	const struct timespec moment = { .tv_nsec = 200000 };
	uint64_t times = number(word[2]);
	pthread_t other;
	sigset_t alarm;
	int ret;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	ret = pthread_create(&other, NULL, submit_rounds, &length);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	if (ret)
		return ret;
	sched_setscheduler(0, SCHED_FIFO, &first);
	do {
		nanosleep(&moment, NULL);
		ret = result(ioctl(file->fd, INA_IOC_SUBMIT, &wrong));
	} while (ret == ESTALE && --times);
	sched_setscheduler(0, SCHED_OTHER, &usual);
	__atomic_store_n(&refused, true, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	return ret;
}

static int step_wait(char **word)
{
	bool epoch = word[1] && !strcmp(word[1], "open");
	struct ina_wait wait = {
		.round = epoch ? INA_WAIT_OPEN : number(word[1]),
		.timeout_ms = (int32_t)number(word[2]),
		.flags = word[3] ? (uint32_t)number(word[3]) : 0,
	};

	return result(ioctl(file->fd, INA_IOC_WAIT, &wait));
}

static int step_release(char **word)
{
	uint64_t round = number(word[1]);

	return result(ioctl(file->fd, INA_IOC_RELEASE, &round));
}

static int step_ioctl(char **word)
{
	struct ina_attach attach = { 0 };

	return result(ioctl(file->fd, number(word[1]), &attach));
}

/* A pointer to where nothing is. */
static int step_bad_pointer(char **word)
{
	static const struct {
		const char *name;
		unsigned long request;
	} requests[] = {
		{ "attach", INA_IOC_ATTACH }, { "submit", INA_IOC_SUBMIT },
		{ "wait", INA_IOC_WAIT }, { "release", INA_IOC_RELEASE },
	};

	for (size_t i = 0; word[1] && i < ARRAY_SIZE(requests); i++) {
		if (!strcmp(requests[i].name, word[1]))
			return result(ioctl(file->fd, requests[i].request, (void *)8));
	}
	usage("no such request", word[1]);
}

/* attach-read-only JOB: the answer cannot be written. */
static int step_attach_read_only(char **word)
{
	struct ina_attach *attach = mmap(NULL, sizeof(*attach), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (attach == MAP_FAILED)
		return errno;
	attach->job = (uint32_t)number(word[1]);
	mprotect(attach, sizeof(*attach), PROT_READ);
	return result(ioctl(file->fd, INA_IOC_ATTACH, attach));
}

static int step_poll(char **word)
{
	static const struct {
		const char *name;
		short bit;
	} bits[] = {
		{ "in", POLLIN }, { "out", POLLOUT }, { "hup", POLLHUP }, { "err", POLLERR },
	};
	struct pollfd fd = { .fd = file->fd, .events = POLLIN | POLLOUT };
	short expected = 0;

	for (int w = 1; word[w]; w++) {
		for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
			expected |= strcmp(bits[i].name, word[w]) ? 0 : bits[i].bit;
	}
	/* The state that is asked for is there already. */
	if (poll(&fd, 1, 0) < 0)
		return errno;
	return differs("the poll mask", fd.revents, expected);
}

/* poll-until MS WORD: sleep in poll() until one of the events is there. */
static int step_poll_until(char **word)
{
	struct pollfd fd = { .fd = file->fd };
	int ret;

	/* A hangup is always told. */
	if (word[2] && strcmp(word[2], "hup"))
		fd.events = !strcmp(word[2], "out") ? POLLOUT : POLLIN;
	ret = poll(&fd, 1, (int)number(word[1]));
	return ret < 0 ? errno : ret ? 0 : ETIMEDOUT;
}

static int map(enum area area, uint64_t offset, uint64_t length, int protection, int flags)
{
	char *addr = mmap(NULL, length, protection, flags, file->fd,
			  (off_t)(areas[area].offset + offset));

	if (addr == MAP_FAILED)
		return errno;
	file->map[area] = addr;
	file->mapped[area] = length;
	return 0;
}

static int step_mmap(char **word)
{
	enum area area = area_find(word[1]);
	bool private = word[4] && !strcmp(word[4], "private");

	return map(area, 0, bytes(area, word[2]), prot(word[3]),
		   private ? MAP_PRIVATE : MAP_SHARED);
}

static int step_mmap_at(char **word)
{
	enum area area = area_find(word[1]);

	return map(area, bytes(area, word[2]), bytes(area, word[3]), prot(word[4]), MAP_SHARED);
}

static int step_mprotect(char **word)
{
	enum area area = area_find(word[1]);

	return result(mprotect(file->map[area], file->mapped[area], prot(word[2])));
}

static int step_mremap(char **word)
{
	enum area area = area_find(word[1]);
	size_t length = bytes(area, word[2]);
	char *addr = mremap(file->map[area], file->mapped[area], length, MREMAP_MAYMOVE);

	if (addr == MAP_FAILED)
		return errno;
	file->map[area] = addr;
	file->mapped[area] = length;
	return 0;
}

static int step_munmap(char **word)
{
	enum area area = area_find(word[1]);
	uint64_t offset = bytes(area, word[2]);

	return result(munmap(file->map[area] + offset, bytes(area, word[3])));
}

static void on_fault(int signal)
{
	siglongjmp(fault, signal);
}

/* touch AREA OFFSET [VALUE]: read, or write, and live on. */
static int step_touch(char **word)
{
	volatile int32_t *at;
	int signal = sigsetjmp(fault, 1);
	enum area area;

	if (signal)
		return SIGNAL_BASE + signal;
	area = area_find(word[1]);
	at = (volatile int32_t *)(file->map[area] + bytes(area, word[2]));
	if (word[3])
		*at = (int32_t)number(word[3]);
	else
		(void)*at;
	return 0;
}

/* value AREA OFFSET VALUE: what is there. */
static int step_value(char **word)
{
	enum area area = area_find(word[1]);
	const volatile int32_t *at = (void *)(file->map[area] + bytes(area, word[2]));

	return differs("the value", *at, strtol(word[3], NULL, 0));
}

static int step_fork_touch(char **word)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(step_touch(word) ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	if (WIFSIGNALED(status))
		return SIGNAL_BASE + WTERMSIG(status);
	return WEXITSTATUS(status) ? DIFFERS : 0;
}

/* fill ROUND LENGTH VALUE: the contribution to a round. */
static int step_fill(char **word)
{
	uint64_t slot = number(word[1]) % file->attach.depth * file->attach.stride;
	int32_t *at = (int32_t *)(file->map[CONTRIB] + slot);

	for (uint64_t i = 0; i < number(word[2]); i++)
		at[i] = (int32_t)strtol(word[3], NULL, 0);
	return 0;
}

/* result ROUND LENGTH VALUE: every element of the result of a round. */
static int step_result(char **word)
{
	uint64_t slot = number(word[1]) % file->attach.depth * file->attach.stride;
	const int32_t *at = (const int32_t *)(file->map[RESULT] + slot);
	int ret = 0;

	for (uint64_t i = 0; !ret && i < number(word[2]); i++)
		ret = differs("an element", at[i], strtol(word[3], NULL, 0));
	return ret;
}

/* ctl FIELD VALUE: what the control page says of the node. */
static int step_ctl(char **word)
{
	const struct ina_ctl *ctl = (const void *)file->map[CTL];
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{ "abi", ctl->abi }, { "state", ctl->state }, { "epoch", ctl->epoch },
		{ "workers", ctl->workers }, { "base", ctl->base },
		{ "next", ctl->next_round }, { "refused", ctl->refused },
	};

	for (size_t i = 0; word[1] && i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, word[1]))
			return differs(word[1], (int64_t)fields[i].value, (int64_t)number(word[2]));
	}
	usage("no such field", word[1]);
}

/* round ROUND STATE ERROR REASON: what the control page says of a round. */
static int step_round(char **word)
{
	const struct ina_ctl *ctl = (const void *)file->map[CTL];
	uint64_t number_of = number(word[1]);
	const struct ina_ctl_round *round = &ctl->rounds[number_of % file->attach.depth];
	int ret = differs("the round", (int64_t)round->round, (int64_t)number_of);

	if (!ret)
		ret = differs("the state", round->state, (int64_t)number(word[2]));
	if (!ret)
		ret = differs("the error", -round->error, (int64_t)number(word[3]));
	if (!ret)
		ret = differs("the reason", round->reason, (int64_t)number(word[4]));
	return ret;
}

/* index N: the number the kernel gave this worker. */
static int step_index(char **word)
{
	return differs("the index", file->attach.index, (int64_t)number(word[1]));
}

static int step_run(char **word)
{
	char line[512] = "";

	for (int i = 1; word[i]; i++) {
		strncat(line, word[i], sizeof(line) - strlen(line) - 1);
		strncat(line, " ", sizeof(line) - strlen(line) - 1);
	}
	return differs("the exit status", system(line), 0);
}

/* fork: a child that does nothing but keep the files open. */
static int step_fork(char **word)
{
	pid_t pid = fork();

	(void)word;
	if (!pid) {
		for (;;)
			pause();
	}
	printf("child %d\n", (int)pid);
	return pid < 0 ? errno : 0;
}

/* leave: into a network namespace of its own. */
static int step_leave(char **word)
{
	(void)word;
	return result(unshare(CLONE_NEWNET));
}

/* pause: say who we are and stay until killed. */
static int step_pause(char **word)
{
	(void)word;
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	while (pause() < 0 && errno == EINTR)
		;
	return 0;
}

static const struct step {
	const char *name;
	int (*run)(char **word);
} steps[] = {
	{ "open", step_open },			/* [ro] */
	{ "use", step_use },			/* FILE */
	{ "close", step_close },
	{ "fail-nth", step_fail_nth },		/* N */
	{ "attach", step_attach },		/* JOB [FLAGS [RANK]] */
	{ "attach-read-only", step_attach_read_only },	/* JOB */
	{ "index", step_index },		/* N */
	{ "submit", step_submit },		/* ROUND LENGTH [FLAGS] */
	{ "submit-beside", step_submit_beside },	/* LENGTH TIMES */
	{ "wait", step_wait },			/* ROUND|open MS [FLAGS] */
	{ "release", step_release },		/* ROUND */
	{ "alarm", step_alarm },		/* MS [restart] */
	{ "ioctl", step_ioctl },		/* NUMBER */
	{ "bad-pointer", step_bad_pointer },	/* attach|submit|wait|release */
	{ "poll", step_poll },			/* [in] [out] [hup] [err] */
	{ "poll-until", step_poll_until },	/* MS in|out|hup */
	{ "mmap", step_mmap },			/* AREA LENGTH PROT [private] */
	{ "mmap-at", step_mmap_at },		/* AREA OFFSET LENGTH PROT */
	{ "mprotect", step_mprotect },		/* AREA PROT */
	{ "mremap", step_mremap },		/* AREA LENGTH */
	{ "munmap", step_munmap },		/* AREA OFFSET LENGTH */
	{ "touch", step_touch },		/* AREA OFFSET [VALUE] */
	{ "value", step_value },		/* AREA OFFSET VALUE */
	{ "fork-touch", step_fork_touch },	/* AREA OFFSET [VALUE] */
	{ "fill", step_fill },			/* ROUND LENGTH VALUE */
	{ "result", step_result },		/* ROUND LENGTH VALUE */
	{ "ctl", step_ctl },			/* FIELD VALUE */
	{ "round", step_round },		/* ROUND STATE ERRNO REASON */
	{ "run", step_run },			/* COMMAND... */
	{ "fork", step_fork },
	{ "leave", step_leave },
	{ "pause", step_pause },
};

static const char *result_name(int ret)
{
	const char *name = "0";

	if (ret == DIFFERS)
		return "different";
	if (ret >= SIGNAL_BASE)
		return ret == SIGNAL_BASE + SIGBUS ? "SIGBUS" : "SIGSEGV";
	if (ret)
		name = strerrorname_np(ret);
	return name ? name : "?";
}

/* Split a step at spaces; what follows " = " is the expected result. */
static const char *split(char *line, char **word)
{
	char *expected = strstr(line, " = ");
	int count = 0;

	if (expected) {
		*expected = 0;
		expected += 3;
	}
	for (char *w = strtok(line, " "); w; w = strtok(NULL, " ")) {
		if (count == WORDS_MAX)
			usage("too many words", w);
		word[count++] = w;
	}
	return expected ? expected : "0";
}

static int (*step_find(const char *name))(char **word)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(steps); i++) {
		if (!strcmp(steps[i].name, name))
			return steps[i].run;
	}
	usage("no such step", name);
}

static bool step(const char *text)
{
	char *word[WORDS_MAX + 1] = { NULL };
	char *line = strdup(text);
	const char *expected, *got;
	bool same;

	if (!line)
		abort();
	expected = split(line, word);
	got = result_name(step_find(word[0])(word));
	same = !strcmp(got, expected);
	if (!same)
		printf("\"%s\": got %s\n", text, got);
	fflush(stdout);
	free(line);
	return same;
}

int main(int argc, char **argv)
{
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	for (int i = 0; i < FILES_MAX; i++)
		files[i].fd = -1;
	for (int i = 1; i < argc; i++) {
		if (!step(argv[i]))
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
