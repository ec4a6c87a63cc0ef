package merges

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// wireBranch is a branch with what every reader sees of its classic protection.
type wireBranch struct {
	Name       string         `json:"name"`
	Protection wireProtection `json:"protection"`
}

func (w wireBranch) Check() error {
	if w.Name == "" {
		return errors.New("no branch")
	}
	return nil
}

// wireProtection is a classic protection: all of it for administrators, and no more than
// Enabled and the names of checks for others.
type wireProtection struct {
	Enabled bool `json:"enabled"`
	Checks  *struct {
		Strict   bool     `json:"strict"`
		Enforced string   `json:"enforcement_level"`
		Contexts []string `json:"contexts"`
	} `json:"required_status_checks"`
	Reviews *struct {
		Approvals int  `json:"required_approving_review_count"`
		LastPush  bool `json:"require_last_push_approval"`
	} `json:"required_pull_request_reviews"`
	Linear  wireSwitch `json:"required_linear_history"`
	Threads wireSwitch `json:"required_conversation_resolution"`
	Signed  wireSwitch `json:"required_signatures"`
	Locked  wireSwitch `json:"lock_branch"`
}

func (w wireProtection) Check() error { return nil } // all of it may be absent

type wireSwitch struct {
	Enabled bool `json:"enabled"`
}

// classic adds the classic protection of a branch. What is asked of everybody comes with
// the branch itself; the rest is told to administrators, and is asked for where there is
// a protection at all. Nobody else misses much: GitHub's own verdicts about a pull
// request count it in.
func (c Merges) classic(ctx context.Context, repo work.RepoName, branch string, rules *merging.Rules) error {
	address := fmt.Sprintf("repos/%s/branches/%s", repo.FullName(), url.PathEscape(branch))
	var b wireBranch
	if err := c.api.Get(ctx, address, &b); err != nil {
		if untold(err) {
			return nil
		}
		return err
	}
	if !b.Protection.Enabled {
		return nil
	}
	b.Protection.add(rules)
	var all wireProtection
	if err := c.api.Get(ctx, address+"/protection", &all); err != nil {
		if untold(err) {
			return nil
		}
		return err
	}
	all.add(rules)
	return nil
}

// add puts a classic protection to the rules.
func (w wireProtection) add(to *merging.Rules) {
	if w.Checks != nil && w.Checks.Enforced != "off" {
		to.Checks = append(to.Checks, w.Checks.Contexts...)
		to.Strict = to.Strict || w.Checks.Strict
	}
	if w.Reviews != nil {
		to.Approvals = max(to.Approvals, w.Reviews.Approvals)
		to.LastPush = to.LastPush || w.Reviews.LastPush
	}
	to.Linear = to.Linear || w.Linear.Enabled
	to.Threads = to.Threads || w.Threads.Enabled
	if w.Signed.Enabled {
		to.Other = append(to.Other, "required_signatures")
	}
	if w.Locked.Enabled {
		to.Other = append(to.Other, "lock_branch")
	}
}
