package review

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Line is the reviewers in their order, with those who were called in right behind
// whoever called them. One who stands later in the order already is taken forward.
func Line(p Policy, inserted []Insertion) []Reviewer {
	line := slices.Clone(p.Order)
	behind := map[string]int{} // how many one has called in
	for _, in := range inserted {
		who, known := p.Pool[in.Name]
		if !known {
			continue // the config knows the name no more
		}
		at, now := index(line, in.By), index(line, in.Name)
		switch {
		case at < 0 && now >= 0, now >= 0 && now < at, in.Name == in.By:
			continue // looks at it anyway
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

// ReviewerOf finds a reviewer of the line, or one who may be called in.
func (p Policy) ReviewerOf(name string) (Reviewer, bool) {
	if i := index(p.Order, name); i >= 0 {
		return p.Order[i], true
	}
	r, ok := p.Pool[name]
	return r, ok
}

// CallIn is whom a verdict calls in: those it may, each once for a pull request. The
// rest it names in vain.
func CallIn(p Policy, v Verdict, before []Insertion) (in []Insertion, vain []string) {
	who, _ := p.ReviewerOf(v.Reviewer)
	for _, name := range v.CalledIn {
		_, known := p.Pool[name]
		again := func(i Insertion) bool { return i.Name == name }
		switch {
		case !known || !slices.Contains(who.MayCallIn, name) || name == v.Reviewer:
			vain = append(vain, name)
		case !slices.ContainsFunc(before, again) && !slices.ContainsFunc(in, again):
			in = append(in, Insertion{PullID: v.PullID, Name: name, By: v.Reviewer, At: v.At})
		}
	}
	return in, vain
}

// Is reports whether a reviewer is a person, and this account is theirs.
func (r Reviewer) Is(who work.Account) bool {
	switch {
	case !r.Human || r.Login == "":
		return false
	case r.LoginID != 0:
		return r.LoginID == who.ID
	}
	return strings.EqualFold(r.Login, who.Login)
}
