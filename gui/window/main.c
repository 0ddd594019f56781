/* SPDX-License-Identifier: MIT */
/* wgtcp-gui: the language, then the program. */
#include "gui/model/translate.h"
#include "gui/window/app.h"

#include <locale.h>

int main(int argc, char **argv)
{
	/* Tests run from a build folder. */
	const char *folder = g_getenv("WGTCP_LOCALE_DIR");

	setlocale(LC_ALL, "");
	bindtextdomain(TRANSLATE_DOMAIN, folder ? folder : WGTCP_LOCALE_DIR);
	bind_textdomain_codeset(TRANSLATE_DOMAIN, "UTF-8");
	textdomain(TRANSLATE_DOMAIN);
	return app_run(argc, argv);
}
