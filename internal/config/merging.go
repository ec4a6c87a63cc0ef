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
	Auto          bool
	Method        merging.Method // empty: the first one that the repository allows
	Required      []string       // names of checks that must be green, in addition to GitHub's
	ChecksTimeout time.Duration  // for a required check that does not report at all
	Critical      []string       // globs of paths whose changes need a person's approval
	MaxLines      int            // changes of more lines need a person's approval; 0: no limit
	Unread        []string       // globs of paths that reviewers need not be shown whole
	DeleteBranch  merging.Setting
}

// mergingKeys are the keys of [repo.review] about merging.
func mergingKeys(m *Merging) []key {
	return []key{
		flagKey("auto_merge", &m.Auto, false),
		textKey("merge_method", &m.Method, ""),
		textsKey("required_checks", &m.Required),
		durationKey("checks_timeout", &m.ChecksTimeout, time.Hour, time.Second),
		textsKey("critical_paths", &m.Critical),
		countKey("max_merge_lines", &m.MaxLines, 0, 0, 1_000_000),
		textsKey("review_unread", &m.Unread),
		ownKey("delete_branch", func(t *Table) { m.DeleteBranch = deleteBranch(t) }, func() any {
			if m.DeleteBranch == "" {
				return ""
			}
			return m.DeleteBranch == merging.Yes
		}),
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

// deleteBranch reads whether the branch of a landed pull request is deleted; "" leaves that to the
// repository's setting.
func deleteBranch(t *Table) merging.Setting {
	switch written, _ := t.Get("delete_branch"); written {
	case true:
		return merging.Yes
	case false:
		return merging.No
	case nil, "":
	default:
		t.bad("delete_branch", `want true or false, or "" for the repository's own setting`)
	}
	return ""
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
		Critical: m.Critical, MaxLines: m.MaxLines, Unread: m.Unread, RequireHuman: reviewed.RequireHuman, Approvers: r.approvers(flow), FixesChecks: r.Checks != work.ChecksNever,
		DeleteBranch: m.DeleteBranch, Freeze: r.Labels.Freeze,
		Hold: r.Labels.Hold, Ignore: r.Labels.Ignore, Match: means,
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
