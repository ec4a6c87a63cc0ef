package githubsim

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gqlFound is a SearchResultItemConnection.
type gqlFound struct {
	IssueCount int32
	Nodes      *[]*gqlNumbered
	PageInfo   gqlPageInfo
}

// Edges are the nodes once more.
func (f *gqlFound) Edges() *[]*gqlEdge[*gqlNumbered] { return edgesOf(*f.Nodes) }

var searchWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:"[^"]*"|[^\s"]+)+`) })

// Search finds issues and pull requests by the qualifiers that gh's lists use: repo, is, type,
// state, label, author, review-requested. Other words are looked for in titles.
func (*gqlRoot) Search(ctx context.Context, a struct {
	PageArgs
	Query, Type string
},
) *gqlFound {
	x := gqlFrom(ctx)
	words := searchWord().FindAllString(a.Query, -1)
	var list []*issue
	for _, r := range x.h.repos {
		if !r.can(x.viewer, "read") {
			continue
		}
		for _, is := range r.issues {
			if !is.deleted && x.shown(is.lag) && !slices.ContainsFunc(words, func(word string) bool { return !is.answers(word, x.viewer) }) {
				list = append(list, is)
			}
		}
	}
	slices.Reverse(list) // the newest first
	p := gqlPaginate(list, a.PageArgs, func(is *issue) *gqlNumbered { return &gqlNumbered{x, is} })
	return &gqlFound{p.TotalCount, p.Nodes, p.PageInfo}
}

// answers tells whether an issue is what a word of a search asks for.
func (is *issue) answers(word string, viewer *user) bool {
	key, value, qualified := strings.Cut(strings.ReplaceAll(word, `"`, ""), ":")
	by := func(u *user) bool { return strings.EqualFold(u.login, value) || value == "@me" && u == viewer }
	switch {
	case !qualified:
		return strings.Contains(strings.ToLower(is.title), strings.ToLower(key))
	case key == "repo":
		return strings.EqualFold(is.repo.fullName(), value)
	case key == "label":
		return is.hasLabels(value)
	case key == "author":
		return is.author != nil && by(is.author)
	case key == "review-requested":
		return is.pull != nil && slices.ContainsFunc(is.pull.reviewers, by)
	case key == "state":
		return is.state == value
	}
	switch value { // of is: and type:
	case "issue":
		return is.pull == nil
	case "pr":
		return is.pull != nil
	case "open", "closed":
		return is.state == value
	}
	return false
}
