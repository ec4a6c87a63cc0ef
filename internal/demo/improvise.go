package demo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
)

// Improviser is Agent for people who try commands by hand: if the story has no answer for a
// request, it writes the request into a file.
func Improviser(in io.Reader, out io.Writer, dir, log string) error {
	return makeRun(in, out, dir, log, func(req request, dir string) (map[string]any, error) {
		if req.Context.Conflict != nil {
			return merged(req, dir)
		}
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

const notebook = "notes.list" // no document: a change of nothing else is refused

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

// merged keeps both sides of each conflict, and notes what else is asked for.
func merged(req request, dir string) (map[string]any, error) {
	for _, path := range req.Context.Conflict.Paths {
		if err := keepBoth(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return nil, err
		}
	}
	events := req.Context.NewEvents
	req.Context.NewEvents = slices.DeleteFunc(slices.Clone(events), func(e prompts.NewEvent) bool { return e.Kind == work.EventConflict })
	answer, err := noteAll(req, dir)
	answer["commit_message"] = "Merge the base branch, and keep both sides"
	if answer["general_comment"] == nil {
		answer["general_comment"] = "This agent is scripted: where both branches changed the same lines, it kept both."
	}
	return answer, err
}

// keepBoth takes the markers of conflicts out of a file, and what the common ancestor had.
func keepBoth(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // deleted on one side
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	ancestor := false
	for line := range strings.Lines(string(b)) {
		switch {
		case strings.HasPrefix(line, "|||||||"):
			ancestor = true
		case strings.HasPrefix(line, "======="):
			ancestor = false
		case ancestor, strings.HasPrefix(line, "<<<<<<<"), strings.HasPrefix(line, ">>>>>>>"):
		default:
			kept.WriteString(line)
		}
	}
	return os.WriteFile(name, []byte(kept.String()), 0o644)
}

// noteAll notes what people, reviewers and checks ask for, and tells each of them.
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
	for _, c := range req.Context.Checks {
		errs = append(errs, note(dir, "the check "+c.Name+" was red"))
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
