package about

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts"
)

func newPersonasCmd(a *room) *cobra.Command {
	return a.WithJSON(personasView{}, &cobra.Command{
		Use:   "personas [reviewer]",
		Short: "List the reviewers, or print a reviewer's persona",
		Long: `List the built-in reviewers and those of the config, with the source of each persona:
what the reviewer looks at, and how it weighs that. With a name, print that persona,
as a start for your own.`,
		Example: `  $ gh mergexo prompts personas
  $ gh mergexo prompts personas quinn > ~/.config/mergexo/mine.md`,
		Args: cli.Args(cli.Words(0, 1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			all, _ := a.personas()
			return terminal.Each(all, func(v personaView) string { return v.Reviewer }), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, given []string) error {
			all, err := a.personas()
			if err != nil {
				return err
			}
			if len(given) > 0 {
				if all, err = personasOf(all, given[0]); err != nil {
					return err
				}
			}
			switch {
			case a.JSON.Asked():
				return a.JSON.Write(a.Output(), personasView{all})
			case len(given) > 0:
				_, err := io.WriteString(a.Env.Stdout, all[0].Text+"\n")
				return err
			}
			return a.Output().Table([]string{"REVIEWER", "REPOSITORY", "FROM"}, terminal.Each(all, func(v personaView) []string { return []string{v.Reviewer, v.Repo, v.From} }))
		},
	})
}

// personasView is the output of prompts personas.
type personasView struct {
	Personas []personaView `json:"personas"` // the reviewers that have a persona
}

// personaView is one reviewer's persona.
type personaView struct {
	Reviewer string `json:"reviewer"` // the reviewer's name
	Repo     string `json:"repo"`     // the repository whose config names the reviewer; empty: built in
	From     string `json:"from"`     // "built in", "the config", or a file
	Text     string `json:"text"`     // the persona
}

// personas returns the personas of the config and the built-in ones.
func (a *room) personas() ([]personaView, error) {
	cfg, err := a.Config()
	if err != nil && !missing(err) {
		return nil, err
	}
	var all []personaView
	if err == nil {
		for _, r := range cfg.Repos {
			for _, x := range r.Reviewers {
				if x.Persona != "" && !isBuiltIn(x.Name, x.Persona) {
					all = append(all, personaView{x.Name, cfg.Called(r.Name), fromOf(x), x.Persona})
				}
			}
		}
	}
	for _, x := range config.BuiltInReviewers() {
		all = append(all, personaView{Reviewer: x.Name, From: builtIn, Text: x.Persona})
	}
	return all, nil
}

func isBuiltIn(name, persona string) bool {
	return slices.ContainsFunc(config.BuiltInReviewers(), func(b config.Reviewer) bool { return b.Name == name && b.Persona == persona })
}

// fromOf tells where the persona of a reviewer of the config comes from.
func fromOf(x config.Reviewer) string {
	if slices.ContainsFunc(config.BuiltInReviewers(), func(b config.Reviewer) bool { return b.Persona == x.Persona }) {
		return builtIn
	}
	return "the config"
}

// personasOf returns the personas of all reviewers with this name: each repository may have its
// own.
func personasOf(all []personaView, name string) ([]personaView, error) {
	var found []personaView
	for _, v := range all {
		if v.Reviewer == name {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		names := slices.Compact(slices.Sorted(slices.Values(terminal.Each(all, func(v personaView) string { return v.Reviewer }))))
		return nil, &cli.UsageError{Err: fmt.Errorf("there is no reviewer %q with a persona; there are %s", name, strings.Join(names, ", "))}
	}
	return found, nil
}

// fillReviewer puts a reviewer's persona into a sample.
func (a *room) fillReviewer(sample *prompts.Context, name string) error {
	if name == "" || sample.Review == nil {
		return nil
	}
	all, err := a.personas()
	if err != nil {
		return err
	}
	found, err := personasOf(all, name)
	if err == nil {
		sample.Review.Reviewer, sample.Review.Persona = found[0].Reviewer, found[0].Text
	}
	return err
}
