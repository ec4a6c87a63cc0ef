package demo

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// What the program says in JSON, as far as the demo reads it: it knows the program
// as everybody does who types its commands.

// report is what tick --json says.
type report struct {
	Repositories []repoRead `json:"repositories"`
	Turns        []turn     `json:"turns"`
	Plan         []planLine `json:"plan"`
}

// repoRead is how the reading of a repository went.
type repoRead struct {
	Repo     string `json:"repo"`
	Ingested bool   `json:"ingested"`
	Failed   bool   `json:"failed"`
	Note     string `json:"note"`
}

// turn is a turn of a pass.
type turn struct {
	Number  int       `json:"number"`
	Kind    work.Kind `json:"kind"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason"`
	URL     string    `json:"url"`
	Resumed bool      `json:"resumed"`
}

// planLine is a line of a dry run.
type planLine struct {
	Number int       `json:"number"`
	Kind   work.Kind `json:"kind"`
	What   string    `json:"what"`
	Reason string    `json:"reason"`
}

// item is a work item in the JSON output of status.
type item struct {
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	Flow        string    `json:"flow"`
	State       string    `json:"state"`
	Turn        *struct{} `json:"turn"` // nil: no pass works on it
	WaitingFor  string    `json:"waitingFor"`
	NextStep    string    `json:"nextStep"`
	PullRequest *struct {
		Number int    `json:"number"`
		State  string `json:"state"`
	} `json:"pullRequest"`
}

// roadmapOf is a merged roadmap in the JSON output of show.
type roadmapOf struct {
	State  string `json:"state"`
	Issues []struct {
		Issue       string `json:"issue"`
		Node        string `json:"node"`
		Title       string `json:"title"`
		State       string `json:"state"`
		PullRequest int    `json:"pullRequest"`
		WaitingFor  string `json:"waitingFor"`
	} `json:"issues"`
}

// reviewsOf is the state of a pull request's reviews in the JSON output of show.
type reviewsOf struct {
	State     review.State     `json:"state"`
	MergeType review.MergeType `json:"mergeType"`
}

// event is an event in the JSON output of show.
type event struct {
	Author  string `json:"author"`
	Outcome string `json:"outcome"`
}
