package prompts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

var update = flag.Bool("update", false, "write the golden files of the prompts")

// golden is a prompt that testdata/golden shows as an agent gets it.
type golden struct {
	name string
	text func() (string, error)
}

// goldens are each prompt with a value in every field, and the prompts of one pull request in the
// order in which its agents get them.
func goldens() []golden {
	var all []golden
	add := func(name string, text func() (string, error)) { all = append(all, golden{name, text}) }
	for _, kind := range Kinds() {
		add(string(kind), func() (string, error) { return render(kind, Sample()) })
	}
	add("review_without_shell", func() (string, error) { return render(work.KindReview, unarmed(Sample())) })
	add("approval_without_shell", func() (string, error) {
		c := unarmed(Sample())
		c.ReadOnly = true
		return render(work.KindImplementationFeedback, c)
	})
	add("roadmap_replan", func() (string, error) { return render(work.KindRoadmapStart, sampleRoadmap("command")) })
	add("roadmap_feedback", func() (string, error) { return render(work.KindDesignFeedback, sampleRoadmap("command")) })
	add("repair", func() (string, error) { return ours().Part(partRepair, work.KindFix, Sample()) })
	add("repair_acp", func() (string, error) { return ours().Repair(work.KindFix, AdapterACP, []string{"sample refusal"}) })
	add("repair_tests", func() (string, error) { return ours().Part(partTests, work.KindFix, Sample()) })
	add("repair_no_test", func() (string, error) {
		return ours().RepairTests(work.KindBugfixStart, AdapterCodex, "sample", noTest())
	})
	for _, next := range episodes() {
		add(next.name, func() (string, error) { return next.render() })
	}
	return all
}

// unarmed is the context of an agent that can only read files.
func unarmed(c Context) Context {
	c.Surroundings.Adapter, c.Surroundings.Shell, c.Surroundings.Network, c.Surroundings.RequiredTests = AdapterClaude, false, NetworkNone, nil
	return c
}

func noTest() Unproven {
	return Unproven{Failure: "a bugfix comes with a test, and no changed file matches _test\\.go$", TestFiles: `_test\.go$`}
}

// episode is a turn of one pull request, after the turn before it in the same session.
type episode struct {
	name   string
	before *episode
	kind   work.Kind
	now    Context
}

// render returns the prompt that the session gets.
func (e episode) render() (string, error) {
	if e.before == nil {
		return render(e.kind, e.now)
	}
	whole, err := render(e.before.kind, e.before.now)
	if err != nil {
		return "", err
	}
	return ours().Resume(e.kind, e.now, Told{Prompt: whole, Context: Prepare(e.before.now), Decided: e.now.DecisionSummary})
}

// episodes are the turns of one pull request by codex as the author and claude as the reviewer.
func episodes() []episode {
	bare := Sample()
	bare.Surroundings = Surroundings{Adapter: AdapterCodex, Shell: true, Network: NetworkNone, TurnSeconds: 3600, IdleSeconds: 900}
	bare.NewEvents, bare.Unresolved, bare.Earlier, bare.Handoff, bare.Checks, bare.Conflict, bare.Findings = nil, nil, nil, nil, nil, nil, nil
	bare.Review, bare.ReviewFix, bare.Specification, bare.Previous, bare.Waited, bare.Partial = nil, nil, nil, "", "", nil
	bare.Task.Document, bare.Parent = "", nil

	begun := bare
	begun.Task.PullRequest, begun.Task.ChangedFiles, begun.DecisionSummary = nil, nil, ""
	start := episode{"story_1_start", nil, work.KindBugfixStart, begun}
	answered := begun
	answered.Waited, answered.NewEvents = "Which of the two?", []NewEvent{{ID: "9", Kind: work.EventSource, Author: "someone", Role: RoleWrite, Body: "The first."}}
	resumed := episode{"story_2_start_after_an_answer", &start, work.KindBugfixStart, answered}

	first := unarmed(bare)
	first.DecisionSummary = ""
	first.Review = &Review{Reviewer: "quinn", Persona: "sample persona", Round: 1, Diff: "sample diff", Guarded: true}
	review := episode{"story_3_review", nil, work.KindReview, first}

	asked := bare
	asked.Findings, asked.ReviewFix = Sample().Findings, &ReviewFix{Reviewer: "quinn", URL: "https://github.com/owner/name/pull/2#pullrequestreview-5", Body: "sample review body"}
	asked.Findings[0].Answer = ""
	fix := episode{"story_4_fix", &resumed, work.KindFix, asked}

	second := first
	again := *first.Review
	again.Round, again.Cycle, again.Since, again.Diff = 2, 1, "0123456789abcdef0123456789abcdef01234567", "sample diff of the fix"
	second.Review, second.Findings = &again, Sample().Findings
	reviewAgain := episode{"story_5_review_again", &review, work.KindReview, second}

	repeated := asked
	repeated.Findings = Sample().Findings
	repeated.ReviewFix = &ReviewFix{Reviewer: "quinn", URL: "https://github.com/owner/name/pull/2#pullrequestreview-6", Body: "sample second review body", Cycle: 1, Again: true}
	fixAgain := episode{"story_6_fix_again", &fix, work.KindFix, repeated}

	talked := bare
	talked.NewEvents = Sample().NewEvents
	feedback := episode{"story_7_feedback", &fixAgain, work.KindImplementationFeedback, talked}
	return []episode{start, resumed, review, fix, reviewAgain, fixAgain, feedback}
}

// TestThePromptsAreTheGoldenOnes: each file of testdata/golden is a prompt, and words.md counts their
// words, in all and without what people and programs wrote. To write them: go test ./prompts -run
// TestThePromptsAreTheGoldenOnes -update.
func TestThePromptsAreTheGoldenOnes(t *testing.T) {
	table := bytes.NewBufferString("| prompt | words | of these ours |\n|---|---:|---:|\n")
	for _, g := range goldens() {
		text, err := g.text()
		if err != nil {
			t.Fatal(g.name, err)
		}
		nonce := ""
		if m := nonceIn.FindStringSubmatch(text); m != nil {
			nonce = m[1]
			text = strings.ReplaceAll(text, nonce, "NONCE")
		}
		fmt.Fprintf(table, "| [%s](%s.txt) | %d | %d |\n", g.name, g.name, len(strings.Fields(text)), len(strings.Fields(outsideFences(text, "NONCE"))))
		isGolden(t, g.name+".txt", text)
	}
	isGolden(t, "words.md", table.String())
}

func isGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != text {
		t.Errorf("%s: %v; it is not the prompt of now:\n%s", path, err, text)
	}
}
