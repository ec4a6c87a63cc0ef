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

// The adapters: two known command lines, programs that speak the Agent Client Protocol, and any
// program.
const (
	AdapterCodex   = "codex"
	AdapterClaude  = "claude"
	AdapterACP     = "acp"
	AdapterCommand = "command"
)

// builtIn are the agents that need no table, named like their adapters.
var builtIn = []string{AdapterCodex, AdapterClaude}

// Agent is one [agents.NAME] table.
type Agent struct {
	Name     string
	Adapter  string           `toml:"adapter" oneof:"codex claude acp command" else:" (\x60gh mergexo config agents\x60 lists programs of \"acp\")" words:"\"codex\", \"claude\", \"acp\" for a program that speaks the Agent Client Protocol (docs/agents.md), or \"command\" for one that uses the protocol there"`
	Command  []string         `toml:"command" show:"[\"codex\"]" words:"the program: an absolute path, a path that begins with ~/, or a name on PATH"` // and arguments; empty: the known command line on PATH
	Model    string           `toml:"model" words:"default: that of the program"`                                                                      // not of AdapterCommand
	Effort   string           `toml:"effort" words:"how hard the model thinks, in the program's words, such as \"high\""`                              // of codex and claude
	Args     []string         `toml:"args" words:"further arguments, such as [\"-c\", \"sandbox_workspace_write.network_access=true\"]"`               // of codex and claude
	EnvPass  []string         `toml:"env_pass" words:"environment variables it gets beside PATH, HOME, locale, temporary folder and CODEX_HOME, such as its key"`
	Fallback string           `toml:"fallback" words:"another agent, which works in its place once its provider is out for 30 minutes"`
	Writable []string         `toml:"writable" words:"folders it may write in the sandbox, beside its checkout and its own home"`
	Prices   *spending.Prices `toml:"usd_per_million" show:"{ input = 1.25, cached = 0.125, output = 10 }" words:"prices of its tokens, for the budgets; default: the cost that it reports"`
}

// agents checks the [agents.NAME] tables, and chooses the default agent: codex, unless a table selects
// another.
func (p *parser) agents() {
	all, run := p.config.Agents, &p.config.Runtime
	tables := slices.Sorted(maps.Keys(all))
	for _, name := range tables {
		a := all[name]
		p.agent(name, &a)
		all[name] = a
	}
	for _, name := range builtIn { // they need no table
		if _, ok := all[name]; !ok {
			all[name] = Agent{Name: name, Adapter: name}
		}
	}
	switch {
	case run.Agent != "":
		p.checkAgentName("runtime.agent", "agent in [runtime]", run.Agent)
	case len(tables) == 0:
		run.Agent = AdapterCodex
	case len(tables) == 1:
		run.Agent = tables[0]
	default:
		p.lacks("runtime", "runtime.agent", "agent in [runtime]: missing; there are several, name one of %s", strings.Join(tables, ", "))
	}
}

// agent checks one [agents.NAME] table. If NAME is a known command line, the adapter may be omitted.
func (p *parser) agent(name string, a *Agent) {
	t := p.at("agents." + name)
	if !agentName().MatchString(name) {
		p.add(t.path, "agent name %q: want letters, digits, - and _, at most 40", name)
	}
	a.Name = name
	if a.Adapter == "" && slices.Contains(builtIn, name) {
		a.Adapter = name
	}
	if a.Prices != nil {
		if !p.at(t.to("usd_per_million")).has("cached") { // then all input costs the full price: the sum is never too low
			a.Prices.CacheRead = a.Prices.Input
		}
		a.Prices.CacheWrite = a.Prices.Input
	}
	a.Writable = p.letIn(t, "writable", a.Writable)
	nested(t, "writable", slices.Concat(p.config.Runtime.Readable, a.Writable), a.Writable)
	p.checkAdapter(t, a)
	p.checkPassed(t, a.EnvPass, "agents hold no GitHub, git or SSH credentials")
}

// checkPassed checks the names of the variables that a program of others sees.
func (p *parser) checkPassed(t place, names []string, why string) {
	for _, v := range names {
		switch {
		case !variableName().MatchString(v):
			t.bad("env_pass", "%q is no name of a variable", v)
		case environ.Withheld(v):
			t.bad("env_pass", "%s is never passed: %s", v, why)
		case slices.Contains(p.config.Runtime.Hidden(), v):
			t.bad("env_pass", "%s is never passed while %s is set: it may lead to the database of gh mergexo", v, p.config.Runtime.DatabaseKey())
		}
	}
}

// checkAdapter checks what an adapter needs and what it does not support.
func (p *parser) checkAdapter(t place, a *Agent) {
	command, such := a.Adapter == AdapterCommand, `["/usr/local/bin/my-agent"]`
	switch a.Adapter {
	case "":
		if !t.wrong[t.to("adapter")] {
			t.missing("adapter", `missing; write adapter = "codex", "claude", or "acp" or "command" with command = ["/path/to/program"]`)
		}
		return
	case AdapterACP:
		such = `["opencode", "acp"]`
	case AdapterCodex, AdapterClaude:
		if t.has("command") {
			p.checkProgram(t, "command", a.Command, such)
		}
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
	if !slices.Contains(builtIn, a.Adapter) {
		p.checkProgram(t, "command", a.Command, such)
	}
	for _, x := range []struct {
		key, value string
		given      bool // the program gets it from command
	}{{"model", a.Model, command}, {"effort", a.Effort, !slices.Contains(builtIn, a.Adapter)}, {"args", strings.Join(a.Args, " "), !slices.Contains(builtIn, a.Adapter)}} {
		switch {
		case x.given && x.value != "":
			t.bad(x.key, "the program of adapter %q gets its arguments from command; remove the line", a.Adapter)
		case x.key != "args" && (strings.HasPrefix(x.value, "-") || strings.ContainsFunc(x.value, unicode.IsControl)):
			t.bad(x.key, "%q is no name", x.value)
		}
	}
}

// dangerous are arguments that would let an agent out of its checkout, or that select another
// session than the turn's.
var dangerous = []string{
	"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--trust", "--yolo", "--ephemeral", "--output-schema", "--json",
	"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--no-session-persistence", "--json-schema", "--output-format", "--resume", "--continue", "--session-id", "--fork-session",
}

// checkProgram checks the command of a program that is none of a repository.
func (p *parser) checkProgram(t place, key string, argv []string, such string) {
	p.checkCommand(t, key, argv, such)
	if len(argv) > 0 && strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0]) {
		t.bad(key, "%q is relative, and would be looked for in the repository that the agent works on; write an absolute path", argv[0])
	}
}

// checkCommand checks a command, and resolves ~/ in its program; such is an example. It refuses a program,
// or a script that its program gets, that others could change, as the config itself. A program without a
// folder is that of PATH; a relative one is the repository's.
func (p *parser) checkCommand(t place, key string, argv []string, such string) {
	if len(argv) == 0 || strings.TrimSpace(argv[0]) == "" {
		t.bad(key, "its program is empty; write the program and its arguments, such as %s", such)
		return
	}
	argv[0] = environ.ExpandHome(argv[0], p.env.Home)
	if strings.ContainsAny(argv[0], " \t") && len(argv) == 1 && !filepath.IsAbs(argv[0]) {
		t.bad(key, "%q is one word; write program and arguments apart, such as %s", argv[0], such)
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			t.bad(key, "%q holds a NUL character", arg)
		}
		if info, err := os.Stat(arg); !filepath.IsAbs(arg) || err != nil || !info.Mode().IsRegular() {
			continue // who starts it says that it is missing
		}
		if why := files.ChangedByOthers(arg); why != "" {
			t.bad(key, "%s", why)
		}
	}
}

func (p *parser) checkAgentName(path, what, name string) {
	if _, ok := p.config.Agents[name]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(p.config.Agents))
	p.add(path, "%s: unknown agent %q%s", what, name, cmp.Or(meant(name, names, "%q"), "; there is no [agents."+name+"] (`gh mergexo config agents` prints tables)"))
}
