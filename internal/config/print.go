package config

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Print writes the config in effect, defaults included. Parsing it gives the same config.
func Print(w io.Writer, cfg *Config) error {
	if _, err := fmt.Fprintf(w, "# %s, with the defaults\n", cfg.Path); err != nil {
		return err
	}
	for _, s := range cfg.sections() {
		if err := s.write(w); err != nil {
			return fmt.Errorf("print the config: %w", err)
		}
	}
	return nil
}

// section is a table of the config with its heading, such as [runtime].
type section struct {
	heading string
	keys    []key
}

// sections returns the tables of the config in order. Their keys are only printed, never read.
func (c *Config) sections() []section {
	p := &parser{config: c}
	all := []section{{"[runtime]", p.runtimeKeys(&c.Runtime)}}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		all = append(all, section{"[agents." + name + "]", p.agentKeys(&a)})
		if a.Prices != nil {
			all = append(all, section{"[agents." + name + ".usd_per_million]", pricesKeys(a.Prices)})
		}
	}
	for _, r := range c.Repos {
		all = append(all, section{"[[repo]]", p.repoKeys(&r, nil)},
			section{"[repo.voice]", voiceKeys(&r.Voice)}, section{"[repo.review]", reviewKeys(&r.Review)},
			section{"[repo.roadmap]", roadmapKeys(&r.Roadmap)})
		for _, x := range r.Reviewers {
			all = append(all, section{"[[repo.reviewers]]", x.printed()})
		}
	}
	for _, n := range c.Notify {
		all = append(all, section{"[[notify]]", notifyKeys(&n)})
	}
	return all
}

func (s section) write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s\n", s.heading); err != nil {
		return err
	}
	for _, k := range s.keys {
		if k.hidden {
			continue
		}
		if err := toml.NewEncoder(w).Encode(map[string]any{k.name: k.print()}); err != nil {
			return err
		}
	}
	return nil
}

// Document is the config as JSON. Below its fields, the keys are those of the file.
type Document struct {
	Path    string                    `toml:"-"       json:"path"`         // the file that it was read from
	Runtime map[string]any            `toml:"runtime" json:"runtime"`      // `[runtime]`, with the [keys of the file](config.md)
	Agents  map[string]map[string]any `toml:"agents"  json:"agents"`       // `[agents.NAME]`
	Repos   []map[string]any          `toml:"repo"    json:"repositories"` // each `[[repo]]`
}

// Object returns the config in effect as JSON, with the keys of the file.
func Object(cfg *Config) (Document, error) {
	var text strings.Builder
	if err := Print(&text, cfg); err != nil {
		return Document{}, err
	}
	doc := Document{Path: cfg.Path}
	if _, err := toml.Decode(text.String(), &doc); err != nil {
		return doc, fmt.Errorf("read the printed config: %w", err)
	}
	return doc, nil
}

// usualPrompts is the default folder of the operator's own prompts.
const usualPrompts = "prompts"

// printedPrompts returns the folder of prompts or, if it does not exist, the default name: a config
// may not name another folder that does not exist.
func printedPrompts(dir string) string {
	if !files.IsFolder(dir) {
		return usualPrompts
	}
	return dir
}

// Without returns the config to use while there is no valid one: the state folder and the database, as
// far as they are known, and the agents that need no table.
func Without(env environ.Env) *Config {
	c := &Config{Agents: map[string]Agent{}, Runtime: Runtime{StateDir: env.DataDir}}
	if known, err := Places(env); err == nil {
		c.Runtime = known
	}
	c.Runtime.Sandbox, c.Runtime.Agent, c.Runtime.Timings = work.SandboxAuto, AdapterCodex, defaultTimings()
	for _, name := range builtIn {
		c.Agents[name] = Agent{Name: name, Adapter: name}
	}
	return c
}
