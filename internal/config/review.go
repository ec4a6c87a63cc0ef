package config

import (
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// reviewsByDefault is the default of enabled in [repo.review].
const reviewsByDefault = true

// Review is the [repo.review] table: how pull requests are reviewed before people spend time on
// them.
type Review struct {
	Enabled      bool
	MaxFixCycles int // fixes pushed for one pull request before people take over
	RequireHuman bool
	Blocking     review.Severity // least severity at which findings may request changes
	Merge        Merging
}

// reviewKeys are the keys of [repo.review].
func reviewKeys(r *Review) []key {
	return append([]key{
		flagKey("enabled", &r.Enabled, reviewsByDefault).says("false: no reviews"),
		countKey("max_fix_cycles", &r.MaxFixCycles, 2, 0, 100).says("fixes of one pull request, for all reviewers together; then people decide; 0: none"),
		flagKey("require_human_approval", &r.RequireHuman, false).says("true: a person with write permission who is not the author must approve, too"),
		of(textKey("blocking_severity", &r.Blocking, review.Major).says(`lowest severity that requests changes: "critical", "major", "minor", "nit"`), review.Severities()...),
	}, mergingKeys(&r.Merge)...)
}

func (p *parser) review(t *Table) (r Review) {
	readKeys(t, reviewKeys(&r))
	checkMerging(t, r.Merge)
	if r.Merge.Auto && !r.Enabled {
		t.bad("auto_merge", "what nobody has reviewed is not merged, and enabled is false; write auto_merge = false, or enabled = true")
	}
	if !r.Blocking.AtLeast(review.Nit) {
		t.bad("blocking_severity", "want %s, got %q", quoted(review.Severities()), r.Blocking)
	}
	t.done()
	return r
}

// quoted lists names as a choice.
func quoted[T ~string](names []T) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = strconv.Quote(string(n))
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
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
