package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Review is the state of the reviews of a pull request.
type Review struct {
	State     review.State     `json:"state"`        // [states](states.md)
	Reviewers []Reviewer       `json:"reviewers"`    // in the order in which they review
	Outcomes  []Outcome        `json:"verdicts"`     // all, oldest first
	Findings  []Finding        `json:"findings"`     // the open ones, the most severe first
	FixCycle  int              `json:"fixCycle"`     // fixes pushed since people started or restarted the reviews
	MaxCycles int              `json:"maxFixCycles"` // then a person must review
	MergeType review.MergeType `json:"mergeType"`    // `forced`, `approved` or `auto`
	Current   string           `json:"reviewer"`     // who reviews now, or whose findings are fixed now
	LastError string           `json:"error"`        // of the last failed attempt

	heldBy string // who holds them; empty: nobody
}

// Reviewer is one of the reviewers who must approve.
type Reviewer struct {
	Name     string          `json:"name"`     // in the config, or a login
	Type     string          `json:"type"`     // `agent` or `human`
	Decision review.Decision `json:"decision"` // the last
	Counts   bool            `json:"counts"`   // for the current head
	CalledIn string          `json:"calledInBy"`

	head    string // the commit that the verdict is about
	current bool   // they are the next to review
	says    string // their last verdict
	looks   bool   // the reviewer looks next, also after an earlier verdict
	last    Outcome
}

// Outcome is one verdict.
type Outcome struct {
	Reviewer string          `json:"reviewer"`
	Decision review.Decision `json:"decision"`
	Findings int             `json:"findings"` // how many
	Head     string          `json:"head"`     // the commit that it is about
	At       terminal.Time   `json:"at"`
	URL      string          `json:"url"`
}

// Finding is a reviewer's remark that is not resolved.
type Finding struct {
	Severity review.Severity `json:"severity"` // `critical`, `major`, `minor` or `nit`
	Path     string          `json:"path"`
	Line     int             `json:"line"` // 0: the whole file
	Reviewer string          `json:"reviewer"`
	Text     string          `json:"text"` // the first line
	URL      string          `json:"url"`  // of its comment, else of the review
}

// review returns the state of the reviews; nil if the item has none.
func (f ItemFacts) review() *Review {
	now := f.Reviews.Record
	if f.Review != nil { // as the next pass decides: what the item waits for follows from that, too
		now = *f.Review
		if f.Reviews.Record.State == "" {
			now.State = review.Pending
		}
	}
	if now.State == "" {
		return nil
	}
	if now.State == review.Approved && now.Head != "" && now.Head != f.NewestHead() { // an approval covers one commit
		now.State = review.Reviewing
	}
	r := &Review{
		State: now.State, FixCycle: review.FixCycle(f.Reviews.Fixes, now.Epoch), MaxCycles: f.Reviewers.MaxFixCycles, MergeType: now.MergeType,
		LastError: now.LastError, Outcomes: terminal.Each(f.Reviews.Verdicts, outcomeOf), Findings: f.findings(),
	}
	if r.State != review.Approved && !r.State.Ended() {
		r.Current = now.Reviewer
	}
	if f.HeldBack != nil {
		r.heldBy = cmp.Or(f.HeldBack.By, "a label")
	}
	if t := f.Turn; t != nil && t.Reviewer != "" && t.LastError != "" {
		r.LastError = t.LastError
	}
	r.Reviewers = terminal.Each(review.Line(f.Reviewers, f.Reviews.Inserted), func(x review.Reviewer) Reviewer { return f.reviewer(*r, x) })
	return r
}

// reviewer is one of the reviewers, with the last verdict.
func (f ItemFacts) reviewer(r Review, x review.Reviewer) Reviewer {
	v, is := Reviewer{Name: x.Name, Type: "agent", current: x.Name == r.Current && x.Name != ""}, ""
	if x.Human {
		v.Type = "human"
	}
	v.looks = f.Begins != nil && f.Begins.Kind == work.KindReview && f.Begins.Reviewer == x.Name
	for _, in := range f.Reviews.Inserted {
		if in.Name == x.Name {
			v.CalledIn = in.By
			break
		}
	}
	for _, said := range slices.Backward(f.Reviews.Verdicts) {
		if said.Reviewer != x.Name {
			continue
		}
		v.last, v.Decision, v.head = outcomeOf(said), said.Decision, said.Head
		v.Counts = said.Head == f.NewestHead() && said.Validity != review.TakenBack
		switch {
		case said.Validity == review.TakenBack:
			is = v.decided("approval was dismissed", "request for changes was dismissed")
		case !v.Counts:
			is = v.decided("approved an earlier commit", "requested changes on an earlier commit")
		default:
			is = v.decided("approves", "requests changes")
		}
		break
	}
	held := f.HeldBack != nil || f.Pause != nil || f.Halt != nil
	if v.current && !v.Counts && !held && !r.State.Stopped() && r.State != review.Fixing {
		is = strings.TrimPrefix(is+"; is next", "; ")
		if f.Reviewers.Author != "" && x.Human && strings.EqualFold(x.Login, f.Reviewers.Author) { // GitHub accepts no verdict of theirs
			is += ", by /mergexo approve: the pull request is their own"
		}
	}
	v.says = cmp.Or(is, "not asked yet")
	return v
}

// decided returns one of two words by the reviewer's last decision; "" if there is none.
func (x Reviewer) decided(approved, changes string) string {
	switch x.Decision {
	case "":
		return ""
	case review.Approve:
		return approved
	case review.RequestChanges:
	}
	return changes
}

func outcomeOf(v review.Verdict) Outcome {
	return Outcome{cmp.Or(v.Reviewer, v.By.Login), v.Decision, v.Count, v.Head, terminal.Stamp(v.At), v.URL}
}

// findings are the open findings, most severe first.
func (f ItemFacts) findings() []Finding {
	open := slices.DeleteFunc(slices.Clone(f.Reviews.Findings), func(x review.Finding) bool { return !x.Open() })
	sorted.By(open, func(x, y review.Finding) int {
		return cmp.Compare(slices.Index(review.Severities(), x.Severity), slices.Index(review.Severities(), y.Severity))
	})
	return terminal.Each(open, func(x review.Finding) Finding {
		url := f.Pull.URL
		if x.CommentID != 0 {
			url += fmt.Sprintf("#discussion_r%d", x.CommentID)
		} else if i := slices.IndexFunc(f.Reviews.Verdicts, func(v review.Verdict) bool { return v.ID == x.VerdictID && v.ID != 0 }); i >= 0 {
			url = f.Reviews.Verdicts[i].URL
		}
		return Finding{x.Severity, x.Path, x.Line, x.Reviewer, firstLine(x.Body), url}
	})
}

// head are the lines about reviews above the tables of show.
func (r *Review) head() [][2]string {
	if r == nil {
		return nil
	}
	state := strings.Join(slices.DeleteFunc([]string{string(r.State), r.Current, string(r.MergeType)}, func(s string) bool { return s == "" }), ", ")
	return [][2]string{
		{"review", fmt.Sprintf("%s; %d of %s", state, r.FixCycle, work.Count(r.MaxCycles, "fix cycle"))},
		{"reviewers", r.drawing()},
		{"review held by", r.heldBy},
		{"review trouble", r.LastError},
	}
}

// drawing is the line of reviewers, with marks for who approves this head and who requests changes,
// and brackets around the one whose turn it is.
func (r *Review) drawing() string {
	return strings.Join(terminal.Each(r.Reviewers, func(x Reviewer) string {
		s := x.Name
		if x.Counts && !x.looks {
			s += x.decided(" ✓", " ✗")
		}
		if x.current {
			s = "[" + s + "]"
		}
		return s
	}), " → ")
}

// printReviewing prints the reviewers with their verdicts, and the open findings.
func (s Story) printReviewing(out terminal.Output) error {
	if s.Item.Review == nil {
		return nil
	}
	reviewers := terminal.Each(s.Item.Review.Reviewers, func(x Reviewer) []string {
		return []string{x.Name, x.Type, x.says, short(x.head), out.When(x.last.At.Time, s.Item.now), x.CalledIn, x.last.URL}
	})
	findings := terminal.Each(s.Item.Review.Findings, func(x Finding) []string {
		return []string{string(x.Severity), place(x.Path, x.Line), x.Reviewer, x.Text, x.URL}
	})
	return printParts(out,
		part{"reviewer", []string{"NAME", "TYPE", "VERDICT", "COMMIT", "WHEN", "CALLED IN BY", "LINK"}, reviewers},
		part{"finding", []string{"SEVERITY", "WHERE", "REVIEWER", "TEXT", "LINK"}, findings})
}

// shortDigits is how many digits of a commit are shown.
const shortDigits = 12

func short(head string) string { return head[:min(len(head), shortDigits)] }
