//go:build unix

package crashtest

import "github.com/mergexo/gh-mergexo/internal/githubsim"

// scenario is a piece of the tool's life, from what people do to quiet.
type scenario struct {
	name   string
	setup  func(*world) error // what people did before; passes are made until quiet
	input  func(*world) error // what they do now
	during func(*world, agentRun, int) error
	idle   bool // the agent answers feedback without changing anything
}

// scenarios are those that are killed everywhere.
func scenarios() []scenario {
	return []scenario{
		{name: "bugfix", input: issue("Crash on start", "agent:bugfix", "It happens on Mondays.")},
		{name: "design", input: issue("New search", "agent:design", "")},
		{name: "small job", input: issue("Fix typo", "agent:small-job", "")},
		{name: "feedback", setup: issue("Crash on start", "agent:bugfix", ""), input: twoReviewsAndAComment},
		{name: "feedback without changes", setup: issue("Crash on start", "agent:bugfix", ""), input: twoReviewsAndAComment, idle: true},
		{name: "edited comments", setup: steps(issue("Crash on start", "agent:bugfix", ""), quiet, twoReviewsAndAComment), input: edits},
		{name: "push during the turn", setup: issue("Crash on start", "agent:bugfix", ""), input: twoReviewsAndAComment, during: personPushes},
		{name: "comment on the issue", setup: issue("Crash on start", "agent:bugfix", ""), input: commentOn(1)},
		{name: "two items", input: steps(issue("Crash on start", "agent:bugfix", ""), issue("Fix typo", "agent:small-job", ""))},
	}
}

func steps(all ...func(*world) error) func(*world) error {
	return func(w *world) error {
		for _, do := range all {
			if err := do(w); err != nil {
				return err
			}
		}
		return nil
	}
}

func quiet(w *world) error {
	_, err := w.settle()
	w.later.Add(10)
	return err
}

// issue opens an issue with a label, and a comment on it.
func issue(title, label, comment string) func(*world) error {
	return func(w *world) error {
		n, err := w.repo.OpenIssue("ann", title, "Please.", label)
		if err == nil && comment != "" {
			_, err = w.repo.Comment(n, "bob", comment)
		}
		return err
	}
}

func commentOn(number int) func(*world) error {
	return func(w *world) error {
		_, err := w.repo.Comment(number, "bob", "How is it going?")
		return err
	}
}

// the pull request of issue 1, and the file that its start made.
const (
	pullNumber = 2
	madeFile   = "work/1.txt"
)

func twoReviewsAndAComment(w *world) error {
	if _, err := w.repo.Review(pullNumber, "ann", "COMMENT", "", githubsim.LineComment{Path: madeFile, Line: 1, Body: "Rename this."}); err != nil {
		return err
	}
	if _, err := w.repo.ReviewComment(pullNumber, "bob", madeFile, 1, "And document it."); err != nil {
		return err
	}
	_, err := w.repo.Comment(pullNumber, "bob", "Also add a test.")
	return err
}

// edits makes new versions of a review comment and of a general one.
func edits(w *world) error {
	for _, c := range w.repo.ReviewComments(pullNumber) {
		if c.Author == "ann" {
			if err := w.repo.EditReviewComment(c.ID, "ann", "Rename this to foo."); err != nil {
				return err
			}
		}
	}
	for _, c := range w.repo.Comments(pullNumber) {
		if c.Author == "bob" {
			return w.repo.EditComment(c.ID, "bob", "Also add two tests.")
		}
	}
	return nil
}

// personPushes is a push to the pull request's branch while the agent works.
func personPushes(w *world, run agentRun, _ int) (err error) {
	if run.kind == "bugfix_start" {
		return nil
	}
	w.people.Do(func() {
		p, _ := w.repo.Pull(pullNumber)
		_, err = w.repo.PushCommit(p.Head, "ann", map[string]string{"src/app.txt": "one\ntwo\nthree\nfour\n"}, "Add four")
	})
	return err
}
