# SPDX-License-Identifier: MIT
# bash completion for wgtcp-cli(1), which says itself what may come next.

_wgtcp_cli()
{
	local word line words
	# bash cuts words at "=", which settings hold.
	line=${COMP_LINE:0:COMP_POINT}
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	word=${words[-1]}
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :file ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		if [[ $word == *=* ]]; then
			line=${line#"${word%=*}="}
		fi
		[[ $line == *= ]] && compopt -o nospace
		COMPREPLY+=("$line")
	done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
}
complete -F _wgtcp_cli wgtcp-cli
