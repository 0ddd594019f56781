/* SPDX-License-Identifier: MIT */
/* Marks on answers, by a small nftables table for each mark, and the setting that makes the reverse path
 * filter look at them. The daemon's thread. Source: nft(8), socket(7); ip-sysctl: rp_filter, src_valid_mark.
 */
#include "core/port/net_answer.h"

#include "platform/linux/nftables.h"
#include "platform/linux/nftables_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONF "/proc/sys/net/ipv4/conf/"
#define TABLE_PREFIX "wgtcp_mark_"
#define COMMANDS_LEN 1024

/* By the socket that the packet is for: before connection tracking and before every filter, firewalld's for
 * IPv6 too. */
static const char by_socket[] =
	"chain answers { type filter hook prerouting priority -310;\n"
	"iifname != \"%s\" meta l4proto { tcp, udp } socket mark %u meta mark set %u\n}\n";
/* By the connection: for what has no socket. */
static const char by_connection[] =
	"chain sent { type filter hook postrouting priority -150;\n"
	"meta l4proto { tcp, udp } meta mark %u ct mark set %u\n}\n"
	"chain answers { type filter hook prerouting priority -150;\n"
	"iifname != \"%s\" meta l4proto { tcp, udp } ct mark %u meta mark set %u\n}\n";

static int add_table(const struct net_answer *answer, bool connection)
{
	char commands[COMMANDS_LEN], chains[COMMANDS_LEN / 2];
	uint32_t mark = answer->mark;

	if (connection)
		snprintf(chains, sizeof(chains), by_connection, mark, mark, answer->interface, mark, mark);
	else
		snprintf(chains, sizeof(chains), by_socket, answer->interface, mark, mark);
	snprintf(commands, sizeof(commands),
		"add table inet " TABLE_PREFIX "%u\ndelete table inet " TABLE_PREFIX
		"%u\ntable inet " TABLE_PREFIX "%u "
		"{\n%s"
		"chain never_inside { type filter hook output priority 0;\noifname \"%s\" meta mark %u "
		"drop\n}\n}\n",
		mark, mark, mark, chains, answer->interface, mark);
	return nftables_run(commands, NULL, 0);
}

int net_answer_add(const struct net_answer *answer)
{
	int err = add_table(answer, answer->no_socket);

	/* Old kernels, or one without that module. */
	if (err == -EOPNOTSUPP && !answer->no_socket)
		err = add_table(answer, true);
	return err;
}

int net_answer_remove(uint32_t mark)
{
	char commands[COMMANDS_LEN];

	snprintf(commands, sizeof(commands),
		"add table inet " TABLE_PREFIX "%u\ndelete table inet " TABLE_PREFIX "%u\n", mark, mark);
	return nftables_run(commands, NULL, 0);
}

bool net_answer_is_there(uint32_t mark)
{
	char command[COMMANDS_LEN];

	snprintf(command, sizeof(command), "list chain inet " TABLE_PREFIX "%u never_inside\n", mark);
	return nftables_run(command, NULL, 0) == 0;
}

/* ---- who takes it away ---- */

/* The same thing by the port's name. */
static struct nftables_watch *inner(const struct net_answer_watch *watch)
{
	return (struct nftables_watch *)watch;
}

int net_answer_watch_open(struct net_answer_watch **out)
{
	struct nftables_watch *watch;
	int err = nftables_watch_open(&watch);

	if (!err)
		*out = (struct net_answer_watch *)watch;
	return err;
}

void net_answer_watch_close(struct net_answer_watch *watch)
{
	nftables_watch_close(inner(watch));
}

int net_answer_watch_handle(const struct net_answer_watch *watch)
{
	return nftables_watch_handle(inner(watch));
}

bool net_answer_watch_take(struct net_answer_watch *watch)
{
	return nftables_watch_take(inner(watch), TABLE_PREFIX);
}

/* ---- the filter's settings ---- */

/* One digit; or -errno. */
static int read_digit(const char *path)
{
	char digit = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (read(fd, &digit, 1) != 1 || digit < '0' || digit > '9')
		err = -EIO;
	close(fd);
	return err ? err : digit - '0';
}

static const char check_marks_path[] = CONF "all/src_valid_mark";

int net_answer_marks_are_checked(bool *on)
{
	int digit = read_digit(check_marks_path);

	if (digit < 0)
		return digit;
	*on = digit != 0;
	return 0;
}

int net_answer_check_marks(bool on, bool *was)
{
	int before = read_digit(check_marks_path), fd, err = 0;

	if (before < 0)
		return before;
	if ((before != 0) != on) {
		fd = open(check_marks_path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (write(fd, on ? "1\n" : "0\n", 2) != 2)
			err = -errno;
		close(fd);
	}
	if (!err)
		*was = before != 0;
	return err;
}

bool net_answer_strict(void)
{
	DIR *folder = opendir(CONF);
	struct dirent *entry;
	char path[sizeof(CONF) + 300];
	int all = read_digit(CONF "all/rp_filter");
	bool strict = all == 1;

	if (!folder)
		return strict;
	/* The larger of both counts; 2 is the loose form. "default" is what comes next. */
	while (!strict && all < 2 && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), CONF "%s/rp_filter", entry->d_name);
		strict =
			entry->d_name[0] != '.' && strcmp(entry->d_name, "all") != 0 && read_digit(path) == 1;
	}
	closedir(folder);
	return strict;
}
