// This file writes configs: a new one, or an existing one with a repository added and every
// other line unchanged. It is pure and does not parse configs: callers parse its text.

package setup

import (
	"fmt"
	"slices"
	"strings"
)

// DraftRepo is a repository to add, with a person's choices.
type DraftRepo struct {
	Name         string   // owner/name, or host/owner/name
	AllowedUsers []string // who may give commands in addition to those with write permission
	Table        string   // the table of an agent that the config lacks; empty: none
	Agent        string   // the agent here if it differs from the default; empty: the default
	Reviewers    []string // built-in reviewers; empty: the default one
	Unreviewed   bool     // no reviews
}

// AddRepo returns a config with one more repository at its end. CRLF line endings are kept.
func AddRepo(text string, r DraftRepo) string {
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

// NewConfig returns a new config with one default agent.
func NewConfig(agent string, r DraftRepo) string {
	return fmt.Sprintf(`# Written by gh mergexo init. What is commented out shows its default; docs/setup.md
# has every key, and "gh mergexo config --example" prints them all.

[runtime]
agent = %s # who works: "codex", "claude", or one of [agents.*]
# workers = 2 # turns at one time, over all repositories
# sandbox = "auto" # around agents: the best there is; "required": nothing starts without one
# max_cost_per_item_usd = 25 # then an item stops until a person resumes it; 0: no limit
# max_cost_per_day_usd = 100 # of all repositories in any 24 hours; 0: no limit

`, quote(agent)) + r.block()
}

// block is the repository as TOML, after the table of its agent.
func (r DraftRepo) block() string {
	var b strings.Builder
	if r.Table != "" {
		b.WriteString(r.Table + "\n")
	}
	fmt.Fprintf(&b, "[[repo]]\nname = %s\n", quote(r.Name))
	if len(r.AllowedUsers) > 0 {
		fmt.Fprintf(&b, "allowed_users = %s # they may command beside those with write permission\n", list(r.AllowedUsers))
	} else {
		b.WriteString("# allowed_users = [] # logins that may command beside those with write permission\n")
	}
	if r.Agent != "" {
		fmt.Fprintf(&b, "agent = %s # who works here\n", quote(r.Agent))
	}
	b.WriteString("# required_tests = [] # such as [\"make\", \"test\"]: must succeed on what is pushed\n")
	b.WriteString("# setup = [] # such as [\"npm\", \"ci\"]: installs what the code needs, before a turn\n")
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

// unchangedLines is how many unchanged lines a diff shows around a change.
const unchangedLines = 3

// ConfigDiff returns the difference of two texts like diff -u, in one hunk; empty if they are
// equal.
func ConfigDiff(path, old, now string) string {
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
	from, tail := max(0, begin-unchangedLines), min(end, unchangedLines)
	before := path
	if old == "" {
		before = "/dev/null"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n@@ -%s +%s @@\n", before, path, span(from, len(was)-end+tail), span(from, len(is)-end+tail)) +
		marked(" ", was[from:begin]) + marked("-", was[begin:len(was)-end]) + marked("+", is[begin:len(is)-end]) + marked(" ", was[len(was)-end:len(was)-end+tail])
}

// span formats a range of lines for a hunk's header.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// marked returns lines of a hunk with their mark.
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
