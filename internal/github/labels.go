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
func (c *Client) LabelsOf(ctx context.Context, repo work.RepoName, number int) ([]string, error) {
	names, err := transport.ReadAll(ctx, c.api, issueLabelsPath(repo, number)+"?per_page=100", func(w wireLabel) string { return w.Name })
	if err != nil {
		return nil, fmt.Errorf("list labels of %s: %w", work.Ref(repo, number), err)
	}
	return names, nil
}

// RepoLabels reads the names of a repository's labels.
func (c *Client) RepoLabels(ctx context.Context, repo work.RepoName) ([]string, error) {
	names, err := transport.ReadAll(ctx, c.api, "repos/"+repo.FullName()+"/labels?per_page=100", func(w wireLabel) string { return w.Name })
	if err != nil {
		return nil, fmt.Errorf("list the labels of %s: %w", repo.FullName(), err)
	}
	return names, nil
}

// HasLabel reports whether a repository has a label of that name, of any colour.
func (c *Client) HasLabel(ctx context.Context, repo work.RepoName, name string) (bool, error) {
	return find(ctx, c.api, "repos/"+repo.FullName()+"/labels/"+url.PathEscape(name), &wireLabel{})
}

// CreateLabel creates a label in a repository. If it exists, AlreadyExists is true for the error.
func (c *Client) CreateLabel(ctx context.Context, repo work.RepoName, l work.Label) error {
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

// AddLabels adds labels to an issue or pull request, and returns all that it has then. Repeating it has no effect.
// GitHub creates missing labels, in grey.
func (c *Client) AddLabels(ctx context.Context, repo work.RepoName, number int, names []string) (present []string, err error) {
	request := struct {
		Labels []string `json:"labels"`
	}{names}
	var all wireLabels
	if err := c.api.Write(ctx, http.MethodPost, issueLabelsPath(repo, number), request, &all); err != nil {
		return nil, fmt.Errorf("label %s: %w", work.Ref(repo, number), err)
	}
	for _, l := range all {
		present = append(present, l.Name)
	}
	return present, nil
}

// RemoveLabel removes a label from an issue or pull request. A missing label is no error.
func (c *Client) RemoveLabel(ctx context.Context, repo work.RepoName, number int, name string) error {
	err := c.api.Write(ctx, http.MethodDelete, issueLabelsPath(repo, number)+"/"+url.PathEscape(name), nil, nil)
	if err != nil && !IsStatus(err, http.StatusNotFound) {
		return fmt.Errorf("take the label %q from %s: %w", name, work.Ref(repo, number), err)
	}
	return nil
}

func issueLabelsPath(repo work.RepoName, number int) string {
	return fmt.Sprintf("repos/%s/issues/%d/labels", repo.FullName(), number)
}
