package config

// former says of each key that earlier versions read what happens instead.
var former = map[string]string{
	"schedule": "weights are fixed: priority counts, the risk of conflicts counts against, and who waits longer comes first",

	"runtime.idle_timeout":                 "an agent without activity is stopped after 10 minutes",
	"runtime.retry_base":                   "what failed is tried again after 1, 2, 4 … minutes",
	"runtime.quiet_period":                 "comments are answered once there was no new one for a minute",
	"runtime.min_interval":                 "GitHub is read every 10 seconds at most",
	"runtime.ingest_timeout":               "after 15 seconds the next pass continues reading a repository",
	"runtime.settle_after":                 "a request without an answer is sent again after a minute",
	"runtime.remind_after":                 "what waits for people gets a comment after 24 hours",
	"runtime.max_turns_per_pass":           "a pass starts 20 turns at most",
	"runtime.max_events_per_turn":          "a turn answers 50 comments at most",
	"runtime.max_feedback_rounds":          "20 turns of an item answer comments at most",
	"runtime.max_tokens_per_turn":          "a turn is stopped at 100 million tokens; max_cost_per_turn_usd stops it earlier",
	"runtime.max_processes":                "a run has 2000 processes at most; max_memory bounds it, too",
	"runtime.log_max_size":                 "logs have 1 GiB at most",
	"runtime.enable_feedback_loop":         "comments are answered; to stop that for an item, pause it",
	"runtime.enable_issue_comment_routing": "a comment on the issue of an open pull request is answered with a link to it; /mergexo pause stops an item",
	"runtime.overlap":                      "passes share the free slots; workers = 1 allows one turn at a time",
	"runtime.accounts":                     "account = \"LOGIN\" in [[repo]] names the account of passes; write that instead",
	"runtime.database_env":                 `write database = "$NAME", with the name of the variable, instead`,

	"agents.*.session":                     "an agent continues its session from turn to turn",
	"agents.*.fallback_after":              "the fallback works once the provider is out for 30 minutes",
	"agents.*.sandbox":                     "sandbox in [runtime] is that of all agents",
	"agents.*.readable":                    "readable in [runtime] is for all agents",
	"agents.*.usd_per_million.cache_write": "what is written to a cache costs as input",

	"repo[].keep_ignored":   "ignored files go between turns; setup makes again what the tests need",
	"repo[].checks":         "a turn starts once all checks have finished, or after an hour",
	"repo[].max_files":      "a push changes 1000 files at most",
	"repo[].max_file_bytes": "a changed file has 10 MiB at most",
	"repo[].test_timeout":   "the required tests have 15 minutes",
	"repo[].setup_timeout":  "the set-up has 15 minutes",
	"repo[].labels":         "label_prefix in [[repo]] begins the names of all labels; rename those on GitHub, as issues with other ones start nothing",
	"repo[].agents":         "agent and review_agent in [[repo]] name the agents; write those instead",

	"repo[].voice.author":    "commits are by git's user.name and user.email, or by gh's account",
	"repo[].voice.committer": "commits are by git's user.name and user.email, or by gh's account",
	"repo[].voice.trailers":  "commits name their agent in Assisted-by, unless disclosure is false",
	"repo[].voice.spending":  "GitHub is told no costs; gh mergexo report cost has them",

	"repo[].review.keep_approvals_on_base_merge": "each new head is reviewed again",
	"repo[].review.checks_timeout":               "a person is asked when a required check has not reported for an hour",
	"repo[].review.max_merge_lines":              "critical_paths or require_human_approval ask for a person",
	"repo[].review.delete_branch":                "the setting of the repository on GitHub decides",
	"repo[].review.watch_base":                   landedOnce,
	"repo[].review.revert_on_red":                landedOnce,

	"repo[].reviewers[].type":         "a reviewer with a login is a person",
	"repo[].reviewers[].persona_file": `persona has the text itself, between """ on several lines; write that instead`,

	"notify[].webhook":    "command gets the message; write that instead: share/notify in the repository has a script with curl",
	"notify[].secret_env": "command gets the message; env_pass names the variables that it sees",
	"notify[].kinds":      "command gets every message, and may leave out some by their event",
}

const landedOnce = "what landed is compared once, when it is seen"
