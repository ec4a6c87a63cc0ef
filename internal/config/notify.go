package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// Notify is one [[notify]] table: who is told outside of GitHub, and how.
type Notify struct {
	news.Target
	Command   []string // program and arguments; empty: it is an address
	EnvPass   []string // names of variables that the program sees beside the allow-list
	URL       string
	SecretEnv string // the variable that has the key which signs what is posted; empty: nothing is signed
	AllowHTTP bool   // to another machine than this one
	Timeout   time.Duration
}

// Targets are those who are told.
func (c *Config) Targets() []news.Target {
	all := make([]news.Target, len(c.Notify))
	for i, n := range c.Notify {
		all[i] = n.Target
	}
	return all
}

// NotifyDoubts are the variables that [[notify]] names and this environment does not have.
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

// The limits of [[notify]].
const (
	defaultNotifyTimeout = 10 * time.Second
	mostNotifyTimeout    = time.Minute
	defaultFailingPasses = 3
)

var notifyName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// notifyKeys are those of [[notify]].
func (p *parser) notifyKeys(n *Notify) []key {
	isCommand := len(n.Command) > 0
	return []key{
		textKey("name", &n.Name, ""),
		textsKey("command", &n.Command).only(isCommand),
		textsKey("env_pass", &n.EnvPass).only(isCommand),
		textKey("url", &n.URL, "").only(!isCommand),
		textKey("secret_env", &n.SecretEnv, "").only(!isCommand),
		flagKey("allow_http", &n.AllowHTTP, false).only(!isCommand),
		ownKey("on", func(t *document.Table) { n.On = p.notifyOn(t) }, func() any { return orEmpty(n.On) }),
		countKey("failing_passes", &n.FailingPasses, defaultFailingPasses, 1, 1000),
		durationKey("timeout", &n.Timeout, defaultNotifyTimeout, 100*time.Millisecond),
	}
}

func (p *parser) notify(t *document.Table) {
	var n Notify
	readKeys(t, p.notifyKeys(&n))
	t.Done()
	switch twin := slices.IndexFunc(p.config.Notify, func(o Notify) bool { return o.Name == n.Name }); {
	case !t.Has("name"):
		t.Missing("name", `missing; write name = "chat", or another word`)
	case !notifyName().MatchString(n.Name):
		t.Bad("name", "%q is no name; want letters, digits, - and _, at most 40", n.Name)
	case twin >= 0:
		t.Bad("name", "there are two [[notify]] named %q", n.Name)
	}
	if n.Timeout > mostNotifyTimeout {
		t.Bad("timeout", "want at most %s: passes do not wait for messages", short(mostNotifyTimeout))
	}
	if v := n.SecretEnv; v != "" && !variableName().MatchString(v) {
		t.Bad("secret_env", "%q is no name of a variable", v)
	}
	for _, v := range n.EnvPass {
		if !variableName().MatchString(v) {
			t.Bad("env_pass", "%q is no name of a variable", v)
		}
		if environ.Withheld(v) {
			t.Bad("env_pass", "%s is never passed: what tells people needs no GitHub, git or SSH credentials", v)
		}
	}
	p.checkNotifyWay(t, &n)
	p.config.Notify = append(p.config.Notify, n)
}

// notifyOn reads what is told; without the key it is everything.
func (p *parser) notifyOn(t *document.Table) []news.What {
	if !t.Has("on") {
		t.Get("on")
		return news.All()
	}
	var names []string
	for _, w := range news.All() {
		names = append(names, string(w))
	}
	var on []news.What
	for _, name := range t.Texts("on") {
		if !slices.Contains(names, name) {
			t.Bad("on", "%q is nothing to tell%s; there are %s", name, document.Meant(name, names, "%q"), strings.Join(names, ", "))
		}
		on = append(on, news.What(name))
	}
	return on
}

// checkNotifyWay checks how a target is reached: by a command or an address.
func (p *parser) checkNotifyWay(t *document.Table, n *Notify) {
	switch {
	case t.Has("command") == t.Has("url"):
		t.Bad("command", `write either command = ["/path/to/program"] or url = "https://…"`)
	case t.Has("command"):
		a := Agent{Command: n.Command}
		p.checkCommand(t, &a)
		n.Command = a.Command
		for _, key := range []string{"secret_env", "allow_http"} {
			if t.Has(key) {
				t.Bad(key, "is for an address; a command gets the message on standard input")
			}
		}
	default:
		checkAddress(t, n)
		if t.Has("env_pass") {
			t.Bad("env_pass", "is for a command; what is posted to an address is signed with the variable that secret_env names")
		}
	}
}

// checkAddress keeps messages from going over the network as plain text, unless the
// operator wants that. The address is not repeated: it is often a password.
func checkAddress(t *document.Table, n *Notify) {
	u, err := url.Parse(n.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		t.Bad("url", `is no address; want one that begins with https://`)
	case u.User != nil:
		t.Bad("url", "holds a user name or password; sign with secret_env, or use a command")
	case u.Scheme == "http" && !n.AllowHTTP && !loopback(u.Hostname()):
		t.Bad("url", "would send messages as plain text; write https://, or allow_http = true for a network that you trust")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
