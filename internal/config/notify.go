package config

import (
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// Notify is one [[notify]] table: a program that gets messages.
type Notify struct {
	Name    string   `toml:"name" show:"chat" required:"name = \"chat\", or another word" words:"name of the target in status and in the log"`
	Command []string `toml:"command" show:"[\"/usr/local/bin/tell\"]" required:"command = [\"/path/to/program\"], which gets each message on standard input" words:"the program and its arguments, without a shell"`
	EnvPass []string `toml:"env_pass" words:"environment variables it gets beside PATH, HOME, locale and temporary folder, such as [\"SLACK_WEBHOOK\"]"`
}

// Targets returns the names of all [[notify]] tables.
func (c *Config) Targets() []string {
	all := make([]string, len(c.Notify))
	for i, n := range c.Notify {
		all[i] = n.Name
	}
	return all
}

// NotifyDoubts returns the variables that [[notify]] names and this environment lacks.
func (c *Config) NotifyDoubts(env environ.Env) []string {
	var all []string
	for _, n := range c.Notify {
		for _, name := range n.EnvPass {
			if _, ok := env.Lookup(name); !ok {
				all = append(all, "[[notify]] "+n.Name+" names "+name+", which is not set in this environment")
			}
		}
	}
	return all
}

// notify checks a [[notify]] table.
func (p *parser) notify(i int) {
	n, t := p.config.Notify[i], p.at("notify["+strconv.Itoa(i)+"]")
	switch {
	case !t.has("name"):
	case !agentName().MatchString(n.Name):
		t.bad("name", "%q is no name; want letters, digits, - and _, at most 40", n.Name)
	case slices.ContainsFunc(p.config.Notify[:i], func(o Notify) bool { return o.Name == n.Name }):
		t.bad("name", "there are two [[notify]] named %q", n.Name)
	}
	p.checkPassed(t, n.EnvPass, "a program for messages needs no GitHub, git or SSH credentials")
	if t.has("command") {
		p.checkProgram(t, "command", n.Command, `["/usr/local/bin/tell"]`)
	}
}
