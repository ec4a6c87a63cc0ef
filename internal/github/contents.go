package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// wireFile is a file of at most 1 MB: larger ones come without content.
// https://docs.github.com/en/rest/repos/contents
type wireFile struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

func (w wireFile) Check() error {
	if w.Type == "" {
		return errors.New("no file")
	}
	return nil
}

// File reads a file at a commit or on a branch; false if there is none. One of more than 1 MB is empty.
func (c *Client) File(ctx context.Context, repo work.RepoName, path, ref string) ([]byte, bool, error) {
	var w wireFile
	ok, err := find(ctx, c.api, contentsURL(repo, path, ref), &w)
	if err != nil || !ok || w.Type != "file" {
		return nil, false, err
	}
	if w.Encoding != "base64" {
		return nil, true, nil
	}
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(w.Content, "\n", ""))
	if err != nil {
		return nil, false, fmt.Errorf("decode %s at %s: %w", path, ref, err)
	}
	return content, true, nil
}

// wireFolderEntry is an entry of a folder.
type wireFolderEntry struct {
	Path string `json:"path"`
}

func (w wireFolderEntry) Check() error {
	if w.Path == "" {
		return errors.New("no entry of a folder")
	}
	return nil
}

// Files lists the paths in a folder at a commit or on a branch; false if there is no such folder, or no such commit.
func (c *Client) Files(ctx context.Context, repo work.RepoName, folder, ref string) ([]string, bool, error) {
	paths, err := transport.ReadAll(ctx, c.api, contentsURL(repo, folder, ref), func(w wireFolderEntry) string { return w.Path })
	if IsStatus(err, http.StatusNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("list the files of %s at %s: %w", folder, ref, err)
	}
	return paths, true, nil
}

func contentsURL(repo work.RepoName, path, ref string) string {
	return "repos/" + repo.FullName() + "/contents/" + escapePath(path) + "?ref=" + url.QueryEscape(ref)
}

type wirePullFile struct {
	Filename string `json:"filename"`
	Previous string `json:"previous_filename"` // of one that was renamed
}

func (w wirePullFile) Check() error {
	if w.Filename == "" {
		return errors.New("no file")
	}
	return nil
}

// PullFiles lists the paths that a pull request changes, for renames both. GitHub lists 3000 files at
// most.
func (c *Client) PullFiles(ctx context.Context, repo work.RepoName, number int) ([]string, error) {
	files, err := transport.ReadAll(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d/files?per_page=100", repo.FullName(), number),
		func(w wirePullFile) wirePullFile { return w })
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", work.Ref(repo, number), err)
	}
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Filename)
		if f.Previous != "" {
			paths = append(paths, f.Previous)
		}
	}
	return paths, nil
}

// wireComparison is the relation of two commits.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
type wireComparison struct {
	Status string `json:"status"` // of the second, seen from the first
}

func (w wireComparison) Check() error {
	switch w.Status {
	case "ahead", "identical", "behind", "diverged":
		return nil
	}
	return fmt.Errorf("a comparison says %q", w.Status)
}

// Descends reports whether a commit is in the history of head. known is false if GitHub lacks one
// of the two, or they have no common history.
func (c *Client) Descends(ctx context.Context, repo work.RepoName, head, from string) (yes, known bool, err error) {
	var w wireComparison
	ok, err := find(ctx, c.api, fmt.Sprintf("repos/%s/compare/%s...%s?per_page=1", repo.FullName(), from, head), &w)
	if err != nil || !ok {
		return false, false, err
	}
	return w.Status == "ahead" || w.Status == "identical", true, nil
}
