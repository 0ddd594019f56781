#!/bin/sh
# SPDX-License-Identifier: MIT
# The files by which a desktop finds the window are valid, and each icon that they or the programs name is there.
#
#   tests/lint/desktop.sh [SOURCE-FOLDER]

set -eu

cd "${1:-$(dirname "$0")/../..}"
desktop-file-validate packaging/desktop/*.desktop
appstreamcli validate --no-net packaging/desktop/*.metainfo.xml
count=0
for icon in $(sed -n 's/^Icon=//p' packaging/desktop/*.desktop) $(grep -rhoE '"wgtcp-[a-z]+-symbolic"' gui | tr -d '"'); do
	if [ ! -f "gui/window/icons/$icon.svg" ]; then
		echo "desktop.sh: there is no icon $icon"
		exit 1
	fi
	count=$((count + 1))
done
echo "$(ls packaging/desktop/*.desktop packaging/desktop/*.xml | wc -l) files valid, $count icons there"
