package turn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestWhatAnAgentCanDoIsTold(t *testing.T) {
	cfg := &config.Config{Runtime: config.Runtime{TurnTimeout: 30 * time.Minute, Timings: config.Timings{IdleTimeout: 10 * time.Minute, TestTimeout: 15 * time.Minute}}}
	repo := config.Repo{RequiredTests: []string{"make", "test"}}
	for name, c := range map[string]struct {
		adapter string
		args    []string
		kind    work.Kind
		network prompts.Network
		shell   bool
	}{
		"codex":                              {"codex", nil, work.KindBugfixStart, prompts.NetworkNone, true},
		"codex that reads":                   {"codex", nil, work.KindReview, prompts.NetworkNone, true},
		"codex with its network opened":      {"codex", []string{"-c", "sandbox_workspace_write.network_access=true"}, work.KindBugfixStart, prompts.NetworkOpen, true},
		"opened with spaces":                 {"codex", []string{`--config=sandbox_workspace_write = { network_access = true }`}, work.KindFix, prompts.NetworkOpen, true},
		"closed":                             {"codex", []string{"-c", "sandbox_workspace_write.network_access=false"}, work.KindFix, prompts.NetworkNone, true},
		"opened for what may write only":     {"codex", []string{"-c", "sandbox_workspace_write.network_access=true"}, work.KindReview, prompts.NetworkNone, true},
		"codex without its sandbox":          {"codex", []string{"-c", `sandbox_mode="danger-full-access"`}, work.KindReview, prompts.NetworkOpen, true},
		"claude":                             {"claude", nil, work.KindImplementationFeedback, prompts.NetworkOpen, true},
		"claude that reads has no shell":     {"claude", nil, work.KindDesignStart, prompts.NetworkNone, false},
		"a program of the operator's":        {"command", nil, work.KindFix, prompts.NetworkUnknown, true},
		"a program of the operator's, reads": {"command", nil, work.KindReview, prompts.NetworkUnknown, true},
	} {
		got := Surroundings(cfg, config.Agent{Adapter: c.adapter, Args: c.args}, repo, c.kind)
		if got.Adapter != c.adapter || got.Network != c.network || got.Shell != c.shell || got.TurnSeconds != 1800 || got.IdleSeconds != 600 {
			t.Errorf("%s: %+v", name, got)
		}
		writes := c.kind.Mode() == work.ModeWrite
		if (len(got.RequiredTests) > 0) != writes || (got.TestSeconds == 900) != writes {
			t.Errorf("%s: required tests %q, %d s", name, got.RequiredTests, got.TestSeconds)
		}
	}
}

// TestPromptsStayShort: the fixed text of a prompt is short enough to leave an agent's attention
// for the task.
func TestPromptsStayShort(t *testing.T) {
	const most = 900
	cfg := &config.Config{Runtime: config.Runtime{
		TurnTimeout: 90 * time.Minute, Timings: config.Timings{IdleTimeout: 10 * time.Minute, TestTimeout: 15 * time.Minute, MaxFiles: 300, MaxFileBytes: 5 << 20},
	}}
	repo := config.Repo{
		ProtectedPaths: []string{".github/workflows/**", ".github/actions/**", ".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"},
		RequiredTests:  []string{"make", "test"},
	}
	pack, err := prompts.Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range prompts.Kinds() {
		for _, adapter := range []string{"command", "codex", "claude"} {
			for _, instructions := range []*prompts.Instructions{nil, {}, prompts.Sample().Task.Instructions} {
				for _, c := range richest(kind) {
					c.Surroundings = Surroundings(cfg, config.Agent{Adapter: adapter}, repo, kind)
					c.Refused, c.Task.Instructions = refusedChanges(cfg.Runtime, repo, kind), instructions
					text, err := pack.Render(kind, c)
					if err != nil {
						t.Fatal(err)
					}
					if n := len(strings.Fields(ours(text))); n >= most {
						t.Errorf("%s for %s: %d words", kind, adapter, n)
					} else if n > most-120 {
						t.Logf("%s for %s: %d words", kind, adapter, n)
					}
				}
			}
		}
	}
}

// richest are the fullest contexts that turns of the kind are handed: see
// briefs.PromptContext. A fix is of what is red, or of a review.
func richest(kind work.Kind) []prompts.Context {
	c := prompts.Sample()
	if kind != work.KindReview {
		c.Review = nil
	}
	if kind != work.KindReview && kind != work.KindFix {
		c.Findings, c.Specification = nil, nil
	}
	switch kind {
	case work.KindImplementationStart, work.KindImplementationFeedback, work.KindFix, work.KindReview:
	case work.KindDesignStart, work.KindBugfixStart, work.KindSmallJobStart, work.KindDesignFeedback:
		c.Handoff = nil
	case work.KindRoadmapStart:
		c.Handoff = nil
		c.Roadmap = &prompts.Roadmap{Depth: 1, Document: "d", Begun: []string{"b"}, Why: "w"}
	}
	if kind.Mode() == work.ModeRead {
		c.Partial = nil
	}
	if kind == work.KindFix {
		c.Waited, c.NewEvents = "", nil
		red, reviewed := c, c
		red.Findings, red.ReviewFix, red.Specification = nil, nil, nil
		reviewed.Checks, reviewed.Conflict = nil, nil
		return []prompts.Context{red, reviewed}
	}
	c.ReviewFix = nil
	if !kind.Start() {
		c.Waited, c.Checks, c.Conflict = "", nil, nil
		return []prompts.Context{c}
	}
	c.Task.PullRequest, c.Task.ChangedFiles = nil, nil
	c.NewEvents[0].Kind, c.Unresolved, c.Earlier, c.Checks, c.Conflict = work.EventSource, nil, nil, nil, nil
	return []prompts.Context{c}
}

// ours returns a prompt without its data.
func ours(prompt string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(prompt) {
		switch {
		case strings.HasPrefix(line, "-----BEGIN DATA "):
			in = true
		case strings.HasPrefix(line, "-----END DATA "):
			in = false
		case !in:
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestAPromptIsWordedForTheAgentThatGetsIt: a prompt stored for another agent or other limits is
// not sent again.
func TestAPromptIsWordedForTheAgentThatGetsIt(t *testing.T) {
	cfg := &config.Config{
		Runtime: config.Runtime{Agent: "codex", TurnTimeout: time.Minute},
		Agents:  map[string]config.Agent{"codex": {Name: "codex", Adapter: "codex"}, "other": {Name: "other", Adapter: "codex"}, "claude": {Name: "claude", Adapter: "claude"}},
	}
	p := &briefs{Env: &env.Env{Config: cfg}}
	l := &env.Lease{Turn: work.Turn{Kind: work.KindBugfixStart, Agent: "codex"}, Repo: &env.Repo{Remote: env.Remote{Settings: config.Repo{RequiredTests: []string{"make"}}}}}
	stored, err := json.Marshal(env.Request{Context: prompts.Prepare(prompts.Context{Surroundings: p.surroundings(l)})})
	if err != nil {
		t.Fatal(err)
	}
	fits := func() bool { return upToDate(stored, nil, p.surroundings(l)) }
	if !fits() {
		t.Error("the same surroundings are others")
	}
	if l.Turn.Agent = "other"; !fits() {
		t.Error("another agent of the same adapter gives its answer in another form")
	}
	if l.Turn.Agent = "claude"; fits() {
		t.Error("claude gets codex's prompt")
	}
	l.Turn.Agent = "" // no agent runs it yet: the config's counts
	if l.Repo.Settings.RequiredTests = nil; fits() {
		t.Error("the prompt names tests that are required no more")
	}
}

// treeless is a mirror whose trees cannot be listed.
type treeless struct{ env.Mirror }

func (treeless) ListFiles(context.Context, string) ([]string, error) {
	return nil, errors.New("no tree")
}

// TestATreeThatCannotBeListedIsNoReasonToStop: the prompt then has general instructions.
func TestATreeThatCannotBeListedIsNoReasonToStop(t *testing.T) {
	p := &briefs{Env: &env.Env{Config: &config.Config{}, Log: slog.New(slog.DiscardHandler)}}
	l := &env.Lease{Turn: work.Turn{Kind: work.KindBugfixStart}, Repo: &env.Repo{Remote: env.Remote{Mirror: func(work.Repo) env.Mirror { return treeless{} }}}}
	c := prompts.Sample()
	c.Task.Instructions = nil
	if err := p.surround(t.Context(), l, &c); err != nil || c.Task.Instructions != nil {
		t.Errorf("%v, %v", err, c.Task.Instructions)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.surround(over, l, &c); !errors.Is(err, context.Canceled) {
		t.Errorf("in a pass that is interrupted: %v", err)
	}
}
