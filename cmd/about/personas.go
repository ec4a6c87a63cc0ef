package about

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/prompts"
)

// fillReviewer puts the persona of a reviewer, of the config or built in, into a sample.
func (a *room) fillReviewer(sample *prompts.Context, name string) error {
	if name == "" || sample.Review == nil {
		return nil
	}
	cfg, err := a.Config()
	if err != nil && !missing(err) {
		return err
	}
	var all []config.Reviewer
	if err == nil {
		for _, r := range cfg.Repos {
			all = append(all, r.Reviewers...)
		}
	}
	var names []string
	for _, x := range append(all, config.BuiltInReviewers()...) {
		switch {
		case x.Persona == "":
		case x.Name == name:
			sample.Review.Reviewer, sample.Review.Persona = x.Name, x.Persona
			return nil
		case !slices.Contains(names, x.Name):
			names = append(names, x.Name)
		}
	}
	return &cli.UsageError{Err: fmt.Errorf("there is no reviewer %q with a persona; there are %s", name, strings.Join(names, ", "))}
}
