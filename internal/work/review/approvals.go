package review

import "slices"

// Approvals are who has approved a head, and who has not.
type Approvals struct {
	All     bool     // every reviewer approved, and no verdict is against it
	Wanting []string // names of the reviewers who have not
	Person  bool     // a person who is not the author approved
	Against []string // people whose last verdict, on any head, requests changes
	Unread  []string // paths that an agent who approved was not shown whole, each once
}

// approvalsOf returns who has approved the current head. It does not decide whether a person must
// also approve.
func approvalsOf(f Facts, p Policy) Approvals {
	d := decision{f: f, p: p, line: Line(p, f.Inserted)}
	a := Approvals{Person: d.personApproves(), Against: f.Against()}
	for _, r := range d.line {
		if v, said := d.currentVerdict(r.Name); !said || v.Decision != Approve {
			a.Wanting = append(a.Wanting, r.Name)
		} else {
			a.Unread = append(a.Unread, v.Unread...)
		}
	}
	slices.Sort(a.Unread)
	a.Unread = slices.Compact(a.Unread)
	switch decide(f, p).State {
	case Approved, Checking:
		a.All = len(a.Wanting) == 0
	case Pending, Reviewing, Fixing, Failed, HumanReview, Merged, Closed:
	}
	return a
}

// Against returns the people who requested changes on GitHub, have not approved since and whose
// review was not dismissed. A push does not clear a request for changes.
func (f Facts) Against() []string {
	said := map[int64]bool{}
	var logins []string
	for _, v := range slices.Backward(f.Verdicts) {
		if !v.Human || said[v.By.ID] {
			continue
		}
		said[v.By.ID] = true
		if v.Decision == RequestChanges && v.Validity != TakenBack {
			logins = append(logins, v.By.Login)
		}
	}
	slices.Sort(logins)
	return logins
}
