package env

import (
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// Present returns what GitHub lists below a roadmap's issue, in its order, then the sub-issues of nodes that it
// no longer lists. The roadmap's document is checked with them.
func Present(repo work.RepoName, subs []github.Issue, nodes []roadmap.Child) (all []roadmap.Present) {
	of := map[int]string{}
	for _, c := range nodes {
		if c.Number != 0 {
			of[c.Number] = c.Node
		}
	}
	for _, is := range subs {
		text := work.Unmarked(is.Body)
		p := roadmap.Present{Title: is.Title, Text: text[:min(len(text), roadmap.MaxPresentText)], State: is.Dependency()}
		if is.Repo.Equal(repo) {
			p.Number, p.Node = is.Number, of[is.Number]
			delete(of, is.Number)
		}
		all = append(all, p)
	}
	for _, c := range nodes {
		if _, hidden := of[c.Number]; hidden {
			all = append(all, roadmap.Present{Number: c.Number, Node: c.Node})
			delete(of, c.Number)
		}
	}
	return all
}
