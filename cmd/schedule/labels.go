package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// verdict is the result for one label.
type verdict string

const (
	gone    verdict = "" // not found
	deleted verdict = "deleted"
	foreign verdict = "it has another description"
)

// dropLabels deletes our labels in the configured repositories.
func (r *room) dropLabels(ctx context.Context, cfg *config.Config, force bool, w io.Writer) error {
	var errs []error
	for _, repo := range cfg.Repos {
		client, err := r.GitHub(transport.Options{Host: repo.Name.Host})
		if err != nil {
			return err
		}
		for _, l := range labelsOf(repo.Labels) {
			became, err := dropLabel(ctx, client, repo.Name, l, force)
			switch {
			case err != nil:
				errs = append(errs, err)
			case became == deleted:
				fmt.Fprintf(w, "Deleted the label %s in %s.\n", l.Name, cfg.Called(repo.Name))
			case became != gone:
				fmt.Fprintf(w, "Kept the label %s in %s: %s; --force deletes it.\n", l.Name, cfg.Called(repo.Name), became)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return errors.Join(errs...)
}

// labelsOf returns our labels of a repository, each once.
func labelsOf(names work.Labels) (all []work.Label) {
	made := slices.Concat(work.RepoLabels(names), work.ReviewLabels(names), work.StatusLabels(names),
		[]work.Label{work.HumanReviewLabel(names.HumanReview), work.FreezeLabel(names.Freeze)})
	for _, l := range made {
		if l.Name != "" && !slices.ContainsFunc(all, func(o work.Label) bool { return strings.EqualFold(o.Name, l.Name) }) {
			all = append(all, l)
		}
	}
	return all
}

// dropLabel looks the label up before it deletes it, and again after an unclear answer.
func dropLabel(ctx context.Context, api *github.Client, repo work.RepoName, l work.Label, force bool) (verdict, error) {
	there, found, err := api.LabelNamed(ctx, repo, l.Name)
	if err != nil || !found {
		return gone, err
	}
	if !force {
		if there.Description != l.Description {
			return foreign, nil
		}
		number, borne, err := api.FindLabelled(ctx, repo, l.Name)
		if err != nil {
			return gone, err
		}
		if borne {
			return verdict(fmt.Sprintf("#%d has it", number)), nil
		}
	}
	err = api.DeleteLabel(ctx, repo, l.Name)
	if _, unclear := errors.AsType[*transport.UnclearError](err); unclear {
		_, found, look := api.LabelNamed(ctx, repo, l.Name)
		if look == nil && !found {
			err = nil
		}
	}
	return deleted, err
}
