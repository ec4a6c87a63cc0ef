package config

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Notify is one [[notify]] table: a program that gets messages.
type Notify struct {
	Name    string
	Command []string // program and arguments
	EnvPass []string // names of variables that the program sees in addition to the allow-list
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

var notifyName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// notifyKeys are the keys of [[notify]].
func notifyKeys(n *Notify) []key {
	return []key{
		textKey("name", &n.Name, "").says("name of the target in status and in the log").shown(`"chat"`).must(),
		textsKey("command", &n.Command).says("the program and its arguments, without a shell").shown(`["/usr/local/bin/tell"]`).must(),
		textsKey("env_pass", &n.EnvPass).says(`environment variables it gets beside PATH, HOME, locale and temporary folder, such as ["SLACK_WEBHOOK"]`),
	}
}

// notify reads one [[notify]] table.
func (p *parser) notify(t *Table) {
	var n Notify
	readKeys(t, notifyKeys(&n))
	t.done()
	twin := slices.ContainsFunc(p.config.Notify, func(o Notify) bool { return o.Name == n.Name })
	switch {
	case !t.has("name"):
		t.missing("name", `missing; write name = "chat", or another word`)
	case !notifyName().MatchString(n.Name):
		t.bad("name", "%q is no name; want letters, digits, - and _, at most 40", n.Name)
	case twin:
		t.bad("name", "there are two [[notify]] named %q", n.Name)
	}
	for _, v := range n.EnvPass {
		if !variableName().MatchString(v) {
			t.bad("env_pass", "%q is no name of a variable", v)
		}
		if environ.Withheld(v) {
			t.bad("env_pass", "%s is never passed: a program for messages needs no GitHub, git or SSH credentials", v)
		}
		p.checkPassed(t, v)
	}
	switch a := (Agent{Command: n.Command}); {
	case !t.has("command"):
		t.missing("command", `missing; write command = ["/path/to/program"], which gets each message on standard input`)
	default:
		p.checkCommand(t, &a)
		n.Command = a.Command
	}
	p.config.Notify = append(p.config.Notify, n)
}
