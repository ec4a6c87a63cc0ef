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
	Auto     bool
	Method   merging.Method // empty: the first one that the repository allows
	Required []string       // names of checks that must be green, in addition to GitHub's
	Critical []string       // globs of paths whose changes need a person's approval
	Unread   []string       // globs of paths that reviewers need not be shown whole

	ChecksTimeout time.Duration // Timings.ChecksTimeout
}

// mergingKeys are the keys of [repo.review] about merging.
func mergingKeys(m *Merging) []key {
	return []key{
		flagKey("auto_merge", &m.Auto, false).says("true: merge the commit that all reviewers approved; the keys below belong to this"),
		of(textKey("merge_method", &m.Method, "").says(`"squash", "merge" or "rebase"; default: the first that the repository allows`), append(merging.Methods(), "")...),
		textsKey("required_checks", &m.Required).says("names of checks that must succeed, beside those that GitHub requires"),
		textsKey("critical_paths", &m.Critical).says(`such as ["db/**", "**/*.sql"]: a person must approve changes of these paths; case does not matter`),
		textsKey("review_unread", &m.Unread).says(`such as ["**/*.pb.go", "**/*.png"]: files that reviewers need not be shown whole; others that they were not ask for a person`),
	}
}

func checkMerging(t *Table, m Merging) {
	if m.Method != "" {
		oneOf(t, "merge_method", m.Method, merging.Methods())
	}
	for _, name := range m.Required {
		if strings.TrimSpace(name) == "" || name != strings.TrimSpace(name) {
			t.bad("required_checks", "%q is no check's name; write it as GitHub shows it below the pull request", name)
		}
	}
	checkGlobs(t, "critical_paths", m.Critical)
	checkGlobs(t, "review_unread", m.Unread)
}

// oneOf rejects a value outside a choice.
func oneOf[T ~string](t *Table, key string, value T, choice []T) {
	names := make([]string, len(choice))
	for i, c := range choice {
		if c == value {
			return
		}
		names[i] = string(c)
	}
	t.bad(key, "want %s, got %q%s", quoted(choice), value, meant(string(value), names, "%q"))
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
