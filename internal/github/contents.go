package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// wireFile is a file of a tree, up to 1 MB: longer ones come without content.
// https://docs.github.com/en/rest/repos/contents
type wireFile struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

func (w wireFile) Check() error {
	if w.Type != "file" || w.Encoding != "base64" {
		return errors.New("no file of up to 1 MB")
	}
	return nil
}

// File reads a file as it was at a commit or is on a branch; it is absent when
// there is none.
func (c Repositories) File(ctx context.Context, repo work.RepoName, path, ref string) ([]byte, bool, error) {
	var w wireFile
	ok, err := find(ctx, c.api, contentsURL(repo, path, ref), &w)
	if err != nil || !ok {
		return nil, false, err
	}
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(w.Content, "\n", ""))
	if err != nil {
		return nil, false, fmt.Errorf("decode %s at %s: %w", path, ref, err)
	}
	return content, true, nil
}

func contentsURL(repo work.RepoName, path, ref string) string {
	return "repos/" + repo.FullName() + "/contents/" + escapePath(path) + "?ref=" + url.QueryEscape(ref)
}

type wirePullFile struct {
	Filename string `json:"filename"`
}

func (w wirePullFile) Check() error {
	if w.Filename == "" {
		return errors.New("no file")
	}
	return nil
}

// PullFiles lists the paths that a pull request changes; GitHub names 3,000 at
// most.
func (c Pulls) PullFiles(ctx context.Context, repo work.RepoName, number int) ([]string, error) {
	files, err := transport.Every(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d/files?per_page=100", repo.FullName(), number),
		func(w wirePullFile) string { return w.Filename })
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", work.Ref(repo, number), err)
	}
	return files, nil
}
