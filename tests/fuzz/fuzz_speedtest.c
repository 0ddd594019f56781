/* SPDX-License-Identifier: MIT */
/* iperf3's report; the first byte says which way was measured. */
#include "client/speedtest/report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct speedtest_flow *flow)
{
	assert(flow->lost <= flow->packets);
	assert(flow->present || (!flow->bps && !flow->has_loss));
	assert(flow->bps <= 1000000000000000u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct speedtest_report report;
	char *text;

	if (!size)
		return 0;
	text = malloc(size); /* to the byte, so that a read beyond it is seen */
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	speedtest_report_read(text, size - 1, (enum speedtest_direction)(data[0] % 3), &report);
	look(&report.down);
	look(&report.up);
	assert(report.trouble != SPEEDTEST_FINE || report.down.present || report.up.present);
	assert(memchr(report.text, 0, sizeof(report.text)));
	for (const char *p = report.text; *p; p++)
		assert(*p >= ' ' && *p < 127);
	free(text);
	return 0;
}
