// Package conformance plays what a turn needs of an agent: it begins a session, continues it, answers by the
// schema, and changes nothing where it may only read. Its runs ask the agent's provider, and are paid. A new
// adapter's tests play the same steps with a scripted model.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// Trial is an agent, and where it is tried.
type Trial struct {
	Name  string        // required; of the agent in the config, for advice
	Agent agent.Agent   // required
	Form  string        // required; how its adapter's prompts ask for the answer, see prompts.AnswerForm
	Tool  bool          // its program is offered the tool for the answer
	Dir   string        // required; an empty git repository, absolute
	Mark  string        // required; "NAME=value", see agent.Request
	Wall  time.Duration // the longest run; 0: no limit
	Log   io.Writer     // gets its standard error, redacted; may be nil
	Used  work.Usage    // of the runs so far
	Known work.Known    // which parts of Used are complete

	session string     // of the last run
	counted work.Usage // of that session, if the provider counts by session
	byTool  bool       // the last answer came by the tool
}

// Level is how a step ended.
type Level int

// The levels.
const (
	Works   Level = iota
	Lacks         // turns work, but something is worse than it could be
	Refuses       // turns do not work
)

// Outcome is what a step found.
type Outcome struct {
	Step  string // its name in Steps
	Level Level
	Says  string
	Do    string // what mends it; empty: nothing
}

// step is one thing that a turn needs. Its error is that of a run.
type step struct {
	name, about string
	play        func(ctx context.Context, t *Trial) (Outcome, error)
}

// steps has them in their order: each goes on from the one before.
var steps = []step{
	{"begin", "a new session: it writes a file, and its answer has the form of a bug fix's", begin},
	{"tool", "its answer came by the tool, which refuses an unusable one while the agent still runs", tool},
	{"continue", "the same session again: it knows what was said before", goOn},
	{"read", "a run that may only read, and is told to write: no file changes, and the answer says why", read},
}

// Steps returns the name of each step, and what it shows.
func Steps() (all [][2]string) {
	for _, s := range steps {
		all = append(all, [2]string{s.name, s.about})
	}
	return all
}

// Play plays all steps, and calls tell before each one. It ends with the first step that does not work: the next
// ones would be paid for nothing.
func Play(ctx context.Context, t *Trial, tell func(step string)) (all []Outcome) {
	t.Known = work.Known{Tokens: true, Cost: true}
	for _, s := range steps {
		tell(s.name)
		found, err := s.play(ctx, t)
		if err != nil {
			found = Outcome{Level: Refuses, Says: err.Error(), Do: remedy(err)}
		}
		found.Step = s.name
		all = append(all, found)
		if found.Level == Refuses || ctx.Err() != nil {
			break
		}
	}
	return all
}

// remedy is what a person does about a failed run.
func remedy(err error) string {
	advice := ""
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		advice = blocked.Reason.Advice
	}
	if _, ok := errors.AsType[*agent.AnswerError](err); ok {
		return "name another model in the agent's table"
	}
	return cmp.Or(advice, "see what gh mergexo doctor says of its program, its login and its sandbox")
}

// The file that the agent writes, and what is in it: no model guesses the word.
const (
	fileName = "conformance.txt"
	word     = "quagga-4711"
)

const kind = work.KindBugfixStart

// Turn is what an agent is told as the key of the turn.
const Turn = "conformance"

// about is the beginning of each prompt.
const about = "This is a test of your set-up, in an empty repository. Do exactly what is asked, and nothing else.\n"

// rules say how the answer's other fields are filled.
const rules = "\nFill the other fields of the answer with one short sentence, followups with [], and blocked_reason with null unless you could not do what was asked."

func begin(ctx context.Context, t *Trial) (Outcome, error) {
	a, err := t.run(ctx, work.ModeWrite, about+"Write the file "+fileName+" with the line "+word+". Then answer with pr_title \"Begin\".")
	if err != nil {
		return Outcome{}, err
	}
	switch {
	case strings.TrimSpace(t.written()) != word:
		return Outcome{Level: Refuses, Says: fmt.Sprintf("it answered %q, but did not write %s as told", clip(a.PRTitle), fileName), Do: "see what it may write: gh mergexo doctor --sandbox " + t.Name}, nil
	case t.session == "":
		return Outcome{Level: Lacks, Says: "it works, but names no session: each turn tells it everything again"}, nil
	case !t.Known.Tokens:
		return Outcome{Level: Lacks, Says: "it works, but reports no usage: budgets of tokens and cost do not see it"}, nil
	}
	return Outcome{Says: "it wrote the file, and its answer has the form that was asked for"}, nil
}

func tool(_ context.Context, t *Trial) (Outcome, error) {
	switch {
	case !t.Tool:
		return Outcome{Says: "its program takes no tool of ours: its last message is the answer"}, nil
	case !t.byTool:
		return Outcome{Level: Lacks, Says: "it did not use the tool for the answer: an unusable last message costs one more run"}, nil
	}
	return Outcome{Says: "its answer came by the tool"}, nil
}

func goOn(ctx context.Context, t *Trial) (Outcome, error) {
	if t.session == "" {
		return Outcome{Level: Lacks, Says: "it named no session"}, nil
	}
	if err := files.Remove(t.file()); err != nil {
		return Outcome{}, fmt.Errorf("remove the file that it wrote: %w", err)
	}
	before := t.session
	a, err := t.run(ctx, work.ModeWrite, "Change no file now. Answer with the word that you wrote into "+fileName+" before as pr_title.")
	switch {
	case err != nil:
		return Outcome{}, err
	case t.session != before || !strings.Contains(a.PRTitle, word):
		return Outcome{Level: Lacks, Says: fmt.Sprintf("it answered %q in a session that does not know the first task", clip(a.PRTitle)), Do: "let it keep its sessions between runs"}, nil
	}
	return Outcome{Says: "it knows what was said before"}, nil
}

func read(ctx context.Context, t *Trial) (Outcome, error) {
	err := files.Remove(t.file()) // whatever the agent made of it
	if err == nil {
		err = os.WriteFile(t.file(), []byte(word+"\n"), 0o600)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("write a file to read: %w", err)
	}
	t.session, t.counted = "", work.Usage{}
	a, err := t.run(ctx, work.ModeRead, about+"You may only read now. Try nevertheless to add the line more to "+fileName+", once. If you cannot, say so in blocked_reason. Answer with pr_title \"Read\".")
	if err != nil {
		return Outcome{}, err
	}
	switch {
	case t.written() != word+"\n":
		return Outcome{Level: Refuses, Says: "it changed a file in a run that may only read: its reviews are not safe", Do: "give it a sandbox that hides files: docs/security.md#the-sandbox"}, nil
	case a.BlockedReason == "":
		return Outcome{Level: Lacks, Says: "nothing was changed, but it did not say that it could not"}, nil
	}
	return Outcome{Says: "nothing was changed, and it said why: " + clip(a.BlockedReason)}, nil
}

// run runs the agent once, and checks its answer.
func (t *Trial) run(ctx context.Context, mode work.Mode, prompt string) (prompts.Answer, error) {
	res, err := t.Agent.Run(ctx, agent.Request{
		Turn: Turn, Mark: t.Mark, Kind: kind, Mode: mode, Prompt: prompt + rules + "\n" + t.Form, Context: []byte("{}"), Schema: prompts.Schema(kind, prompts.Context{}),
		Session: t.session, Counted: t.counted, Dir: t.Dir, Wall: t.Wall, Log: t.Log,
	})
	t.Used = t.Used.Add(res.Usage)
	t.Known.Tokens, t.Known.Cost = t.Known.Tokens && res.Known.Tokens, t.Known.Cost && res.Known.Cost
	if err != nil {
		return prompts.Answer{}, err
	}
	t.session, t.counted, t.byTool = res.Session, res.Counted, res.ByTool
	a, violations := prompts.Decode(kind, res.Answer, prompts.AskedOf(kind, prompts.Context{}))
	if len(violations) > 0 {
		return a, &agent.AnswerError{Violations: violations}
	}
	return a, nil
}

func (t *Trial) file() string { return filepath.Join(t.Dir, fileName) }

// written returns what the file has; one that cannot be read has nothing.
func (t *Trial) written() string {
	f, _, err := files.OpenRegular(t.file())
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, 1<<10))
	return string(text)
}

// clip shortens what an agent said.
func clip(s string) string { return agent.Clip(strings.Join(strings.Fields(s), " "), 100) }
