package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

type wireLabel struct {
	Name string `json:"name"`
}

func (w wireLabel) Check() error {
	if w.Name == "" {
		return errors.New("no label")
	}
	return nil
}

type wireLabels []wireLabel

func (w wireLabels) Check() error {
	if w == nil {
		return errors.New("no list of labels")
	}
	return nil
}

// LabelsOf reads the names of an issue's or pull request's labels.
func (c Issues) LabelsOf(ctx context.Context, repo work.RepoName, number int) ([]string, error) {
	names, err := transport.Every(ctx, c.api, issueLabelsPath(repo, number)+"?per_page=100", func(w wireLabel) string { return w.Name })
	if err != nil {
		return nil, fmt.Errorf("list labels of %s: %w", work.Ref(repo, number), err)
	}
	return names, nil
}

// RepoLabels reads the names of a repository's labels.
func (c Repositories) RepoLabels(ctx context.Context, repo work.RepoName) ([]string, error) {
	names, err := transport.Every(ctx, c.api, "repos/"+repo.FullName()+"/labels?per_page=100", func(w wireLabel) string { return w.Name })
	if err != nil {
		return nil, fmt.Errorf("list the labels of %s: %w", repo.FullName(), err)
	}
	return names, nil
}

// HasLabel reports whether a repository has a label, whatever its colour.
func (c Repositories) HasLabel(ctx context.Context, repo work.RepoName, name string) (bool, error) {
	return find(ctx, c.api, "repos/"+repo.FullName()+"/labels/"+url.PathEscape(name), &wireLabel{})
}

// CreateLabel makes a label in a repository. IsTaken says that somebody else
// was first.
func (c Repositories) CreateLabel(ctx context.Context, repo work.RepoName, l work.Label) error {
	request := struct {
		Name        string `json:"name"`
		Color       string `json:"color,omitempty"`
		Description string `json:"description,omitempty"`
	}(l)
	if err := c.api.Write(ctx, http.MethodPost, "repos/"+repo.FullName()+"/labels", request, &wireLabel{}); err != nil {
		return fmt.Errorf("make the label %q: %w", l.Name, err)
	}
	return nil
}

// AddLabels adds labels to an issue or pull request. To add one twice is to add
// it once. What the repository does not have GitHub makes, in grey.
func (c Issues) AddLabels(ctx context.Context, repo work.RepoName, number int, names []string) error {
	request := struct {
		Labels []string `json:"labels"`
	}{names}
	if err := c.api.Write(ctx, http.MethodPost, issueLabelsPath(repo, number), request, &wireLabels{}); err != nil {
		return fmt.Errorf("label %s: %w", work.Ref(repo, number), err)
	}
	return nil
}

// RemoveLabel takes a label away from an issue or pull request. One that is not
// there is as good as taken away.
func (c Issues) RemoveLabel(ctx context.Context, repo work.RepoName, number int, name string) error {
	err := c.api.Write(ctx, http.MethodDelete, issueLabelsPath(repo, number)+"/"+url.PathEscape(name), nil, nil)
	if err != nil && !IsStatus(err, http.StatusNotFound) {
		return fmt.Errorf("take the label %q from %s: %w", name, work.Ref(repo, number), err)
	}
	return nil
}

func issueLabelsPath(repo work.RepoName, number int) string {
	return fmt.Sprintf("repos/%s/issues/%d/labels", repo.FullName(), number)
}
