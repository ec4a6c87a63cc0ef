//go:build unix

package story

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// configFile is a story's config.toml: sections in the order of their making,
// written again after each change. What no key sets is in timings.
type configFile struct {
	path     string
	sections []*configSection
	timings  [][2]string
}

// timingsVariable has the timings of a story for its programs.
const timingsVariable = "MERGEXO_TIMINGS"

// timings are the waits and limits that no key sets: see config.Timings.
var timings = []string{
	"idle_timeout", "retry_base", "quiet_period", "min_interval", "ingest_timeout", "settle_after", "remind_after", "fallback_after",
	"test_timeout", "setup_timeout", "checks_timeout", "max_turns_per_pass", "max_events_per_turn", "max_processes", "log_max_size",
	"max_files", "max_file_bytes", "max_feedback_rounds", "max_tokens_per_turn",
}

// setTiming gives a timing its value; an empty value takes it out.
func (c *configFile) setTiming(name, value string) {
	c.timings = slices.DeleteFunc(c.timings, func(t [2]string) bool { return t[0] == name })
	if value != "" {
		c.timings = append(c.timings, [2]string{name, value})
	}
}

// timed is the value of timingsVariable.
func (c *configFile) timed() string {
	var all []string
	for _, t := range c.timings {
		all = append(all, t[0]+"="+t[1])
	}
	return strings.Join(all, ",")
}

type configSection struct {
	name  string // "runtime", "agents.scripted", "repo:owner/name", "repo:owner/name.review", "repo:owner/name.reviewers:quinn", "notify:chat"
	lines [][2]string
}

// set gives a key of a section its value; an empty value takes the key out.
func (c *configFile) set(name, key, value string) {
	s := c.section(name)
	at := slices.IndexFunc(s.lines, func(l [2]string) bool { return l[0] == key })
	switch {
	case at < 0 && value != "":
		s.lines = append(s.lines, [2]string{key, value})
	case at >= 0 && value == "":
		s.lines = slices.Delete(s.lines, at, at+1)
	case at >= 0:
		s.lines[at][1] = value
	}
}

// section finds or makes a section. "repo" alone is the first repository; the tables
// of a repository stand right behind it, in the order of their making.
func (c *configFile) section(name string) *configSection {
	if rest, ok := strings.CutPrefix(name, "repo"); ok && !strings.HasPrefix(rest, ":") {
		name = c.firstRepo() + rest
	}
	if at := c.find(name); at >= 0 {
		return c.sections[at]
	}
	s := &configSection{name: name}
	at := len(c.sections)
	if repo, _, nested := cutTable(name); nested {
		for at = 1 + c.find(repo); at < len(c.sections) && strings.HasPrefix(c.sections[at].name, repo+"."); at++ {
		}
	}
	if target, ok := strings.CutPrefix(name, "notify:"); ok {
		s.lines = [][2]string{{"name", target}}
	}
	if _, reviewer, ok := strings.Cut(name, ".reviewers:"); ok {
		s.lines = [][2]string{{"name", reviewer}}
	}
	c.sections = slices.Insert(c.sections, at, s)
	return s
}

func (c *configFile) has(name string) bool { return c.find(name) >= 0 }

func (c *configFile) find(name string) int {
	return slices.IndexFunc(c.sections, func(s *configSection) bool { return s.name == name })
}

func (c *configFile) firstRepo() string {
	for _, s := range c.sections {
		if strings.HasPrefix(s.name, "repo:") {
			return s.name
		}
	}
	panic("no repository in the config")
}

// cutTable cuts "repo:owner/name.review" into the repository and its table.
func cutTable(name string) (repo, table string, nested bool) {
	if !strings.HasPrefix(name, "repo:") {
		return "", "", false
	}
	dot := strings.LastIndex(name, ".")
	if dot < strings.Index(name, "/") {
		return name, "", false
	}
	return name[:dot], name[dot+1:], true
}

var bare = regexp.MustCompile(`^(true|false|-?[0-9.]+|\[.*\]|".*"|'.*')$`)

func (c *configFile) write() error {
	var b strings.Builder
	for _, s := range c.sections {
		switch _, table, nested := cutTable(s.name); {
		case nested && strings.HasPrefix(table, "reviewers:"):
			b.WriteString("[[repo.reviewers]]\n")
		case nested:
			fmt.Fprintf(&b, "[repo.%s]\n", table)
		case strings.HasPrefix(s.name, "repo:"):
			b.WriteString("[[repo]]\n")
		case strings.HasPrefix(s.name, "notify:"):
			b.WriteString("[[notify]]\n")
		default:
			fmt.Fprintf(&b, "[%s]\n", s.name)
		}
		for _, l := range s.lines {
			value := l[1]
			if !bare.MatchString(value) {
				value = strconv.Quote(value)
			}
			fmt.Fprintf(&b, "%s = %s\n", l[0], value)
		}
		b.WriteString("\n")
	}
	return os.WriteFile(c.path, []byte(b.String()), 0o600)
}
