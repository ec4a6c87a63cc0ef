//go:build unix

package crashtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// request is what the command adapter sends, as far as the agent looks at it.
type request struct {
	Turn    string `json:"turn"`
	Kind    string `json:"kind"`
	Mode    string `json:"mode"`
	Session string `json:"session"`
	Context struct {
		Task struct {
			Issue struct {
				Number   int               `json:"number"`
				Title    string            `json:"title"`
				Comments []json.RawMessage `json:"comments"`
			} `json:"issue"`
			PullRequest struct {
				Head string `json:"head_sha"`
			} `json:"pull_request"`
		} `json:"task"`
		NewEvents []struct {
			ID   string `json:"id"`
			Kind string `json:"kind"`
			Body string `json:"body"`
		} `json:"new_events"`
		Findings []struct {
			ID        string `json:"id"`
			CommentID int64  `json:"comment_id"`
			Body      string `json:"body"`
		} `json:"findings"`
		Review *struct {
			Reviewer string `json:"reviewer"`
			Cycle    int    `json:"cycle"`
			Diff     string `json:"diff"`
			Part     int    `json:"part"`
			Parts    int    `json:"parts"`
		} `json:"review"`
		Parent       any `json:"parent"` // a roadmap
		Surroundings struct {
			Setup *told `json:"setup"`
		} `json:"surroundings"`
	} `json:"context"`
}

func (r request) start() bool { return strings.HasSuffix(r.Kind, "_start") }

// told reports whether people said anything on the issue.
func (r request) told() bool { return len(r.Context.Task.Issue.Comments)+len(r.Context.NewEvents) > 0 }

// agentRun is one run that somebody paid for.
type agentRun struct {
	turn  string
	kind  string
	issue int
	part  int    // of a review in parts; 0: it is in one
	files string // that it was shown, of a review in parts
	lost  bool   // its answer is in no database
	heard bool   // GitHub had its words when that was noticed: a replica behind lacks what has its effects
}

func (a agentRun) String() string {
	s := fmt.Sprintf("%s #%d", a.kind, a.issue)
	if a.part > 0 {
		s += fmt.Sprintf(", part %d: %s", a.part, a.files)
	}
	return s
}

// runAgent does an agent's work in its checkout and words its answer. Both
// depend on what it was asked alone, so that a turn that is rightly run again
// ends as if it had been run once; but for what it says to people, which names
// the run: no agent finds the same words twice.
func (w *world) runAgent(dir string, input []byte) (string, error) {
	var req request
	switch err := json.NewDecoder(bytes.NewReader(input)).Decode(&req); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "", errGone // its pass was killed while it told the agent
	case err != nil:
		return "", fmt.Errorf("decode request: %w", err)
	}
	if req.Session != "" && req.Session != req.session() {
		w.rig.fault(fmt.Errorf("%s is to go on in %s, which is somebody else's session", req.session(), req.Session))
	}
	run := agentRun{turn: req.Turn, kind: req.Kind, issue: req.Context.Task.Issue.Number}
	if r := req.Context.Review; r != nil && r.Parts > 1 {
		run.part, run.files = r.Part, changedFiles(r.Diff)
	}
	if err := w.checkSetup(dir, req); err != nil {
		w.rig.fault(err)
	}
	w.rig.mu.Lock()
	w.rig.runs = append(w.rig.runs, run)
	nth := len(w.rig.runs)
	w.rig.mu.Unlock()
	if w.scenario.hears != nil {
		w.scenario.hears(req)
	}
	if w.scenario.during != nil {
		if err := w.scenario.during(w, run, nth); err != nil {
			return "", fmt.Errorf("what people do meanwhile: %w", err)
		}
	}
	writes := req.Mode == "write" && req.Kind != "roadmap_start"
	asks := w.scenario.asks && req.start() && !req.told() && !w.mended.Load()
	if writes && (req.start() || !w.scenario.idle) && !asks {
		if err := change(dir, req); err != nil {
			return "", err
		}
		if w.scenario.large && req.start() {
			if err := largeChange(dir); err != nil {
				return "", err
			}
		}
	}
	answer := map[string]any{"followups": []string{}, "blocked_reason": nil, "decision_summary": "Did " + req.Kind + "."}
	if req.Context.Parent != nil && req.Kind != "review" {
		answer["replan"] = nil
	}
	switch issue := req.Context.Task.Issue; {
	case req.Kind == "design_start":
		maps.Copy(answer, map[string]any{
			"title": issue.Title, "summary": "A design.", "touch_paths": []string{"src/**"}, "depends_on": []string{},
			"estimated_size": "S", "priority": 3, "design_doc": "## Plan\n\nDo it.\n",
		})
	case req.Kind == "roadmap_start":
		delete(answer, "followups") // a plan has nodes instead
		maps.Copy(answer, planned(issue.Title))
	case req.start():
		maps.Copy(answer, map[string]any{"pr_title": issue.Title, "pr_summary": "Does it.", "commit_message": issue.Title})
	case req.Kind == "review":
		answer = verdictOf(req, w.scenario.reviews(req), fmt.Sprintf(" (said in run %d)", nth))
	default:
		words := fmt.Sprintf(" (said in run %d)", nth)
		maps.Copy(answer, feedback(req, w.scenario, words))
		if w.scenario.flaky {
			answer["flaky_test"] = map[string]any{"name": "TestClock", "reason": "It depends on the time." + words}
		}
	}
	if asks {
		answer["blocked_reason"] = "Which file?"
	}
	b, err := json.Marshal(map[string]any{
		"session": req.session(), "answer": answer,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.01},
	})
	return string(b), err
}

// session is one for each issue and each of its reviewers.
func (r request) session() string {
	name := "session-" + strconv.Itoa(r.Context.Task.Issue.Number)
	if r.Context.Review != nil {
		name += "-" + r.Context.Review.Reviewer
	}
	return name
}

// verdictOf words a reviewer's verdict. What was found before is done.
func verdictOf(req request, v verdict, words string) map[string]any {
	earlier, found, calls, decision := []any{}, []any{}, []string{}, "approve"
	for _, f := range req.Context.Findings {
		earlier = append(earlier, map[string]any{"finding": f.ID, "resolved": true, "note": nil})
	}
	if v.finds != "" {
		decision = "request_changes"
		found = append(found, map[string]any{"path": madeFile, "line": 1, "severity": "major", "confidence": "high", "body": v.finds + words})
	}
	if v.callsIn != "" {
		calls = append(calls, v.callsIn)
	}
	return map[string]any{
		"decision": decision, "summary": "This is " + decision + "." + words, "body": nil, "comments": found, "earlier": earlier, "escalate": calls,
	}
}

// markers are the lines that git writes around what conflicts, and sides is all of that: $1 is ours.
var (
	markers = regexp.MustCompile(`(?m)^(?:<{7}|\|{7}|={7}|>{7}).*\n`)
	sides   = regexp.MustCompile(`(?ms)^<{7}[^\n]*\n(.*?)^(?:\|{7}.*?^)?={7}\n.*?^>{7}[^\n]*\n`)
)

// resolve keeps both sides of what conflicts in people's files, and ours in a document, whose front matter
// cannot have both.
func resolve(dir string) error {
	all, err := filepath.Glob(filepath.Join(dir, "src", "*.txt"))
	documents, globErr := filepath.Glob(filepath.Join(dir, "docs", "*", "*.md"))
	err = errors.Join(err, globErr)
	for _, name := range append(all, documents...) {
		text, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr)
		kept := markers.ReplaceAll(text, nil)
		if strings.HasSuffix(name, ".md") {
			kept = sides.ReplaceAll(text, []byte("$1"))
		}
		if len(kept) != len(text) {
			err = errors.Join(err, os.WriteFile(name, kept, 0o644))
		}
	}
	return err
}

func change(dir string, req request) error {
	if err := resolve(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, "work", strconv.Itoa(req.Context.Task.Issue.Number)+".txt")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	text := req.Context.Task.Issue.Title + "\n"
	if req.Kind == "fix" { // in place of what is there, conflict markers too
		for _, f := range req.Context.Findings {
			text += "because of: " + wordings.ReplaceAllString(firstLine(f.Body), "") + "\n"
		}
		return os.WriteFile(name, []byte(text+"mended\n"), 0o644)
	}
	if !req.start() {
		text = ""
		for _, e := range req.Context.NewEvents {
			text += "handled: " + firstLine(e.Body) + "\n"
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// feedback answers everything that was said, each where it was said, in the
// words of this run.
func feedback(req request, s scenario, words string) map[string]any {
	replies, general, message := []any{}, any(nil), any("Address feedback")
	if s.idle {
		message = nil
	}
	for _, e := range req.Context.NewEvents {
		id, err := strconv.ParseInt(e.ID, 10, 64)
		if e.Kind != "review" || err != nil {
			general = "Thank you, done." + words
			continue
		}
		replies = append(replies, map[string]any{"review_comment_id": id, "body": "Done: " + firstLine(e.Body) + words, "resolve": s.resolves})
	}
	for _, f := range req.Context.Findings {
		if f.CommentID == 0 {
			general = "Done, all of it." + words
			continue
		}
		replies = append(replies, map[string]any{"review_comment_id": f.CommentID, "body": "Done: " + wordings.ReplaceAllString(firstLine(f.Body), "") + words, "resolve": true})
	}
	return map[string]any{"review_replies": replies, "general_comment": general, "commit_message": message, "flaky_test": nil}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
