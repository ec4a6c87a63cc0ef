package config

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// Notify is one [[notify]] table: a notification target outside of GitHub.
type Notify struct {
	news.Target
	Command   []string // program and arguments; empty: use Webhook
	EnvPass   []string // names of variables that the program sees in addition to the allow-list
	Webhook   string
	SecretEnv string // variable with the key that signs messages; empty: unsigned
}

// Targets returns the targets of all [[notify]] tables.
func (c *Config) Targets() []news.Target {
	all := make([]news.Target, len(c.Notify))
	for i, n := range c.Notify {
		all[i] = n.Target
	}
	return all
}

// NotifyDoubts returns the variables that [[notify]] names and this environment lacks.
func (c *Config) NotifyDoubts(env environ.Env) []string {
	var all []string
	for _, n := range c.Notify {
		for _, name := range append(slices.Clone(n.EnvPass), n.SecretEnv) {
			if _, ok := env.Lookup(name); !ok && name != "" {
				all = append(all, "[[notify]] "+n.Name+" names "+name+", which is not set in this environment")
			}
		}
	}
	return all
}

var notifyName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// notifyKeys are the keys of [[notify]].
func notifyKeys(n *Notify) []key {
	isCommand := len(n.Command) > 0
	return []key{
		textKey("name", &n.Name, ""),
		textsKey("command", &n.Command).only(isCommand),
		textsKey("env_pass", &n.EnvPass).only(isCommand),
		textKey("webhook", &n.Webhook, "").only(!isCommand),
		textKey("secret_env", &n.SecretEnv, "").only(!isCommand),
		ownKey("kinds", func(t *Table) { n.Kinds = notifyKinds(t) }, func() any { return orEmpty(n.Kinds) }),
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
	if v := n.SecretEnv; v != "" && !variableName().MatchString(v) {
		t.bad("secret_env", "%q is no name of a variable", v)
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
	p.checkNotifyWay(t, &n)
	p.config.Notify = append(p.config.Notify, n)
}

// checkNotifyWay checks that a target has either a command or a webhook.
func (p *parser) checkNotifyWay(t *Table, n *Notify) {
	switch {
	case t.has("command") == t.has("webhook"):
		t.bad("command", `write either command = ["/path/to/program"] or webhook = "https://…"`)
	case t.has("command"):
		a := Agent{Command: n.Command}
		p.checkCommand(t, &a)
		n.Command = a.Command
		if t.has("secret_env") {
			t.bad("secret_env", "is for a webhook; a command gets the message on standard input")
		}
	default:
		checkWebhook(t, n.Webhook)
		if t.has("env_pass") {
			t.bad("env_pass", "is for a command; what is posted to a webhook is signed with the variable that secret_env names")
		}
	}
}

// notifyKinds reads the kinds of messages; without the key, all.
func notifyKinds(t *Table) []news.Kind {
	if !t.has("kinds") {
		t.Get("kinds")
		return news.All()
	}
	var names []string
	for _, w := range news.All() {
		names = append(names, string(w))
	}
	var kinds []news.Kind
	for _, name := range t.texts("kinds") {
		if !slices.Contains(names, name) {
			t.bad("kinds", "unknown kind %q%s; there are %s", name, meant(name, names, "%q"), strings.Join(names, ", "))
		}
		kinds = append(kinds, news.Kind(name))
	}
	return kinds
}

// checkWebhook keeps messages from crossing the network as plain text. No error repeats the URL: it
// often contains a password.
func checkWebhook(t *Table, address string) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		t.bad("webhook", `is no address; want one that begins with https://`)
	case u.User != nil:
		t.bad("webhook", "contains a user name or password; sign with secret_env, or use a command")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		t.bad("webhook", "would send messages as plain text; write https://")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
