/* SPDX-License-Identifier: MIT */
#include "gui/model/service.h"

#include "gui/model/translate.h"

#include <errno.h>
#include <stdio.h>

enum service_state service_state_of(int err)
{
	switch (-err) {
	case 0:
		return SERVICE_READY;
	case ENOENT:
	case ECONNREFUSED:
		return SERVICE_NOT_RUNNING;
	case EPIPE:
	case ECONNRESET:
		return SERVICE_LOST;
	case EACCES:
	case EPERM:
		return SERVICE_FORBIDDEN;
	case EPROTO:
	case EMSGSIZE:
	case ENOTSOCK:
		return SERVICE_INCOMPATIBLE;
	default:
		return SERVICE_BROKEN;
	}
}

struct service_words service_words(enum service_state state)
{
	struct service_words words = { "", "", "" };

	switch (state) {
	case SERVICE_CONNECTING:
		words.title = _("Connecting to the service…");
		break;
	case SERVICE_READY:
		break;
	case SERVICE_NOT_RUNNING:
		words.title = _("The service is not running");
		words.text = _("wgtcpd makes the connections; this window only shows them. An administrator starts it "
			       "with this command. The window goes on by itself as soon as it runs.");
		words.command = "sudo systemctl start wgtcpd";
		break;
	case SERVICE_LOST:
		words.title = _("The service has stopped");
		words.text = _("wgtcpd ended while this window was open. It may come back by itself; else an "
			       "administrator starts it with this command.");
		words.command = "sudo systemctl restart wgtcpd";
		break;
	case SERVICE_FORBIDDEN:
		words.title = _("You may not use the service");
		words.text = _("Only members of the group wgtcp may. An administrator adds you with this command; it holds "
			       "from your next login on.");
		break;
	case SERVICE_INCOMPATIBLE:
		words.title = _("The service speaks another language");
		words.text = _("This window and wgtcpd are not of the same release. Install both anew, then start the service "
			       "again.");
		words.command = "sudo systemctl restart wgtcpd";
		break;
	case SERVICE_BROKEN:
		words.title = _("The service cannot be reached");
		words.text = _("The log of the system may say why.");
		words.command = "journalctl -u wgtcpd";
		break;
	}
	return words;
}

void service_group_command(const char *user, char *out, size_t size)
{
	snprintf(out, size, "sudo usermod -aG wgtcp %s", user);
}
