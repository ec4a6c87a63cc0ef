package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// table is a table of the config: where it stands, what it is about, and its keys with their defaults.
type table struct {
	path  string // with [] behind an array of tables, and everyAgent for an agent's name: "repo[].review"
	words string
	keys  []key
}

// everyAgent replaces the name of an agent in a path.
const everyAgent = "*"

// tables returns all tables of a config, in the example's order.
var tables = sync.OnceValue(func() []table {
	p := parser{
		Table: &Table{report: &report{}}, env: environ.Of([]string{"HOME=/home/you"}), host: "github.com",
		config: &Config{Path: "/home/you/config.toml", Agents: map[string]Agent{}},
	}
	agent, prices, repo, name := Agent{Name: AdapterCodex, Adapter: AdapterCodex}, spending.Prices{}, Repo{}, ""
	reviewer := Reviewer{Flows: reviewedFlows()}
	all := []table{
		{"runtime", "the machine: agent, workers, limits, budgets, folders", p.runtimeKeys(&p.config.Runtime)},
		{"agents." + everyAgent, `"codex" and "claude" exist without a table, too`, p.agentKeys(&agent)},
		{"agents." + everyAgent + ".usd_per_million", "prices of its tokens, for the budgets; default: the cost that it reports", pricesKeys(&prices)},
		{"repo[]", "gh mergexo touches only repositories with such a table", p.repoKeys(&repo, &name)},
		{"repo[].voice", "what commits and comments say about who made them", voiceKeys(&repo.Voice)},
		{"repo[].review", "reviews of pull requests before people spend time on them", reviewKeys(&repo.Review)},
		{"repo[].roadmap", "how much of a roadmap is worked on at a time", roadmapKeys(&repo.Roadmap)},
		{"repo[].reviewers[]", "the reviewers, in this order; without any such table: quinn", reviewer.printed()},
		{"notify[]", "messages outside of GitHub: a program gets JSON on standard input", notifyKeys(&Notify{})},
	}
	for _, t := range all {
		if t.path != "repo[].reviewers[]" {
			readKeys(p.Table, t.keys)
		}
	}
	return all
})

// anyAgent replaces the name of an agent in a path by everyAgent.
func anyAgent(path string) string {
	parts := strings.Split(path, ".")
	if parts[0] == "agents" && len(parts) > 1 {
		parts[1] = everyAgent
	}
	return strings.Join(parts, ".")
}

// belongs returns, in words, the places of all keys and tables of a name.
func belongs(name string) (places []string) {
	var owners []string
	for _, t := range tables() {
		dot := strings.LastIndex(t.path, ".")
		if parent := t.path[:max(dot, 0)]; strings.TrimSuffix(t.path[dot+1:], "[]") == name {
			places = append(places, "did you mean "+tableName(t.path)+below(parent)+"?")
		}
		if slices.ContainsFunc(t.keys, func(k key) bool { return k.name == name }) {
			owners = append(owners, tableName(t.path))
		}
	}
	if len(owners) > 0 {
		places = append(places, "it belongs to "+strings.Join(owners, " or "))
	}
	return places
}

// tableName is how people write the table at a path.
func tableName(path string) string {
	name := strings.Replace(strings.ReplaceAll(path, "[]", ""), everyAgent, "NAME", 1)
	switch {
	case strings.HasSuffix(path, ".usd_per_million"):
		return "usd_per_million of [agents.NAME]"
	case strings.HasSuffix(path, "[]"):
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}

// below says for a table of a repository that it stands below one.
func below(table string) string {
	if table == "repo[]" {
		return ", below its [[repo]]"
	}
	return ""
}

// exampleHead begins the example.
const exampleHead = "#:schema " + URL + `
# gh mergexo reads this from --config, MERGEXO_CONFIG, or
# $XDG_CONFIG_HOME/mergexo/config.toml (~/.config/mergexo/config.toml).
# An unknown key is an error. A commented line shows the default.
`

// Example returns a commented config that loads as it is, with every key.
var Example = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	line := func(text, words string) { fmt.Fprintf(&b, "%-37s # %s\n", text, words) }
	for _, t := range tables() {
		if t.path == "agents."+everyAgent+".usd_per_million" {
			line("# usd_per_million = { input = 1.25, cached = 0.125, output = 10 }", t.words)
			b.WriteString("\n")
			line("[agents.claude]", "has the same keys")
			b.WriteString("# env_pass = [\"ANTHROPIC_API_KEY\"]\n")
			b.WriteString("\n")
			line("[agents.mine]", "any program")
			line("adapter = \"command\"", adapterWords)
			b.WriteString("command = [\"/usr/local/bin/my-agent\"]\n")
			continue
		}
		hidden := "" // nobody is notified unless a person writes it
		if t.path == "notify[]" {
			hidden = "# "
		}
		b.WriteString("\n")
		line(hidden+strings.Replace(tableName(t.path), "NAME", AdapterCodex, 1), t.words)
		for _, k := range t.keys {
			if k.name == "adapter" {
				continue // of an agent that needs a table
			}
			shown := "# "
			if hidden == "" && (k.musts || t.path+"."+k.name == "runtime.agent") {
				shown = ""
			}
			line(shown+k.name+" = "+k.example(), k.words)
		}
	}
	return b.String()
})

// example returns the value of a key in the example.
func (k key) example() string {
	if k.sample != "" {
		return k.sample
	}
	var b strings.Builder
	if err := toml.NewEncoder(&b).Encode(map[string]any{k.name: k.print()}); err != nil {
		panic(err) // plain values
	}
	return strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(b.String(), k.name+" = ")), ".0")
}
