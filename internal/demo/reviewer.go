package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// reviewer is who looks at implementations before people do.
const reviewer = "quinn"

// testUnknown is what the reviewer misses of the implementation.
var testUnknown = edit{"test.sh", "check 'Hallo, Ada!' --lang de Ada\n", `check 'Hallo, Ada!' --lang de Ada
! sh greet.sh --lang xx Ada 2>/dev/null || {
	echo "greet.sh --lang xx: want an error"
	failed=1
}
`}

// reviewOf says what the demo's reviewer thinks: the design decides what happens with
// an unknown language, and that is to have a test.
func reviewOf(req request, dir string) (map[string]any, error) {
	b, err := os.ReadFile(filepath.Join(dir, testUnknown.file))
	if err != nil {
		return nil, err
	}
	before, _, known := strings.Cut(string(b), testUnknown.old)
	if !known {
		return nil, errors.New("the demo's reviewer knows no such change")
	}
	tested := strings.Contains(string(b), testUnknown.now)
	a := map[string]any{
		"decision": review.Approve, "summary": "It does what the design says, and each part of it has a test.", "body": nil,
		"comments": []any{}, "earlier": []any{}, "escalate": []any{},
	}
	for _, x := range req.Context.Findings {
		a["earlier"] = append(a["earlier"].([]any), map[string]any{"finding": x.ID, "resolved": tested, "note": nil})
	}
	if !tested {
		a["decision"], a["summary"] = review.RequestChanges, "It does what the design says, but a part of it has no test."
		a["comments"] = []any{map[string]any{
			"path": testUnknown.file, "line": 1 + strings.Count(before, "\n"), "severity": review.Major, "confidence": "high",
			"body": "By the design a language that is not in the file is an error, and nobody is greeted. No test would see it if that broke.",
		}}
	}
	return a, nil
}

// fixOf does what the reviewer asks for.
func fixOf(req request, dir string) (map[string]any, error) {
	replies := []map[string]any{}
	for _, x := range req.Context.Findings {
		replies = append(replies, map[string]any{"review_comment_id": x.CommentID, "resolve": true, "body": "Done: `test.sh` asks for a language that is not there."})
	}
	return feedback("Test a language that is not in the file", replies, ""), testUnknown.apply(dir)
}

// reviewed plays what happens before people look at the implementation.
type reviewed struct{ *demo }

// passWith makes a pass that is to have one turn on the implementation.
func (d reviewed) passWith(ctx context.Context, what string, kind work.Kind) error {
	plan, err := d.sees().preview(ctx)
	if err != nil {
		return err
	}
	if err := planned(plan, "turn", fmt.Sprintf("#%d %s", d.pulls[designIssue], kind)); err != nil {
		return err
	}
	_, err = d.pass(ctx, what)
	return err
}

func (d reviewed) reviewFirst(ctx context.Context) error {
	d.chapter("Pass 6: a reviewer looks at it before people do")
	if err := d.passWith(ctx, "a review", work.KindReview); err != nil {
		return err
	}
	pull := d.pulls[designIssue]
	d.conversation(pull)
	return errors.Join(d.sees().paidOnce(7), d.sees().stands(ctx, pull, 1, 1))
}

func (d reviewed) fixReviewed(ctx context.Context) error {
	d.chapter("Pass 7: what the reviewer asks for is done")
	if err := d.passWith(ctx, "its fix", work.KindFix); err != nil {
		return err
	}
	pull := d.pulls[designIssue]
	if err := errors.Join(d.sees().paidOnce(8), d.sees().stands(ctx, pull, 2, 2)); err != nil {
		return err
	}
	p, _ := d.repo.Pull(pull)
	return d.diff(ctx, p.HeadOID+"^", p.HeadOID)
}

func (d reviewed) reviewAgain(ctx context.Context) error {
	d.chapter("Pass 8: the same reviewer looks again")
	if err := d.passWith(ctx, "another review", work.KindReview); err != nil {
		return err
	}
	pull := d.pulls[designIssue]
	reviews := d.repo.Reviews(pull)
	d.say("  The newest review of #%d:", pull)
	last := reviews[len(reviews)-1]
	for line := range strings.Lines(visible(last.Body)) {
		d.say("      %s", strings.TrimRight(line, "\n"))
	}
	if !strings.Contains(last.Body, reviewer+" approves") {
		return fmt.Errorf("#%d was not approved: %s", pull, last.Body)
	}
	return errors.Join(d.sees().paidOnce(9), d.sees().stands(ctx, pull, 2, 2))
}

func (d reviewed) approved(ctx context.Context) error {
	d.chapter("Pass 9: a commit status says so, which a ruleset can require")
	if _, err := d.pass(ctx, "a status"); err != nil {
		return err
	}
	p, _ := d.repo.Pull(d.pulls[designIssue])
	for _, s := range d.repo.Statuses(p.HeadOID) {
		d.say("  %s of %s: %s, %s", s.Context, work.Short(p.HeadOID), s.State, s.Description)
		if s.Context == review.StatusContext && s.State == "success" {
			return d.sees().paidOnce(9)
		}
	}
	return errors.New("no status says that the implementation is approved")
}
