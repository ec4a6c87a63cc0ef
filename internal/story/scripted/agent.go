//go:build unix

// Package scripted has the programs that stories put in the place of others: an agent that does what
// a story's rules say, and the schedulers' programs. They are a program of their own, small because
// stories start it thousands of times.
package scripted

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-yaml"
)

// The scripted agent is a program for the command adapter that does what a
// story's rules say. It is started as
//
//	scripted-agent FOLDER
//
// where FOLDER/rules.yaml, if there is one, is a list of rules, FOLDER/OWNER/NAME.yaml one for a single repository, and every run
// leaves FOLDER/runs/NNN.json, by which stories count runs and look at prompts.
// Paths of a rule's wait, touch and env are relative to FOLDER, all others to
// the checkout.

// rule says what a run does. The first rule whose conditions all hold is
// taken; without one the agent does its honest best (see honest).
type rule struct {
	// Conditions; an absent one always holds.
	Kind     string `yaml:"kind"`
	Number   int    `yaml:"number"`   // the turn's: the issue for a start, the pull request for feedback
	Issue    int    `yaml:"issue"`    // the source issue
	Reviewer string `yaml:"reviewer"` // who looks, or whose review is to be fixed
	Attempt  int    `yaml:"attempt"`  // the nth run of this kind for this number, of this reviewer
	Says     string `yaml:"says"`     // is part of the prompt

	// Deeds, in this order.
	Touch    string            `yaml:"touch"` // a file that says: the agent runs
	Env      string            `yaml:"env"`   // a file that gets the environment, sorted
	Stderr   string            `yaml:"stderr"`
	Wait     string            `yaml:"wait"` // until this file exists
	Write    map[string]string `yaml:"write"`
	Append   map[string]string `yaml:"append"`
	Link     map[string]string `yaml:"link"` // symbolic links: name to target
	Delete   []string          `yaml:"delete"`
	Git      [][]string        `yaml:"git"`   // commands of its own in the checkout
	Spawn    *child            `yaml:"spawn"` // a child that outlives it
	Sleep    duration          `yaml:"sleep"`
	Takeover bool              `yaml:"takeover"` // continues from the unfinished work that the prompt names
	Deaf     bool              `yaml:"deaf"`     // ignores SIGTERM and SIGINT
	EndPass  string            `yaml:"end_pass"` // KILL or TERM: what its pass gets, in the middle of its work
	Hang     bool              `yaml:"hang"`     // never answers
	Print    *string           `yaml:"print"`    // this instead of an answer
	Exit     int               `yaml:"exit"`

	Stands  bool           `yaml:"stands"` // a reviewer says of no earlier finding that it is done
	Answer  map[string]any `yaml:"answer"` // over the default answer of the kind
	Without []string       `yaml:"without"`
	Session *string        `yaml:"session"`
	Usage   map[string]any `yaml:"usage"`
}

// child is a process that the agent leaves behind.
type child struct {
	For   duration `yaml:"for"`   // how long it lives
	Write string   `yaml:"write"` // a file that it writes again and again
	Away  bool     `yaml:"away"`  // in a session of its own
}

type duration time.Duration

func (d *duration) UnmarshalYAML(b []byte) error {
	v, err := time.ParseDuration(strings.Trim(string(b), " \n\"'"))
	*d = duration(v)
	return err
}

// request is what the command adapter sends, as far as the agent looks at it.
type request struct {
	Version int             `json:"version"`
	Turn    string          `json:"turn"`
	Kind    string          `json:"kind"`
	Mode    string          `json:"mode"`
	Prompt  string          `json:"prompt"`
	Schema  json.RawMessage `json:"schema"`
	Session string          `json:"session"`
	Context struct {
		Task struct {
			Repository string `json:"repository"`
			Issue      struct {
				Number int    `json:"number"`
				Title  string `json:"title"`
			} `json:"issue"`
			PullRequest *struct {
				Number int `json:"number"`
			} `json:"pull_request"`
		} `json:"task"`
		Parent  *struct{} `json:"parent"`
		Partial *struct {
			Commit string `json:"commit"`
		} `json:"partial"`
		NewEvents []struct {
			ID     string `json:"id"`
			Kind   string `json:"kind"`
			Author string `json:"author"`
			Body   string `json:"body"`
		} `json:"new_events"`
		Findings []struct {
			ID        string `json:"id"`
			CommentID int64  `json:"comment_id"`
			Body      string `json:"body"`
		} `json:"findings"`
		Review    *reviewerOf `json:"review"`
		ReviewFix *reviewerOf `json:"review_fix"`
	} `json:"context"`
}

// reviewerOf names a reviewer.
type reviewerOf struct {
	Reviewer string `json:"reviewer"`
}

// reviewer is who looks, or whose review is to be fixed; empty: nobody.
func (r request) reviewer() string {
	for _, who := range []*reviewerOf{r.Context.Review, r.Context.ReviewFix} {
		if who != nil {
			return who.Reviewer
		}
	}
	return ""
}

// number is the issue or pull request that the turn is about.
func (r request) number() int {
	if !strings.HasSuffix(r.Kind, "_start") && r.Context.Task.PullRequest != nil {
		return r.Context.Task.PullRequest.Number
	}
	return r.Context.Task.Issue.Number
}

// Run is what a run leaves behind for the story.
type Run struct {
	Repo     string          `json:"repo"`
	Kind     string          `json:"kind"`
	Number   int             `json:"number"`
	Reviewer string          `json:"reviewer"`
	Attempt  int             `json:"attempt"`
	Dir      string          `json:"dir"`
	Request  json.RawMessage `json:"request"`
}

// Prompt is what the agent was asked.
func (r Run) Prompt() (string, error) {
	var req request
	err := json.Unmarshal(r.Request, &req)
	return req.Prompt, err
}

// agent is the main of scripted-agent.
func agent() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		liveOn(os.Args[2], os.Args[3])
		return
	}
	code, err := runAgent(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted-agent:", err)
		code = 70
	}
	os.Exit(code)
}

func runAgent(folder string) (int, error) {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 0, fmt.Errorf("read request: %w", err)
	}
	var req request
	if err := json.Unmarshal(raw, &req); err != nil {
		return 0, fmt.Errorf("decode request: %w", err)
	}
	attempt, err := record(folder, req, raw)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(folder, filepath.FromSlash(req.Context.Task.Repository)+".yaml")
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join(folder, "rules.yaml")
	}
	r, err := pick(file, req, attempt)
	if err != nil {
		return 0, err
	}
	if r.Takeover {
		if req.Context.Partial == nil {
			return 0, errors.New("there is no unfinished work to continue")
		}
		r.Git = append(r.Git, []string{"checkout", req.Context.Partial.Commit, "--", "."})
	}
	if err := r.act(folder); err != nil {
		return 0, err
	}
	if r.Print != nil {
		_, err := io.WriteString(os.Stdout, *r.Print)
		return r.Exit, err
	}
	return r.Exit, json.NewEncoder(os.Stdout).Encode(r.answer(req))
}

// record writes down the run and says which attempt it is.
func record(folder string, req request, raw []byte) (int, error) {
	dir := filepath.Join(folder, "runs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	for {
		past, err := Runs(folder)
		if err != nil {
			return 0, err
		}
		this := Run{Repo: req.Context.Task.Repository, Kind: req.Kind, Number: req.number(), Reviewer: req.reviewer(), Attempt: 1, Dir: wd, Request: raw}
		for _, p := range past {
			if p.Repo == this.Repo && p.Kind == this.Kind && p.Number == this.Number && p.Reviewer == this.Reviewer {
				this.Attempt++
			}
		}
		b, err := json.MarshalIndent(this, "", "  ")
		if err != nil {
			return 0, err
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d.json", len(past)+1))
		if err := writeNew(name, append(b, '\n')); !errors.Is(err, fs.ErrExist) {
			return this.Attempt, err
		}
	}
}

// writeNew makes a file with its whole content at once, or finds that it is
// there already. In a sandbox every agent may have the same pid.
func writeNew(name string, b []byte) error {
	tmp := name + "." + rand.Text()
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	defer os.Remove(tmp)
	return os.Link(tmp, name)
}

// Runs reads what the agent of a folder left, oldest first.
func Runs(folder string) ([]Run, error) {
	names, err := filepath.Glob(filepath.Join(folder, "runs", "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var runs []Run
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var r Run
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("decode %s: %w", name, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// pick finds the rule for a run.
func pick(file string, req request, attempt int) (rule, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return honest(req, attempt), nil
	}
	if err != nil {
		return rule{}, err
	}
	var rules []rule
	if err := yaml.UnmarshalWithOptions(b, &rules, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		return rule{}, fmt.Errorf("decode rules: %w", err)
	}
	for _, r := range rules {
		if (r.Kind == "" || r.Kind == req.Kind) &&
			(r.Number == 0 || r.Number == req.number()) &&
			(r.Issue == 0 || r.Issue == req.Context.Task.Issue.Number) &&
			(r.Reviewer == "" || r.Reviewer == req.reviewer()) &&
			(r.Attempt == 0 || r.Attempt == attempt) &&
			strings.Contains(req.Prompt, r.Says) {
			return r, nil
		}
	}
	return honest(req, attempt), nil
}

// honest is the rule of an agent that does its job: a start that may write
// makes a file, feedback adds a line to it.
func honest(req request, attempt int) rule {
	if req.Mode != "write" {
		return rule{}
	}
	file := fmt.Sprintf("work/%d.txt", req.Context.Task.Issue.Number)
	if strings.HasSuffix(req.Kind, "_start") {
		return rule{Write: map[string]string{file: req.Context.Task.Issue.Title + "\n"}}
	}
	return rule{Append: map[string]string{file: fmt.Sprintf("feedback %d\n", attempt)}}
}

// act does the deeds.
func (r rule) act(folder string) error {
	if r.Deaf {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	if r.Touch != "" {
		if err := put(filepath.Join(folder, r.Touch), "", os.O_TRUNC); err != nil {
			return err
		}
	}
	if r.Env != "" {
		env := strings.Join(slices.Sorted(slices.Values(os.Environ())), "\n") + "\n"
		if err := put(filepath.Join(folder, r.Env), env, os.O_TRUNC); err != nil {
			return err
		}
	}
	fmt.Fprint(os.Stderr, r.Stderr)
	if r.Wait != "" {
		awaitFile(filepath.Join(folder, r.Wait))
	}
	if err := r.change(); err != nil {
		return err
	}
	if r.Spawn != nil {
		if err := r.Spawn.start(); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(r.Sleep))
	if r.EndPass != "" {
		if err := syscall.Kill(os.Getppid(), map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[r.EndPass]); err != nil {
			return fmt.Errorf("end the pass: %w", err)
		}
		r.Hang = true // until the pass takes it along
	}
	if r.Hang {
		time.Sleep(longest)
	}
	return nil
}

// longest ends whatever a story forgot to end.
const longest = 5 * time.Minute

func awaitFile(name string) {
	for begin := time.Now(); time.Since(begin) < longest; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
}

// change makes the rule's changes of the checkout.
func (r rule) change() error {
	for name, target := range r.Link {
		if err := os.Symlink(target, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Write)) {
		if err := put(name, r.Write[name], os.O_TRUNC); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Append)) {
		if err := put(name, r.Append[name], os.O_APPEND); err != nil {
			return err
		}
	}
	for _, name := range r.Delete {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	for _, words := range r.Git {
		c := exec.Command("git", append([]string{"-c", "user.name=Agent", "-c", "user.email=agent@example.com"}, words...)...)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w: %s", words, err, out)
		}
	}
	return nil
}

func put(name, content string, mode int) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// start leaves a child behind that holds the agent's standard output.
func (c child) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p := exec.Command(self, "child", time.Duration(c.For).String(), c.Write)
	p.Args[0] = "scripted-agent"
	p.Stdout = os.Stdout
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: c.Away}
	return p.Start()
}

// liveOn is the child's main.
func liveOn(lifetime, file string) {
	d, err := time.ParseDuration(lifetime)
	if err != nil {
		panic(err)
	}
	begin := time.Now()
	for i := 0; time.Since(begin) < min(d, longest); i++ {
		if file != "" {
			_ = put(file, fmt.Sprintln("survivor", i), os.O_TRUNC)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// answer is the program's output.
func (r rule) answer(req request) map[string]any {
	a := defaultAnswer(req)
	if req.Kind == "review" {
		a = reviewAnswer(req, !r.Stands)
	}
	maps.Copy(a, r.Answer)
	if nodes, ok := a["nodes"].([]any); ok {
		for _, n := range nodes {
			if n, ok := n.(map[string]any); ok && n["issue"] == nil {
				n["issue"] = nil // the schema asks for it
			}
		}
	}
	for _, key := range r.Without {
		delete(a, key)
	}
	session := "session-" + strconv.Itoa(req.Context.Task.Issue.Number)
	if req.Kind == "review" {
		session += "-" + req.reviewer()
	}
	if r.Session != nil {
		session = *r.Session
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.01}
	maps.Copy(usage, r.Usage)
	return map[string]any{"session": session, "answer": a, "usage": usage}
}

// defaultAnswer fits the schema of the kind: a start tells what it did, and
// feedback answers everything that was said.
func defaultAnswer(req request) map[string]any {
	issue := req.Context.Task.Issue
	a := map[string]any{"followups": []any{}, "blocked_reason": nil, "decision_summary": fmt.Sprintf("Did %s for #%d.", req.Kind, issue.Number)}
	if req.Kind == "roadmap_start" {
		delete(a, "followups")
	}
	if req.Context.Parent != nil && req.Kind != "review" {
		a["replan"] = nil
	}
	switch {
	case req.Kind == "design_start":
		maps.Copy(a, map[string]any{
			"title": issue.Title, "summary": "A design for " + issue.Title + ".", "touch_paths": []string{"src/**"},
			"depends_on": []string{}, "estimated_size": "S", "priority": 3, "design_doc": "## Plan\n\nDo it.\n",
		})
	case req.Kind == "roadmap_start":
		maps.Copy(a, map[string]any{
			"title": issue.Title, "goal": "All of " + issue.Title + ".",
			"nodes": []any{roadmapNode("first"), roadmapNode("second", "first")},
		})
	case strings.HasSuffix(req.Kind, "_start"):
		maps.Copy(a, map[string]any{
			"pr_title": issue.Title, "pr_summary": "Does what #" + strconv.Itoa(issue.Number) + " asks for.",
			"commit_message": issue.Title,
		})
	default:
		maps.Copy(a, feedbackAnswer(req))
	}
	return a
}

// roadmapNode is a node without faults.
func roadmapNode(id string, needs ...string) map[string]any {
	return map[string]any{
		"id": id, "title": "The " + id + " part", "flow": "small_job", "needs": append([]string{}, needs...),
		"goal": "The " + id + " part is done.", "scope": "One file.", "acceptance": "- It works.", "tests": "By a table.",
	}
}

func feedbackAnswer(req request) map[string]any {
	replies, general := []any{}, any(nil)
	for _, e := range req.Context.NewEvents {
		if e.Kind != "review" {
			general = "Thank you, done."
			continue
		}
		id, err := strconv.ParseInt(e.ID, 10, 64)
		if err != nil {
			panic(err) // the protocol says that it is a comment's id
		}
		replies = append(replies, map[string]any{"review_comment_id": id, "body": "Done: " + firstLine(e.Body), "resolve": false})
	}
	for _, x := range req.Context.Findings {
		if x.CommentID == 0 {
			general = "Done, as " + req.reviewer() + " asks."
			continue
		}
		replies = append(replies, map[string]any{"review_comment_id": x.CommentID, "body": "Done: " + firstLine(x.Body), "resolve": true})
	}
	return map[string]any{
		"review_replies": replies, "general_comment": general, "commit_message": "Address feedback", "flaky_test": nil,
	}
}

// reviewAnswer approves, and says of everything earlier that it is done, or is not.
func reviewAnswer(req request, done bool) map[string]any {
	earlier := []any{}
	for _, x := range req.Context.Findings {
		earlier = append(earlier, map[string]any{"finding": x.ID, "resolved": done, "note": "Looked at again."})
	}
	return map[string]any{
		"decision": "approve", "summary": "It does what #" + strconv.Itoa(req.Context.Task.Issue.Number) + " asks for.", "body": nil,
		"comments": []any{}, "earlier": earlier, "escalate": []string{},
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
