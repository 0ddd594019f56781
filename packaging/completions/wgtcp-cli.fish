# SPDX-License-Identifier: MIT
# fish completion for wgtcp-cli(1), which says itself what may come next.

function __wgtcp_cli_complete
	set -l words (commandline -opc)
	set -l candidates ($words[1] complete $words[2..-1] (commandline -ct) 2>/dev/null)
	if test "$candidates[1]" = ":file"
		__fish_complete_path (commandline -ct)
	else
		string join \n -- $candidates
	end
end

complete -c wgtcp-cli -f -a "(__wgtcp_cli_complete)"
