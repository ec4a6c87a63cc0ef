package config

import (
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Merging holds the keys of [repo.review] about merging.
type Merging struct {
	Auto     bool           `toml:"auto_merge" default:"false" words:"true: merge the commit that all reviewers approved; the keys below belong to this"`
	Method   merging.Method `toml:"merge_method" words:"\"squash\", \"merge\" or \"rebase\"; default: the first that the repository allows"`
	Required []string       `toml:"required_checks" words:"names of checks that must succeed, beside those that GitHub requires"`
	Critical []string       `toml:"critical_paths" words:"such as [\"db/**\", \"**/*.sql\"]: a person must approve changes of these paths; case does not matter"`
	Unread   []string       `toml:"review_unread" words:"such as [\"**/*.pb.go\", \"**/*.png\"]: files that reviewers need not be shown whole; others that they were not ask for a person"`

	ChecksTimeout time.Duration // Timings.ChecksTimeout
}

// MergePolicy returns the rules for merging a flow's pull requests. It is off if nobody has to
// approve them, and for pull requests of others.
func (r Repo) MergePolicy(flow work.Flow) merging.Policy {
	reviewed := r.ReviewPolicy(flow)
	if !r.Review.Merge.Auto || !r.Review.Enabled || flow == work.FlowReview || len(reviewed.Order) == 0 && !reviewed.RequireHuman {
		return merging.Policy{}
	}
	m := r.Review.Merge
	return merging.Policy{
		Auto: true, Method: m.Method, Required: m.Required, ChecksTimeout: m.ChecksTimeout,
		Critical: m.Critical, Unread: m.Unread, RequireHuman: reviewed.RequireHuman, Approvers: r.approvers(flow),
		Freeze: r.Labels.Freeze, Hold: r.Labels.Hold, Ignore: r.Labels.Ignore, Match: means,
	}
}

// approvers returns the logins of those who approve a flow's pull requests on GitHub with another
// account than their author's; "" is any person.
func (r Repo) approvers(flow work.Flow) (logins []string) {
	if r.Review.RequireHuman {
		logins = append(logins, "")
	}
	for _, x := range r.Reviewers {
		if login := x.Speaks(); x.looksAt(flow) && login != "" {
			logins = append(logins, login)
		}
	}
	return logins
}

// Protects reports whether no push may change a path.
func (r Repo) Protects(path string) bool {
	return slices.ContainsFunc(r.ProtectedPaths, func(glob string) bool { return means(glob, path) })
}

// MayStayUnread reports whether reviewers need not be shown a file whole.
func (r Repo) MayStayUnread(path string) bool {
	return slices.ContainsFunc(r.Review.Merge.Unread, func(glob string) bool { return means(glob, path) })
}

// means reports whether a glob of the config matches a path, ignoring case, as for protected paths.
func means(glob, path string) bool {
	ok, err := doublestar.Match(strings.ToLower(glob), strings.ToLower(path))
	return ok && err == nil
}
