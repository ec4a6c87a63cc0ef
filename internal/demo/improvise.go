package demo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Improviser is Agent for people who try commands by hand: if the story has no answer for a
// request, it writes the request into a file.
func Improviser(in io.Reader, out io.Writer, dir, log string) error {
	return makeRun(in, out, dir, log, func(req request, dir string) (map[string]any, error) {
		if req.told() {
			if answer, err := answerTo(req, dir); err == nil {
				return answer, nil
			}
		}
		return improvised(req, dir)
	})
}

// told reports whether the story has this: what else people write must not be answered as
// if it were that.
func (r request) told() bool {
	n := r.Context.Task.Issue.Number
	if r.Kind == work.KindImplementationFeedback {
		return n == bugIssue && len(r.Context.NewEvents) == 1 && strings.Contains(strings.ToLower(r.Context.NewEvents[0].Body), "test")
	}
	of := map[work.Kind]int{
		work.KindBugfixStart: bugIssue, work.KindSmallJobStart: jobIssue,
		work.KindDesignStart: designIssue, work.KindDesignFeedback: designIssue, work.KindImplementationStart: designIssue,
	}
	return r.Kind != work.KindRoadmapStart && (of[r.Kind] == 0 || of[r.Kind] == n)
}

const notebook = "NOTES.md"

// improvised makes a visible change.
func improvised(req request, dir string) (map[string]any, error) {
	issue := req.Context.Task.Issue
	title := cmp.Or(issue.Title, fmt.Sprintf("Issue %d", issue.Number))
	switch {
	case req.Kind == work.KindDesignStart:
		return map[string]any{
			"title": title, "summary": "The demo's agent knows no better.", "touch_paths": []string{notebook}, "depends_on": []string{},
			"estimated_size": "S", "priority": 3, "design_doc": "## What\n\nWrite it down in `" + notebook + "`.\n",
			"decision_summary": "A note is enough.", "followups": []any{}, "blocked_reason": nil,
		}, nil
	case req.Kind == work.KindRoadmapStart:
		return roadmapAnswer(title, "The demo's agent knows no better.", []node{
			{id: "first", title: title + ": the first part"},
			{id: "second", title: title + ": the second part", needs: []string{"first"}},
			{id: "third", title: title + ": the third part", needs: []string{"first"}},
		}), nil
	case req.Kind == work.KindReview:
		return approved(req), nil
	case req.Kind.Start():
		return started(title, "This agent is scripted: it wrote the issue down in `"+notebook+"`."), note(dir, title)
	}
	return noteAll(req, dir)
}

// noteAll notes what people and reviewers ask for, and tells each of them.
func noteAll(req request, dir string) (map[string]any, error) {
	var replies []map[string]any
	var errs []error
	reply := func(id int64) {
		replies = append(replies, map[string]any{"review_comment_id": id, "resolve": false, "body": noted})
	}
	general := ""
	for _, e := range req.Context.NewEvents {
		errs = append(errs, note(dir, e.Body))
		if e.Kind != work.EventReview {
			general = noted
			continue
		}
		id, err := strconv.ParseInt(e.ID, 10, 64)
		errs = append(errs, err)
		reply(id)
	}
	for _, f := range req.Context.Findings {
		errs = append(errs, note(dir, f.Body))
		if f.CommentID != 0 {
			reply(f.CommentID)
		}
	}
	if len(req.Context.NewEvents)+len(req.Context.Findings) == 0 {
		return nil, errors.New("the demo's agent does not do this")
	}
	return feedback("Note what was asked", replies, general), errors.Join(errs...)
}

const noted = "This agent is scripted: it wrote that down in `" + notebook + "`."

// approved is a review of what the story does not know.
func approved(req request) map[string]any {
	earlier := []any{}
	for _, f := range req.Context.Findings {
		earlier = append(earlier, map[string]any{"finding": f.ID, "resolved": true, "note": nil})
	}
	return map[string]any{
		"decision": review.Approve, "summary": "This reviewer is scripted, and found nothing.", "body": nil,
		"comments": []any{}, "earlier": earlier, "escalate": []string{},
	}
}

// note adds a line to the notebook.
func note(dir, words string) error {
	name := filepath.Join(dir, notebook)
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		b, err = []byte("# Notes\n\n"), nil
	}
	if err != nil {
		return err
	}
	line := strings.Join(strings.Fields(words), " ")
	return os.WriteFile(name, append(b, "- "+line+"\n"...), 0o644)
}
