package complete

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// names are what can be typed for repositories, items and agents. GitHub is not asked.
type names struct{ app *cli.App }

// An answer is what a shell offers for a word.
type answer = func(c *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective)

// offer gives every command and flag that takes a name, and has no answer of its own yet,
// one that fits how its usage calls it.
func (n names) offer(c *cobra.Command) {
	for _, sub := range c.Commands() {
		n.offer(sub)
	}
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 && c.Runnable() {
		c.ValidArgsFunction = n.positions(strings.Fields(c.Use)[1:])
	}
	for flag, offered := range map[string]answer{"repo": n.repos, "agent": n.agents, "json": fields} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, offered) // an error says that it has one already
		}
	}
}

// positions answers for each word that a usage line takes, as the line calls it.
func (n names) positions(takes []string) answer {
	return func(c *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
		all := c.Flags().Lookup("all")
		if len(given) >= len(takes) || all != nil && all.Changed {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch strings.Trim(takes[len(given)], "<>[]{}") {
		case "owner/name#number":
			return n.items(c, given, typed)
		case "owner/name":
			return n.repos(c, given, typed)
		case "name": // of a prompt
			return prompts.Names(), cobra.ShellCompDirectiveNoFileComp
		case "dir", "file":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// fields are those of --json, several behind one another with commas.
func fields(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	chosen := strings.Split(before, ",")
	var all []string
	for _, f := range cli.JSONFields(c) {
		if !slices.Contains(chosen, f) {
			all = append(all, before+f)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (n names) repos(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := n.app.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return terminal.Each(cfg.Repos, func(r config.Repo) string { return cfg.Called(r.Name) }), cobra.ShellCompDirectiveNoFileComp
}

func (n names) agents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := n.app.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(cfg.Agents)), cobra.ShellCompDirectiveNoFileComp
}

// items are the work items that passes have seen, with their titles: the newest first. A
// number alone is offered to who begins with one, where only one repository is configured.
func (n names) items(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var all []string
	if cfg, err := n.app.Config(); err == nil {
		ctx := c.Context()
		if ctx == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		bare := len(cfg.Repos) == 1 && typed != "" && strings.Trim(typed, "0123456789") == ""
		_, err = machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
			all, err = itemsOf(ctx, tx, cfg, bare)
			return err
		})
		if err != nil {
			all = nil
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func itemsOf(ctx context.Context, tx *store.Tx, cfg *config.Config, bare bool) ([]string, error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, r := range cfg.Repos {
		items, err := tx.ListItems(ctx, looks.FindRepo(known, r.Name).ID)
		if err != nil {
			return nil, err
		}
		slices.Reverse(items)
		for _, i := range items {
			name := fmt.Sprintf("%s#%d", cfg.Called(r.Name), i.Number)
			if bare {
				name = fmt.Sprint(i.Number)
			}
			if title := terminal.OneLine(i.Title); !slices.ContainsFunc(all, func(known string) bool { return strings.HasPrefix(known, name+"\t") }) {
				all = append(all, name+"\t"+title)
			}
		}
	}
	return all, nil
}
