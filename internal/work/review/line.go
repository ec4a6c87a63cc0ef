package review

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Line returns the reviewers in order. A reviewer who was called in comes directly after the one
// who called; one who would come later moves forward.
func Line(p Policy, inserted []Insertion) []Reviewer {
	line := slices.Clone(p.Order)
	behind := map[string]int{} // number of reviewers that each one called in
	for _, in := range inserted {
		who, known := p.Pool[in.Name]
		if !known {
			continue // the config no longer has the reviewer
		}
		at, now := index(line, in.By), index(line, in.Name)
		switch {
		case at < 0 && now >= 0, now >= 0 && now < at, in.Name == in.By:
			continue // reviews anyway
		case at < 0:
			line = append(line, who)
			continue
		case now >= 0:
			line = slices.Delete(line, now, now+1)
		}
		line = slices.Insert(line, min(at+1+behind[in.By], len(line)), who)
		behind[in.By]++
	}
	return line
}

func index(line []Reviewer, name string) int {
	return slices.IndexFunc(line, func(r Reviewer) bool { return r.Name == name })
}

// ReviewerOf finds a reviewer of the order or the pool.
func (p Policy) ReviewerOf(name string) (Reviewer, bool) {
	if i := index(p.Order, name); i >= 0 {
		return p.Order[i], true
	}
	r, ok := p.Pool[name]
	return r, ok
}

// CallIn returns whom a verdict calls in: reviewers that it may call in, each once for a pull
// request. vain has the other names, without those of reviewers who look at it anyway.
func CallIn(p Policy, v Verdict, before []Insertion) (in []Insertion, vain []string) {
	who, _ := p.ReviewerOf(v.Reviewer)
	line := Line(p, before)
	for _, name := range v.CalledIn {
		_, known := p.Pool[name]
		again := func(i Insertion) bool { return i.Name == name }
		switch {
		case !known || !slices.Contains(who.MayCallIn, name) || name == v.Reviewer:
			if index(line, name) < 0 || name == v.Reviewer {
				vain = append(vain, name)
			}
		case !slices.ContainsFunc(before, again) && !slices.ContainsFunc(in, again):
			in = append(in, Insertion{PullID: v.PullID, Name: name, By: v.Reviewer, At: v.At})
		}
	}
	return in, vain
}

// Is reports whether the reviewer is a person and has this account.
func (r Reviewer) Is(who work.Account) bool {
	switch {
	case !r.Human || r.Login == "":
		return false
	case r.LoginID != 0:
		return r.LoginID == who.ID
	}
	return strings.EqualFold(r.Login, who.Login)
}
