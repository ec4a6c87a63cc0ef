// Package labels reads a repository's labels one by one, and deletes them.
package labels

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Labels are the requests about the labels of a repository, whoever made them.
type Labels struct{ api *transport.Client }

// New makes the requests of a client.
func New(c *transport.Client) Labels { return Labels{c} }

type wireLook struct {
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
}

func (w wireLook) Check() error {
	if w.Name == "" {
		return errors.New("no label")
	}
	return nil
}

// LabelNamed reads a label of a repository as it looks there; false when there is none.
func (c Labels) LabelNamed(ctx context.Context, repo work.RepoName, name string) (work.Label, bool, error) {
	var w wireLook
	err := c.api.Get(ctx, repoLabelPath(repo, name), &w)
	if gone(err) {
		return work.Label{}, false, nil
	}
	if err != nil {
		return work.Label{}, false, fmt.Errorf("read the label %q of %s: %w", name, repo.FullName(), err)
	}
	return work.Label{Name: w.Name, Color: w.Color, Description: w.Description}, true, nil
}

// DeleteLabel deletes a label of a repository, and with that takes it from whatever bears
// it. One that is not there is as good as deleted.
func (c Labels) DeleteLabel(ctx context.Context, repo work.RepoName, name string) error {
	err := c.api.Write(ctx, http.MethodDelete, repoLabelPath(repo, name), nil, nil)
	if err != nil && !gone(err) {
		return fmt.Errorf("delete the label %q of %s: %w", name, repo.FullName(), err)
	}
	return nil
}

func gone(err error) bool {
	refused, ok := errors.AsType[*transport.Error](err)
	return ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusGone)
}

func repoLabelPath(repo work.RepoName, name string) string {
	return "repos/" + repo.FullName() + "/labels/" + url.PathEscape(name)
}

type wireBearer struct {
	Number int `json:"number"`
}

type wireBearers []wireBearer

func (w wireBearers) Check() error {
	if w == nil {
		return errors.New("no list of issues")
	}
	return nil
}

// BearerOf names an issue or pull request, open or closed, that has a label; false when
// none has.
func (c Labels) BearerOf(ctx context.Context, repo work.RepoName, label string) (number int, found bool, err error) {
	var w wireBearers
	address := "repos/" + repo.FullName() + "/issues?" + url.Values{"per_page": {"1"}, "state": {"all"}, "labels": {label}}.Encode()
	if err := c.api.Get(ctx, address, &w); err != nil {
		return 0, false, fmt.Errorf("look who has the label %q in %s: %w", label, repo.FullName(), err)
	}
	if len(w) == 0 {
		return 0, false, nil
	}
	return w[0].Number, true, nil
}
