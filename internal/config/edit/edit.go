// Package edit writes configs: one to begin with, and a repository more in one that is
// there, of which every line stays as it was. It is pure, and reads no config: whoever
// takes its text parses it first.
package edit

import (
	"fmt"
	"slices"
	"strings"
)

// Repo is a repository to be added, as a person chose it.
type Repo struct {
	Name         string   // owner/name, or host/owner/name
	AllowedUsers []string // who may command beside those with write permission
	Agent        string   // who works here, where that is another one than elsewhere; empty: no other
	Kinds        []string // what an agent can be named for
	Reviewers    []string // built-in reviewers; empty: the one there is without a table
	Unreviewed   bool     // nothing is reviewed
}

// Add gives a config with one repository more, at its end. A file that ends its lines as
// Windows does stays one.
func Add(text string, r Repo) string {
	block, end := r.block(), "\n"
	if strings.Contains(text, "\r\n") {
		block, end = strings.ReplaceAll(block, "\n", "\r\n"), "\r\n"
	}
	switch {
	case strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")) == "":
		return text + block
	case !strings.HasSuffix(text, "\n"):
		return text + end + end + block
	case strings.HasSuffix(text, "\n\n"), strings.HasSuffix(text, "\r\n\r\n"):
		return text + block
	}
	return text + end + block
}

// New is a config to begin with, in which an agent works everywhere.
func New(agent string, r Repo) string {
	return fmt.Sprintf(`# Written by gh mergexo init. What is commented out shows its default; docs/setup.md
# has every key, and "gh mergexo config --example" prints them all.

[runtime]
agent = %s # who works: "codex", "claude", or one of [agents.*]
# workers = 2 # turns at one time, over all repositories
# sandbox = "auto" # around agents: the best there is; "required": nothing starts without one
# quiet_period = "1m" # a burst of comments is answered once it is over for this long
# max_cost_per_item_usd = 25 # then an item stops until a person resumes it; 0: no limit
# max_cost_per_day_usd = 100 # of all repositories in any 24 hours; 0: no limit

`, quote(agent)) + r.block()
}

// block is the repository as TOML.
func (r Repo) block() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[[repo]]\nname = %s\n", quote(r.Name))
	if len(r.AllowedUsers) > 0 {
		fmt.Fprintf(&b, "allowed_users = %s # they may command beside those with write permission\n", list(r.AllowedUsers))
	} else {
		b.WriteString("# allowed_users = [] # logins that may command beside those with write permission\n")
	}
	b.WriteString("# required_tests = [] # such as [\"make\", \"test\"]: must succeed on what is pushed\n")
	if r.Agent != "" {
		b.WriteString("\n[repo.agents] # who works here\n")
		for _, kind := range r.Kinds {
			fmt.Fprintf(&b, "%s = %s\n", kind, quote(r.Agent))
		}
	}
	b.WriteString("\n[repo.review] # pull requests are reviewed before people spend time on them\n")
	if r.Unreviewed {
		b.WriteString("enabled = false\n")
	} else {
		b.WriteString("# enabled = true\n# auto_merge = false # true: what all reviewers approved is merged, at that commit\n")
	}
	for _, name := range r.Reviewers {
		fmt.Fprintf(&b, "\n[[repo.reviewers]]\nname = %s\n", quote(name))
	}
	return b.String()
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// context is how many lines a difference shows around what changes.
const context = 3

// Diff is what changes from one text to another as diff -u shows it; empty where nothing
// does. It has one hunk.
func Diff(path, old, now string) string {
	if old == now {
		return ""
	}
	was, is := slices.Collect(strings.Lines(old)), slices.Collect(strings.Lines(now))
	begin := 0
	for begin < min(len(was), len(is)) && was[begin] == is[begin] {
		begin++
	}
	end := 0
	for end < min(len(was), len(is))-begin && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	from, tail := max(0, begin-context), min(end, context)
	before := path
	if old == "" {
		before = "/dev/null"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n@@ -%s +%s @@\n", before, path, span(from, len(was)-end+tail), span(from, len(is)-end+tail)) +
		marked(" ", was[from:begin]) + marked("-", was[begin:len(was)-end]) + marked("+", is[begin:len(is)-end]) + marked(" ", was[len(was)-end:len(was)-end+tail])
}

// span names lines as a hunk's header does.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// marked are lines of a hunk.
func marked(mark string, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return b.String()
}
