package config

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// agentNameForm is the regular expression of agents' names.
const agentNameForm = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`

var (
	agentName    = lazy.Regexp(agentNameForm)
	variableName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const adapterWords = `"codex", "claude", "acp" for a program that speaks the Agent Client Protocol (docs/agents.md), or "command" for one that uses the protocol there`

// agentKeys are the keys of [agents.NAME].
func (p *parser) agentKeys(a *Agent) []key {
	known := !slices.Contains(withCommand, a.Adapter) // a known command line accepts an effort and arguments
	return []key{
		of(textKey("adapter", &a.Adapter, a.Adapter), AdapterCodex, AdapterClaude, AdapterACP, AdapterCommand).says(adapterWords),
		ownKey("command", func(t *Table) { a.Command = t.texts("command") }, func() any {
			if known && len(a.Command) == 0 {
				return []string{a.Adapter}
			}
			return a.Command
		}).says("the program: an absolute path, a path that begins with ~/, or a name on PATH"),
		textKey("model", &a.Model, "").says("default: that of the program").only(a.Adapter != AdapterCommand),
		textKey("effort", &a.Effort, "").says(`how hard the model thinks, in the program's words, such as "high"`).only(known),
		textsKey("args", &a.Args).says(`further arguments, such as ["-c", "sandbox_workspace_write.network_access=true"]`).only(known),
		textsKey("env_pass", &a.EnvPass).says("environment variables it gets beside PATH, HOME, locale, temporary folder and CODEX_HOME, such as its key"),
		textKey("fallback", &a.Fallback, "").says("another agent, which works in its place once its provider is out for 30 minutes"),
		ownKey("writable", func(t *Table) { a.Writable = p.letIn(t, "writable") }, func() any { return orEmpty(a.Writable) }).says("folders it may write in the sandbox, beside its checkout and its own home"),
	}
}

// pricesKeys are the keys of usd_per_million. What is read from a cache costs as much as other input
// unless the table has its price.
func pricesKeys(p *spending.Prices) []key {
	const most = 1e6
	return []key{
		numberKey("input", &p.Input, 0, most).says("what is read for the first time, and what is written to a cache").must(),
		numberKey("cached", &p.CacheRead, p.Input, most).says("what is read from a cache; default: as input"),
		numberKey("output", &p.Output, 0, most).says("what is written").must(),
	}
}

// agent reads one [agents.NAME] table. If NAME is a known command line, the adapter may be omitted.
func (p *parser) agent(t *Table, name string) {
	implied := ""
	if slices.Contains(builtIn, name) {
		implied = name
	}
	a := Agent{Name: name, Adapter: implied}
	readKeys(t, p.agentKeys(&a))
	a.Prices = prices(t)
	nested(t, "writable", slices.Concat(p.config.Runtime.Readable, a.Writable), a.Writable)
	t.done()
	if !agentName().MatchString(name) {
		p.Add(t.Path(), "agent name %q: want letters, digits, - and _, at most 40", name)
	}
	p.checkAdapter(t, &a)
	p.config.Agents[name] = a
	for _, v := range a.EnvPass {
		switch {
		case !variableName().MatchString(v):
			t.bad("env_pass", "%q is no name of a variable", v)
		case environ.Withheld(v):
			t.bad("env_pass", "%s is never passed: agents hold no GitHub, git or SSH credentials", v)
		default:
			p.checkPassed(t, v)
		}
	}
}

// prices reads the prices of an agent's tokens. Without a price for cached input, all input costs
// the full price: the sum is never too low.
func prices(t *Table) *spending.Prices {
	const key = "usd_per_million"
	v, written := t.Get(key)
	if !written {
		return nil
	}
	if _, isTable := v.(map[string]any); !isTable {
		t.bad(key, "want prices such as { input = 1.25, cached = 0.125, output = 10 }, got %s", typeName(v))
		return nil
	}
	p := t.sub(key, key)
	for _, required := range []string{"input", "output"} {
		if !p.has(required) {
			t.bad(key, "%s is missing; write such as { input = 1.25, cached = 0.125, output = 10 }", required)
		}
	}
	var all spending.Prices
	for i := range pricesKeys(&all) {
		readKeys(p, pricesKeys(&all)[i:i+1]) // earlier prices are its default
	}
	p.done()
	all.CacheWrite = all.Input
	return &all
}

// checkAdapter checks what an adapter needs and what it does not support.
func (p *parser) checkAdapter(t *Table, a *Agent) {
	switch a.Adapter {
	case AdapterCommand:
		p.checkCommand(t, a)
		p.onlyInCommand(t, a, "model", "effort", "args")
	case AdapterACP:
		p.checkCommand(t, a)
		p.onlyInCommand(t, a, "effort", "args")
		p.checkNames(t, a)
	case AdapterCodex, AdapterClaude:
		if t.has("command") {
			p.checkCommand(t, a)
		}
		p.checkNames(t, a)
		p.checkArgs(t, a)
	case "":
		t.missing("adapter", `missing; write adapter = "codex", "claude", or "acp" or "command" with command = ["/path/to/program"]`)
	default:
		t.bad("adapter", `unknown adapter %q%s (there are "codex", "claude", "acp" and "command"; `+"`gh mergexo config agents`"+` lists programs of "acp")`, a.Adapter, meant(a.Adapter, []string{AdapterCodex, AdapterClaude, AdapterACP, AdapterCommand}, "%q"))
	}
}

// withCommand are the adapters that start the program that command names.
var withCommand = []string{AdapterACP, AdapterCommand}

// onlyInCommand refuses keys of which the program's arguments take the place.
func (*parser) onlyInCommand(t *Table, a *Agent, keys ...string) {
	for _, key := range keys {
		if t.has(key) {
			t.bad(key, "the program of adapter %q gets its arguments from command; remove the line", a.Adapter)
		}
	}
}

func (*parser) checkNames(t *Table, a *Agent) {
	for key, value := range map[string]string{"model": a.Model, "effort": a.Effort} {
		if strings.HasPrefix(value, "-") || strings.ContainsFunc(value, unicode.IsControl) {
			t.bad(key, "%q is no name", value)
		}
	}
}

// dangerous are arguments that would let an agent out of its checkout, or that select another
// session than the turn's.
var dangerous = []string{
	"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--trust", "--yolo", "--ephemeral", "--output-schema", "--json",
	"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--no-session-persistence", "--json-schema", "--output-format", "--resume", "--continue", "--session-id", "--fork-session",
}

func (p *parser) checkArgs(t *Table, a *Agent) {
	for _, arg := range a.Args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case strings.ContainsRune(arg, 0):
			t.bad("args", "%q holds a NUL character", arg)
		case slices.Contains(dangerous, name):
			t.bad("args", "%s is not for unattended turns, or is given by gh mergexo; remove it", name)
		}
	}
}

func (p *parser) checkCommand(t *Table, a *Agent) {
	if len(a.Command) == 0 || strings.TrimSpace(a.Command[0]) == "" {
		example := `["/usr/local/bin/my-agent"]`
		if a.Adapter == AdapterACP {
			example = `["opencode", "acp"]`
		}
		t.bad("command", "empty; write the program and its arguments, such as command = %s", example)
		return
	}
	program := environ.ExpandHome(a.Command[0], p.env.Home)
	if strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program) {
		t.bad("command", "%q is relative, and would be looked for in the repository that the agent works on; write an absolute path", program)
	}
	a.Command = append([]string{program}, a.Command[1:]...)
	for _, arg := range a.Command {
		if strings.ContainsRune(arg, 0) {
			t.bad("command", "%q holds a NUL character", arg)
		}
	}
	checkPrograms(t, "command", a.Command)
}

// checkPrograms refuses a command whose program, or a script that its program gets, others could
// change, as the config itself. A program without a folder is that of PATH; a relative one is the
// repository's.
func checkPrograms(t *Table, key string, argv []string) {
	for _, arg := range argv {
		if info, err := os.Stat(arg); !filepath.IsAbs(arg) || err != nil || !info.Mode().IsRegular() {
			continue // who starts it says that it is missing
		}
		if why := files.ChangedByOthers(arg); why != "" {
			t.bad(key, "%s", why)
		}
	}
}

// knownAgents adds the agents that need no table.
func (p *parser) knownAgents() {
	p.written = slices.Sorted(maps.Keys(p.config.Agents))
	for _, name := range builtIn {
		if _, ok := p.config.Agents[name]; !ok {
			p.config.Agents[name] = Agent{Name: name, Adapter: name}
		}
	}
}

// defaultAgent chooses the default agent: codex, unless a table selects another.
func (p *parser) defaultAgent() {
	name := p.config.Runtime.Agent
	switch {
	case name != "":
		p.checkAgentName("runtime.agent", "agent in [runtime]", name)
	case len(p.written) == 0:
		p.config.Runtime.Agent = AdapterCodex
	case len(p.written) == 1:
		p.config.Runtime.Agent = p.written[0]
	default:
		p.lacks("runtime", "runtime.agent", "agent in [runtime]: missing; there are several, name one of %s", strings.Join(p.written, ", "))
	}
}

func (p *parser) checkAgentName(path, what, name string) {
	if _, ok := p.config.Agents[name]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(p.config.Agents))
	p.Add(path, "%s: unknown agent %q%s", what, name, cmp.Or(meant(name, names, "%q"), "; there is no [agents."+name+"] (`gh mergexo config agents` prints tables)"))
}
