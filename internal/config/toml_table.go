// This file reads one TOML document strictly. Its tables record which keys were requested
// and reject all others; every problem has a line.

package config

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// OpenTable reads a document; name is its name in problems. Invalid TOML is an InvalidError.
func OpenTable(name, text string) (*Table, error) {
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return nil, syntaxError(name, err)
	}
	return &Table{report: &report{file: name, lines: sync.OnceValue(func() lineIndex { return indexLines(text) })}, values: values}, nil
}

func syntaxError(name string, err error) error {
	p := Problem{File: name, Text: err.Error()}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Text = pe.Position.Line, pe.Message
		if p.Text == "" {
			p.Text = strings.TrimPrefix(pe.Error(), "toml: ")
		}
	}
	p.Text = syntaxSays(p.Text)
	return &InvalidError{Problems: []Problem{p}}
}

// Table is one table of the document. Its getters record the known keys; Done then rejects all
// others.
type Table struct {
	*report
	path   string // as in lineIndex; empty for the whole document
	name   string // as people write it: [runtime], [repo.labels]
	values map[string]any
	known  []string
}

// Path is the path of the table, as At returns it for keys.
func (t *Table) Path() string { return t.path }

// at returns the path of a key, such as "repo[1].labels.design".
func (t *Table) at(key string) string { return join(t.path, key) }

// keys returns the keys in the file, sorted.
func (t *Table) keys() []string { return slices.Sorted(maps.Keys(t.values)) }

// Get returns a key's value; false if the file does not have it.
func (t *Table) Get(key string) (any, bool) {
	if t.known == nil {
		t.known = make([]string, 0, 16)
	}
	t.known = append(t.known, key)
	v, ok := t.values[key]
	return v, ok
}

// has reports whether the file has a key, without recording it: Done may still reject it, or treat
// it as misspelt.
func (t *Table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// sub returns a table inside; an empty one if the file has none.
func (t *Table) sub(key, name string) *Table {
	values, _ := typed[map[string]any](t, key, "a table: "+name, nil)
	return &Table{report: t.report, path: t.at(key), name: name, values: values}
}

// all returns the tables of an array of tables; name is how people write it.
func (t *Table) all(key, name string) []*Table {
	values, _ := typed[[]map[string]any](t, key, name+" in two brackets, as there may be several", nil)
	out := make([]*Table, 0, len(values))
	for i, v := range values {
		out = append(out, &Table{report: t.report, path: t.at(key) + "[" + strconv.Itoa(i) + "]", name: name, values: v})
	}
	return out
}

// syntaxWords translate the library's messages about invalid TOML for people who do not know TOML
// by heart.
var syntaxWords = []struct {
	theirs string // a regular expression
	ours   string
}{
	{`^expected value but found ['"][“”„‘’]`, "a quote is \" or ', not “ or ‘; write the quotes again"},
	{`^expected value but found "[A-Za-z_./~-]`, "a text stands in quotes, as in name = \"acme/greet\"; true and false are in small letters"},
	{`^expected value but found`, "a value is missing behind the ="},
	{`^strings cannot contain newlines|^unexpected EOF; expected '["\']'`, "a text in quotes does not end on its line"},
	{`^Key '(?:.*\.)?([^'.]+)' has already been defined`, "$1 stands there twice; keep one of the two"},
	{`^expected '\.' or '=', but got '(.*)' instead`, "a line is key = value; a key is followed by $1"},
	{`^unexpected '='`, "a key is missing in front of the ="},
	{`^expected '\.' or '\]' to end table name|^expected end of table array name`, "the name of a table does not end: write [name], or [[name]] for one of several (the line before)"},
	{`^expected a comma \(','\) or array terminator`, "a list is not closed by ], or lacks a comma"},
	{`^expected a comma or an inline table terminator`, "a table in braces is not closed by }, or lacks a comma"},
	{`^expected a top-level item to end with a newline.*but got '(.*)' instead`, "something stands behind the value: $1"},
	{`^invalid escape in string '(.*)'`, "in double quotes \\ begins an escape, and $1 is none; write the text in single quotes"},
	{`^(?i:invalid (?:float|integer|number|datetime)[^"']*)["'](.*)["']`, "\"$1\" is no value; a text stands in quotes"},
	{`hexadecimal digits after|^Escaped character|^invalid escape`, "in double quotes \\ begins an escape, and this is none; write the text in single quotes"},
	{`^unexpected comma`, "there is a comma too many"},
	{`^unexpected (?:end of table name|table separator)`, "the name of a table is missing between the brackets"},
	{`out of range`, "the number is too large"},
	{`^newlines not allowed`, "a table in braces does not end on its line"},
	{`control characters|^invalid UTF-8`, "there is a character that is no text; write the line again"},
	{`^unexpected EOF; expected value`, "a value is missing behind the ="},
	{`^unexpected EOF`, "the file ends within a text, a key or a list"},
}

// syntaxElse is the message about all other invalid TOML.
const syntaxElse = "this cannot be read; a line is key = value, a text stands in quotes, and [name] begins a table"

// syntaxSays returns the message about invalid TOML.
func syntaxSays(theirs string) string {
	theirs = strings.Join(strings.Fields(theirs), " ")
	for _, w := range syntaxWords {
		form := regexp.MustCompile(w.theirs) // compiled here: most runs read a valid document
		if m := form.FindStringSubmatchIndex(theirs); m != nil {
			return string(form.ExpandString(nil, w.ours, theirs, m))
		}
	}
	return syntaxElse
}

// everyTable removes the indexes of tables from a path.
func everyTable(path string) string {
	var b strings.Builder
	inside := false
	for _, r := range path {
		switch {
		case r == '[':
			inside = true
		case r == ']':
			inside = false
			b.WriteString("[]")
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

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

// done rejects the keys that nobody requested.
func (t *Table) done() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(t.known, key) {
			continue
		}
		if now := former[anyAgent(everyTable(t.at(key)))]; now != "" {
			t.bad(key, "there is no such key any more: %s; remove it", now)
			continue
		}
		if n := work.Nearest(key, t.known); n != "" {
			t.means(t.at(n))
		}
		_, isTable := t.values[key].(map[string]any)
		_, isTables := t.values[key].([]map[string]any)
		switch {
		case t.path == "" && (isTable || isTables):
			t.Add(t.at(key), "unknown table [%s]%s", key, t.suggest(key))
		case t.path == "":
			t.Add(t.at(key), "unknown key %q outside any table%s", key, t.suggest(key))
		default:
			t.Add(t.at(key), "unknown key %q in %s%s", key, t.name, t.suggest(key))
		}
	}
}

// suggest is the end of the message about an unknown key: where a key of that name belongs, or else
// the known one that is nearest.
func (t *Table) suggest(key string) string {
	if t.belongs != nil {
		if places := t.belongs(key); len(places) > 0 {
			return "; " + strings.Join(places, ", or ")
		}
	}
	switch {
	case t.path != "":
		return meant(key, t.known, "%q")
	case work.Nearest(key, t.known) == "repo":
		return "; did you mean [[repo]]?"
	}
	return meant(key, t.known, "[%s]")
}
