package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// wireRule is a rule of a ruleset. Only the parameters in wireParameters are decoded.
type wireRule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters"`
}

func (w wireRule) Check() error {
	if w.Type == "" {
		return errors.New("no rule")
	}
	return nil
}

// wireParameters has the parameters of all kinds of rules that add handles; their names do not
// overlap.
type wireParameters struct {
	Checks []struct {
		Context string `json:"context"`
	} `json:"required_status_checks"`
	Strict    bool             `json:"strict_required_status_checks_policy"`
	Approvals int              `json:"required_approving_review_count"`
	LastPush  bool             `json:"require_last_push_approval"`
	Threads   bool             `json:"required_review_thread_resolution"`
	Methods   []merging.Method `json:"allowed_merge_methods"`
}

// Rules reads a branch's requirements for merges: the rulesets, which GitHub shows to every reader,
// and as much of the classic protection as the token may see. Known is false if GitHub does not
// show the rulesets; that does not mean that there are none.
func (c *Client) Rules(ctx context.Context, repo work.RepoName, branch string) (merging.Rules, error) {
	rules, err := c.rulesets(ctx, repo, branch)
	if err == nil {
		err = c.classic(ctx, repo, branch, &rules)
	}
	if err != nil {
		return merging.Rules{}, fmt.Errorf("read the rules of branch %q of %s: %w", branch, repo.FullName(), err)
	}
	slices.Sort(rules.Checks)
	slices.Sort(rules.Other)
	rules.Checks, rules.Other = slices.Compact(rules.Checks), slices.Compact(rules.Other)
	if slices.Contains(slices.Collect(maps.Values(rules.ETags)), "") {
		rules.ETags = nil
	}
	return rules, nil
}

// RulesAgain is Rules for a branch whose rules were read before, by the same account. If GitHub
// answers to each of the requests that nothing changed, it returns them. An answer that hid
// something has no ETag: that it still does is only found with another change.
func (c *Client) RulesAgain(ctx context.Context, repo work.RepoName, branch string, was merging.Rules) (merging.Rules, error) {
	same := was.ETags[branchURL(repo, branch)] != "" // else these are of another branch, or the repository was renamed
	for _, address := range slices.Sorted(maps.Keys(was.ETags)) {
		if !same {
			break
		}
		a, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: address, ETag: was.ETags[address]})
		same = err == nil && a.Status == http.StatusNotModified
	}
	if same {
		return was, nil
	}
	return c.Rules(ctx, repo, branch)
}

func branchURL(repo work.RepoName, branch string) string {
	return fmt.Sprintf("repos/%s/branches/%s", repo.FullName(), url.PathEscape(branch))
}

// isHidden reports whether the token may not see the requested object.
func isHidden(err error) bool {
	e, ok := errors.AsType[*transport.Error](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusForbidden)
}

func (c *Client) rulesets(ctx context.Context, repo work.RepoName, branch string) (merging.Rules, error) {
	address := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=100", repo.FullName(), url.PathEscape(branch))
	same := func(w wireRule) wireRule { return w }
	first, err := transport.ReadPage(ctx, c.api, transport.PageRequest{URL: address}, same)
	all := first.Items
	if err == nil && first.Next != "" {
		var more []wireRule
		more, err = transport.ReadAll(ctx, c.api, first.Next, same)
		all = append(all, more...)
	}
	rules := merging.Rules{ETags: map[string]string{}}
	if isHidden(err) {
		return rules, nil
	}
	if err != nil {
		return merging.Rules{}, err
	}
	rules.Known = true
	if rules.ETags[address] = first.ETag; len(first.Items) >= 100 {
		rules.ETags[address] = "" // a further page leaves this one and its ETag as they are
	}
	for _, one := range all {
		if err := one.add(&rules); err != nil {
			return merging.Rules{}, fmt.Errorf("rule %q: %w", one.Type, err)
		}
	}
	return rules, nil
}

// add merges a rule into the others; the strictest wins. Requirements that GitHub includes in its
// review decision are not evaluated here.
func (w wireRule) add(to *merging.Rules) error {
	var p wireParameters
	switch w.Type {
	case "creation", "deletion", "non_fast_forward", "branch_name_pattern", "tag_name_pattern", "copilot_code_review":
		return nil // no merge breaks these
	case "required_linear_history":
		to.Linear = true
		return nil
	case "merge_queue":
		to.Queue = true
		return nil
	case "pull_request", "required_status_checks":
		if len(w.Parameters) > 0 {
			if err := json.Unmarshal(w.Parameters, &p); err != nil {
				return err
			}
		}
	default:
		to.Other = append(to.Other, w.Type)
		return nil
	}
	for _, check := range p.Checks {
		to.Checks = append(to.Checks, check.Context)
	}
	to.Strict = to.Strict || p.Strict && len(p.Checks) > 0
	to.Approvals = max(to.Approvals, p.Approvals)
	to.LastPush = to.LastPush || p.LastPush
	to.Threads = to.Threads || p.Threads
	narrowMethods(to, p.Methods)
	return nil
}

// noMethod is the only method if rules allow no common one; no merge has it.
const noMethod merging.Method = "none"

// narrowMethods intersects the methods with those that a rule allows. A rule without methods allows
// all.
func narrowMethods(to *merging.Rules, allowed []merging.Method) {
	switch {
	case len(allowed) == 0:
		return
	case len(to.Methods) == 0:
		to.Methods = allowed
		return
	}
	to.Methods = slices.DeleteFunc(to.Methods, func(m merging.Method) bool { return !slices.Contains(allowed, m) })
	if len(to.Methods) == 0 { // an empty list would allow any
		to.Methods = []merging.Method{noMethod}
	}
}

// wireProtectedBranch is a branch with the part of its classic protection that every reader sees.
type wireProtectedBranch struct {
	Name       string         `json:"name"`
	Protection wireProtection `json:"protection"`
}

func (w wireProtectedBranch) Check() error {
	if w.Name == "" {
		return errors.New("no branch")
	}
	return nil
}

// wireProtection is a classic protection. Administrators see all of it, others only Enabled and the
// names of checks.
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

func (w wireProtection) Check() error { return nil } // every field may be absent

type wireSwitch struct {
	Enabled bool `json:"enabled"`
}

// classic adds the classic protection of a branch. The part visible to all comes with the branch.
// The rest is visible to administrators and is requested only if there is a protection. Others miss
// little: GitHub's own verdicts about a pull request include it.
func (c *Client) classic(ctx context.Context, repo work.RepoName, branch string, rules *merging.Rules) error {
	address := branchURL(repo, branch)
	var b wireProtectedBranch
	if found, err := c.readRules(ctx, address, &b, rules); err != nil || !found || !b.Protection.Enabled {
		return err
	}
	b.Protection.add(rules)
	var all wireProtection
	if found, err := c.readRules(ctx, address+"/protection", &all, rules); err != nil || !found {
		return err
	}
	all.add(rules)
	return nil
}

// readRules reads one document and notes its ETag; false if GitHub hides it.
func (c *Client) readRules(ctx context.Context, address string, into transport.Plausible, rules *merging.Rules) (bool, error) {
	a, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: address})
	if isHidden(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rules.ETags[address] = a.Header.Get("Etag")
	return true, a.Decode(into)
}

// add merges a classic protection into the rules.
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
