#!/usr/bin/env bash
# The second step of action.yml: one pass. Its state is in the runner's temporary folder and
# is deleted with it: the next pass finds on GitHub what it needs.
set -euo pipefail
umask 077

export XDG_DATA_HOME=$RUNNER_TEMP/gh-mergexo-data
export PATH=$RUNNER_TEMP/gh-mergexo-bin:$PATH
mkdir -p "$XDG_DATA_HOME"

config=${GITHUB_WORKSPACE:-}/$CONFIG
if [[ $CONFIG == *$'\n'* || ! -f $config ]]; then
	if [[ $CONFIG != *'[[repo]]'* ]]; then
		echo "::error::config is neither a file of the workspace nor a config's text; check the repository out first (actions/checkout)"
		exit 1
	fi
	config=$RUNNER_TEMP/gh-mergexo-config.toml
	printf '%s\n' "$CONFIG" >"$config"
fi

set -f # what stands in args is words, and no pattern
report=$RUNNER_TEMP/gh-mergexo-report.json
code=0
gh-mergexo tick --config "$config" --wait 10m --json startedAt,endedAt,skipped,repositories,turns,merges,held,paused ${ARGS:-} >"$report" || code=$?

# The output contains people's text, so its end is marked by an unpredictable word.
end=report_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
{
	echo "report<<$end"
	cat "$report"
	echo
	echo "$end"
} >>"$GITHUB_OUTPUT"

# Four spaces make it a code block, so that no Markdown in it is interpreted.
{
	echo '### gh mergexo'
	echo
	gh-mergexo status --config "$config" 2>&1 | sed 's/^/    /' || true
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
