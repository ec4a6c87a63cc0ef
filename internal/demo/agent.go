package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/conformance"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// request is what the agent reads of the adapter's document.
type request struct {
	Turn    string          `json:"turn"`
	Kind    work.Kind       `json:"kind"`
	Mode    work.Mode       `json:"mode"`
	Prompt  string          `json:"prompt"`
	Context prompts.Context `json:"context"`
	Session string          `json:"session"`
}

// reply is what it writes.
type reply struct {
	Session string         `json:"session"`
	Answer  map[string]any `json:"answer"`
	Usage   map[string]any `json:"usage"`
}

// Agent makes one run of the demo's agent, a program for the command adapter,
// in the checkout dir. It does what a model would do with the demo's repository,
// always the same, and knows no other repository. A line for each run goes to a
// file, by which the demo counts them.
func Agent(in io.Reader, out io.Writer, dir, log string) error {
	return makeRun(in, out, dir, log, answerTo)
}

func makeRun(in io.Reader, out io.Writer, dir, log string, answerTo func(request, string) (map[string]any, error)) error {
	var req request
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := appendLine(log, string(req.Kind)+" "+req.Turn); err != nil {
		return err
	}
	session := req.session()
	if req.Turn == conformance.Turn {
		answerTo = func(req request, dir string) (answer map[string]any, err error) {
			session, answer, err = tested(req, dir)
			return answer, err
		}
	}
	answer, err := answerTo(req, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", req.Kind, err)
	}
	if req.Context.Parent != nil && req.Kind != work.KindReview {
		answer["replan"] = nil // the roadmap is fine
	}
	return json.NewEncoder(out).Encode(reply{
		Session: session,
		Answer:  answer,
		Usage:   map[string]any{"input_tokens": 0, "output_tokens": 0, "cost_usd": 0},
	})
}

// tested does what gh mergexo doctor --agent asks for. What it is to remember is the name of the session.
func tested(req request, dir string) (session string, answer map[string]any, err error) {
	switch asked := toldToWrite().FindStringSubmatch(req.Prompt); {
	case req.Mode == work.ModeRead:
		answer = started("Read", "Nothing was changed.")
		answer["blocked_reason"] = "This run may only read."
		return req.session(), answer, nil
	case req.Session != "":
		return req.Session, started(req.Session, "The word is the name of the session."), nil
	case asked == nil:
		return "", nil, errors.New("the demo's agent is not told which file to write")
	default:
		return asked[2], started("Begin", "The file is written."), os.WriteFile(filepath.Join(dir, filepath.Base(asked[1])), []byte(asked[2]+"\n"), 0o644)
	}
}

// toldToWrite finds the file and its line in the prompt of that test.
var toldToWrite = lazy.Regexp(`Write the file (\S+) with the line (\S+)\. `)

// session is one for each issue and each of its reviewers.
func (r request) session() string {
	name := "demo-" + strconv.Itoa(r.Context.Task.Issue.Number)
	if r.Context.Review != nil {
		name += "-" + r.Context.Review.Reviewer
	}
	return name
}

func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, line+"\n")
	return errors.Join(err, f.Close())
}

// answerTo changes the checkout and says what was done.
func answerTo(req request, dir string) (map[string]any, error) {
	switch req.Kind {
	case work.KindBugfixStart:
		return started("Greet the world when nobody is named",
			"`greet.sh` without a name said \"Hello, !\". The name now defaults to \"world\", also when it is given and empty."), fixName.apply(dir)
	case work.KindRoadmapStart:
		return roadmapAnswer("Say goodbye, too", "People who leave are told goodbye, as people who come are told hello.", farewell), nil
	case work.KindSmallJobStart:
		if req.Context.Parent != nil {
			return doNode(req, dir)
		}
		return started("Say in the README how to run it", "How to run the program and its tests."), explainUse.apply(dir)
	case work.KindDesignStart:
		return map[string]any{
			"title": "Greet in other languages", "summary": "A flag chooses the language; the greetings are data, not code.",
			"touch_paths": []string{"greet.sh", "greetings.txt", "test.sh"}, "depends_on": []string{}, "estimated_size": "S", "priority": 3,
			"design_doc": designDoc, "decision_summary": "Greetings live in a text file, so that a language needs no code.", "followups": []any{}, "blocked_reason": nil,
		}, nil
	case work.KindDesignFeedback:
		doc := filepath.Join(dir, filepath.FromSlash(req.Context.Task.Document))
		if b, err := os.ReadFile(doc); err != nil || strings.Contains(string(b), designAnswer) {
			return nil, errors.Join(errors.New("the design says it already"), err)
		}
		answer := feedback("Say what happens with an unknown language", nil,
			"Decided, in a section of its own: a language that is not in the file is an error, and nobody is greeted.")
		return answer, appendFile(doc, designAnswer)
	case work.KindImplementationFeedback:
		return answerComments(req, dir)
	case work.KindImplementationStart:
		if err := addLanguage.apply(dir); err != nil {
			return nil, err // nothing is changed where the bug is not fixed yet
		}
		return started("Greet in other languages", "`greet.sh --lang de Ada` says \"Hallo, Ada!\"; the greetings are in `greetings.txt`."), errors.Join(
			testLanguage.apply(dir), os.WriteFile(filepath.Join(dir, greetingsFile), []byte(greetings), 0o644))
	case work.KindReview:
		return reviewed(req, dir)
	case work.KindFix:
		return fixed(req, dir)
	}
	return nil, errors.New("the demo's agent does not do this")
}

func started(title, summary string) map[string]any {
	return map[string]any{"pr_title": title, "pr_summary": summary, "commit_message": title, "decision_summary": summary, "followups": []any{}, "blocked_reason": nil}
}

func feedback(commit string, replies []map[string]any, general string) map[string]any {
	a := map[string]any{
		"review_replies": replies, "general_comment": nil, "commit_message": commit, "flaky_test": nil, "decision_summary": commit, "followups": []any{}, "blocked_reason": nil,
	}
	if replies == nil {
		a["review_replies"] = []any{}
	}
	if general != "" {
		a["general_comment"] = general
	}
	return a
}

// answerComments does what reviewers of the bug fix ask for: on a line of
// the diff for a default by name, in the conversation for a test.
func answerComments(req request, dir string) (map[string]any, error) {
	var replies []map[string]any
	var done []string
	var errs []error
	general := ""
	for _, e := range req.Context.NewEvents {
		if e.Kind != work.EventReview {
			general = "It does now: `test.sh` runs `greet.sh` without a name as well."
			done = append(done, "test it")
			errs = append(errs, addTest.apply(dir))
			continue
		}
		id, err := strconv.ParseInt(e.ID, 10, 64)
		errs = append(errs, err, nameDefault.apply(dir))
		done = append(done, "give the default a name")
		replies = append(replies, map[string]any{
			"review_comment_id": id, "resolve": false, "body": "Done: it is `everybody` now, at the top of the file.",
		})
	}
	message := strings.Join(done, ", ")
	if message != "" {
		message = strings.ToUpper(message[:1]) + message[1:]
	}
	return feedback(message, replies, general), errors.Join(errs...)
}

// edit replaces a text of a file.
type edit struct{ file, old, now string }

func (e edit) apply(dir string) error {
	name := filepath.Join(dir, e.file)
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if strings.Count(string(b), e.old) != 1 {
		return fmt.Errorf("%s is not as the demo's agent knows it", e.file)
	}
	return os.WriteFile(name, []byte(strings.Replace(string(b), e.old, e.now, 1)), 0o644)
}

func appendFile(name, text string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, text...), 0o644)
}
