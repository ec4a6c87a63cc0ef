package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
)

type wireBranch struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

type wirePull struct {
	NodeID      string     `json:"node_id"`
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	HTMLURL     string     `json:"html_url"`
	State       string     `json:"state"`
	Draft       bool       `json:"draft"`
	Locked      bool       `json:"locked"`
	Head        wireBranch `json:"head"`
	Base        wireBranch `json:"base"`
	Mergeable   *bool      `json:"mergeable"`
	MergeCommit string     `json:"merge_commit_sha"`
	User        *wireUser  `json:"user"`
	MergedBy    *wireUser  `json:"merged_by"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	ClosedAt    time.Time  `json:"closed_at"`
	MergedAt    time.Time  `json:"merged_at"`
}

func (w wirePull) Check() error {
	if w.Number == 0 || w.NodeID == "" || w.Head.SHA == "" || w.Base.Ref == "" {
		return errors.New("no pull request")
	}
	if w.State != "open" && w.State != "closed" {
		return fmt.Errorf("pull request is %q", w.State)
	}
	return nil
}

func (w wirePull) pull() Pull {
	p := Pull{
		NodeID: w.NodeID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.HTMLURL,
		State: work.PullState(w.State), Draft: w.Draft, Locked: w.Locked,
		Head: w.Head.Ref, HeadOID: w.Head.SHA, Base: w.Base.Ref, BaseOID: w.Base.SHA,
		Mergeable: UnknownMergeable, CrossRepo: true, Author: account(w.User),
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, ClosedAt: w.ClosedAt, MergedAt: w.MergedAt,
	}
	if w.Head.Repo != nil {
		p.HeadRepo = w.Head.Repo.FullName
		p.CrossRepo = w.Base.Repo == nil || !strings.EqualFold(w.Base.Repo.FullName, p.HeadRepo)
	}
	if !w.MergedAt.IsZero() {
		p.State = work.PullMerged
		p.MergeCommit = w.MergeCommit // before the merge it is a test merge's
		p.MergedBy = account(w.MergedBy)
	}
	if w.Mergeable != nil {
		p.Mergeable = Conflicting
		if *w.Mergeable {
			p.Mergeable = Mergeable
		}
	}
	return p
}

// Pull reads one pull request; it is absent when there is none of that number.
func (c Pulls) Pull(ctx context.Context, repo work.RepoName, number int) (Pull, bool, error) {
	var w wirePull
	ok, err := find(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d", repo.FullName(), number), &w)
	if err != nil || !ok {
		return Pull{}, false, err
	}
	return w.pull(), true, nil
}

// PullsByHead lists every pull request, open or not, whose head is a branch of
// that name owned by the repository's owner. A fork of the same owner matches
// too: HeadRepo tells.
func (c Pulls) PullsByHead(ctx context.Context, repo work.RepoName, branch string) ([]Pull, error) {
	q := url.Values{"state": {"all"}, "head": {repo.Owner + ":" + branch}, "per_page": {"100"}}
	pulls, err := transport.Every(ctx, c.api, "repos/"+repo.FullName()+"/pulls?"+q.Encode(), wirePull.pull)
	if err != nil {
		return nil, fmt.Errorf("list pull requests of branch %q: %w", branch, err)
	}
	return pulls, nil
}

type wirePullCommit struct {
	SHA    string `json:"sha"`
	Commit struct {
		Message string `json:"message"`
	} `json:"commit"`
	Author    *wireUser  `json:"author"`    // null where no account has the commit's address
	Committer *wireUser  `json:"committer"` // likewise
	Parents   []struct{} `json:"parents"`
}

func (wirePullCommit) Check() error { return nil }

func (w wirePullCommit) commit() origin.Commit {
	return origin.Commit{OID: w.SHA, Message: w.Commit.Message, Author: account(w.Author), Committer: account(w.Committer), Parents: len(w.Parents)}
}

// PullCommits lists a pull request's commits, oldest first; GitHub names 250 at most.
func (c Pulls) PullCommits(ctx context.Context, repo work.RepoName, number int) ([]origin.Commit, error) {
	commits, err := transport.Every(ctx, c.api, fmt.Sprintf("repos/%s/pulls/%d/commits?per_page=100", repo.FullName(), number), wirePullCommit.commit)
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", work.Ref(repo, number), err)
	}
	return commits, nil
}

// OpenPulls lists every open pull request of a repository, oldest first.
func (c Pulls) OpenPulls(ctx context.Context, repo work.RepoName) ([]Pull, error) {
	q := url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}, "per_page": {"100"}}
	pulls, err := transport.Every(ctx, c.api, "repos/"+repo.FullName()+"/pulls?"+q.Encode(), wirePull.pull)
	if err != nil {
		return nil, fmt.Errorf("list the open pull requests: %w", err)
	}
	return pulls, nil
}
