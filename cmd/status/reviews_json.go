package status

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// reviewView is the state of the reviews of a pull request; null: it has none.
type reviewView struct {
	State     string         `json:"state"`               // `pending`, `reviewing`, `checking_approval`, `fixing`, `approved`, `error`, `human_review_required`, `merged`, `closed`
	Reviewers []reviewerView `json:"reviewers"`           // in their order
	Outcomes  []outcomeView  `json:"outcomes"`            // the oldest first
	FixCycle  int            `json:"fixCycle"`            // fixes that were pushed since people had the reviews begin
	MaxCycles int            `json:"maxFixCycles"`        // how many fixes there may be
	Human     bool           `json:"humanReviewRequired"` // whether only people review from now on
	MergeType string         `json:"mergeType"`           // forced, approved, auto; empty: it is not merged
	Current   string         `json:"currentReviewer"`     // is asked, or whose demands are fixed; empty: nobody
	Retries   int            `json:"retries"`             // attempts of a review or a fix that failed
	LastError string         `json:"lastError"`           // the last one's error
}

// reviewerView is one of the reviewers who must approve.
type reviewerView struct {
	Name     string `json:"name"`       // an agent's, or a login
	Type     string `json:"type"`       // agent, human
	Decision string `json:"decision"`   // the last one: approve, request_changes; empty: none
	Head     string `json:"head"`       // the commit that the verdict is about
	Counts   bool   `json:"counts"`     // for the head as it is
	Current  bool   `json:"current"`    // it is their turn
	CalledIn string `json:"calledInBy"` // empty: the config names them
}

// outcomeView is one verdict.
type outcomeView struct {
	Reviewer    string     `json:"reviewer"`        // who gave the verdict
	Decision    string     `json:"decision"`        // `approve` or `request_changes`
	Findings    int        `json:"findings"`        // how many findings it has
	Highest     string     `json:"highestSeverity"` // empty: no findings
	Escalations []string   `json:"escalations"`     // reviewers that it calls in
	Head        string     `json:"head"`            // the commit that it is about
	Cycle       int        `json:"cycle"`           // fixes that were pushed before it
	At          *time.Time `json:"at"`              // when
	URL         string     `json:"url"`             // its address on GitHub; empty: it has none
}

// reviewBrief is the part of the reviews that status shows.
type reviewBrief struct {
	State    string `json:"state"`               // as in `review` of `show`
	Current  string `json:"currentReviewer"`     // who is asked, or whose demands are fixed; empty: nobody
	FixCycle int    `json:"fixCycle"`            // fixes that were pushed since people had the reviews begin
	Human    bool   `json:"humanReviewRequired"` // whether only people review from now on
}

func viewReview(f Facts) *reviewView {
	r, ok := f.reviewed()
	if !ok {
		return nil
	}
	b := r.brief()
	return &reviewView{
		State: b.State, Current: b.Current, FixCycle: b.FixCycle, Human: b.Human,
		MaxCycles: f.Reviewers.MaxFixCycles, MergeType: string(f.Reviews.Record.MergeType), Retries: r.retries, LastError: r.trouble,
		Reviewers: terminal.Each(r.line, r.viewReviewer), Outcomes: terminal.Each(f.Reviews.Verdicts, viewOutcome),
	}
}

func viewReviewBrief(f Facts) *reviewBrief {
	r, ok := f.reviewed()
	if !ok {
		return nil
	}
	b := r.brief()
	return &b
}

func (r reviews) brief() reviewBrief {
	b := reviewBrief{State: string(r.state), FixCycle: r.cycle, Human: r.state == review.HumanReview}
	if r.now(r.who) {
		b.Current = r.who
	}
	return b
}

func (r reviews) viewReviewer(x review.Reviewer) reviewerView {
	v, said := r.said(x.Name)
	return reviewerView{
		Name: x.Name, Type: kindOf(x.Human), Decision: string(v.Decision), Head: v.Head, Counts: said && r.counts(v),
		Current: r.now(x.Name), CalledIn: r.calledInBy(x.Name),
	}
}

func viewOutcome(v review.Verdict) outcomeView {
	return outcomeView{
		Reviewer: cmp.Or(v.Reviewer, v.By.Login), Decision: string(v.Decision), Findings: v.Count, Highest: string(v.Highest),
		Escalations: terminal.OrEmpty(v.CalledIn), Head: v.Head, Cycle: v.Cycle, At: terminal.Stamp(v.At), URL: v.URL,
	}
}

// logView is one entry of the log of reviews.
type logView struct {
	At     *time.Time      `json:"at"`     // when
	What   string          `json:"what"`   // what happened
	Number int             `json:"number"` // of the pull request
	Key    string          `json:"key"`    // key of its subject
	Data   json.RawMessage `json:"data"`   // details, which differ by `what`
}

func viewLog(e store.ReviewLog) logView {
	v := logView{At: terminal.Stamp(e.At), What: e.What, Number: e.Number, Key: e.Key, Data: json.RawMessage(e.Data)}
	if !json.Valid(v.Data) {
		v.Data = json.RawMessage("null")
	}
	return v
}
