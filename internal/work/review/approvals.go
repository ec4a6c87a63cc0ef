package review

import "slices"

// Approvals are who has approved a head, and who has not.
type Approvals struct {
	All     bool     // every reviewer, and nothing is against it
	Wanting []string // reviewers that have not, by their names
	Reviews []int64  // GitHub's numbers of the reviews by which the others have
	Person  bool     // a person who is not the author has
	Against []string // people whose last word, of whichever head, requests changes
}

// ApprovalsOf says who has approved the head as it is. Whether a person has to, beside the
// reviewers, is another question.
func ApprovalsOf(f Facts, p Policy) Approvals {
	d := decision{f: f, p: p, line: Line(p, f.Inserted)}
	a := Approvals{Person: d.personApproves(), Against: d.against()}
	for _, r := range d.line {
		v, said := d.standing(r.Name)
		switch {
		case !said || v.Decision != Approve:
			a.Wanting = append(a.Wanting, r.Name)
		case v.ReviewID != 0:
			a.Reviews = append(a.Reviews, v.ReviewID)
		}
	}
	switch Decide(f, p).State {
	case Approved, Checking:
		a.All = len(a.Wanting) == 0
	case Pending, Reviewing, Fixing, Failed, HumanReview, Merged, Closed:
	}
	return a
}

// against are the people who requested changes and have neither approved since nor been
// dismissed, as GitHub shows them: a push answers nobody.
func (d *decision) against() []string {
	said := map[int64]bool{}
	var logins []string
	for _, v := range slices.Backward(d.f.Verdicts) {
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
