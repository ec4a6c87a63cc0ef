package config

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Review is the [repo.review] table: how pull requests are reviewed before people spend time on
// them.
type Review struct {
	Enabled      bool            `toml:"enabled" default:"true" words:"false: no reviews"`
	MaxFixCycles int             `toml:"max_fix_cycles" default:"2" least:"0" most:"100" words:"fixes of one pull request, for all reviewers together; then people decide; 0: none"`
	RequireHuman bool            `toml:"require_human_approval" default:"false" words:"true: a person with write permission who is not the author must approve, too"`
	Blocking     review.Severity `toml:"blocking_severity" default:"major" words:"lowest severity that requests changes: \"critical\", \"major\", \"minor\", \"nit\""`
	Merge        Merging         `toml:",inline"`
}

// review checks [repo.review].
func (p *parser) review(t place, r *Review) {
	r.Merge.ChecksTimeout = p.config.Runtime.ChecksTimeout
	for _, name := range r.Merge.Required {
		if name == "" || name != strings.TrimSpace(name) {
			t.bad("required_checks", "%q is no check's name; write it as GitHub shows it below the pull request", name)
		}
	}
	checkGlobs(t, "critical_paths", r.Merge.Critical)
	checkGlobs(t, "review_unread", r.Merge.Unread)
	if r.Merge.Auto && !r.Enabled {
		t.bad("auto_merge", "what nobody has reviewed is not merged, and enabled is false; write auto_merge = false, or enabled = true")
	}
}

// ReviewPolicy returns the rules for reviewing a flow's pull requests; it is off if there are no
// reviews.
func (r Repo) ReviewPolicy(flow work.Flow) review.Policy {
	if !r.Review.Enabled {
		return review.Policy{}
	}
	p := review.Policy{
		Pool:         map[string]review.Reviewer{},
		MaxFixCycles: r.Review.MaxFixCycles, RequireHuman: r.Review.RequireHuman,
		HearPeople: r.Review.RequireHuman || r.Review.Merge.Auto, Blocking: r.Review.Blocking,
	}
	for _, built := range builtInReviewers() {
		p.Pool[built.Name] = built.asReviewer()
	}
	for _, x := range r.Reviewers {
		p.Pool[x.Name] = x.asReviewer()
		if x.looksAt(flow) {
			p.Order = append(p.Order, x.asReviewer())
		}
	}
	return p
}
