package prompts

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// words is what a prompt says, on one line: where it is wrapped is no matter.
func words(t *testing.T, kind work.Kind, c Context) string {
	t.Helper()
	text, err := render(kind, c)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(text), " ")
}

// TestEachAdapterIsToldItsFormOfAnswer: also by the prompts that ask for the
// answer again.
func TestEachAdapterIsToldItsFormOfAnswer(t *testing.T) {
	forms := map[string]string{
		AdapterClaude: "Give your answer to the tool mcp__mergexo__answer when everything else is done",
		AdapterCodex:  "in exec it is tools.mcp__mergexo__answer",
		AdapterACP:    "without that tool, the last message is the answer",
		"command":     "puts it into its output document",
	}
	for adapter := range forms {
		texts := map[string]string{}
		for _, kind := range Kinds() {
			texts[string(kind)] = words(t, kind, SampleFor(adapter))
		}
		again, err := ours().Repair(work.KindFix, adapter, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		tests, err := ours().RepairTests(work.KindFix, adapter, "key", Unproven{Failure: "it fails"})
		if err != nil {
			t.Fatal(err)
		}
		texts["repair"], texts["repair_tests"] = strings.Join(strings.Fields(again), " "), strings.Join(strings.Fields(tests), " ")
		for name, text := range texts {
			for of, form := range forms {
				if of == AdapterClaude && name == string(work.KindReview) {
					form = "Call the tool StructuredOutput exactly once" // a reviewer takes no MCP server
				}
				if strings.Contains(text, form) != (of == adapter) {
					t.Errorf("%s for %s: the form of %s: %q\n%s", name, adapter, of, form, text)
				}
			}
		}
	}
}

func TestSurroundingsAreTold(t *testing.T) {
	base := Surroundings{Adapter: AdapterCodex, Shell: true, Network: NetworkNone, TurnSeconds: 5400, IdleSeconds: 60}
	with := func(change func(*Surroundings)) Surroundings { s := base; change(&s); return s }
	for name, c := range map[string]struct {
		kind         work.Kind
		s            Surroundings
		want, absent string
	}{
		"no network":          {work.KindBugfixStart, base, "Commands have no network", "lock files"},
		"a network":           {work.KindFix, with(func(s *Surroundings) { s.Network = NetworkOpen }), "Commands have network. Caches may be empty", "no network"},
		"nobody knows":        {work.KindFix, with(func(s *Surroundings) { s.Network = NetworkUnknown }), "Commands may have no network: one try tells", "Commands have"},
		"no shell":            {work.KindReview, with(func(s *Surroundings) { s.Shell = false }), "You can read files, and nothing else", "Commands"},
		"a shell that reads":  {work.KindReview, base, "Commands may read, not write", "You can read files"},
		"limits":              {work.KindSmallJobStart, base, "Time limit: 90 minutes, or 1 minute without activity. ", "1 minutes"},
		"no idle limit":       {work.KindSmallJobStart, with(func(s *Surroundings) { s.IdleSeconds = 0 }), "Time limit: 90 minutes. ", "sign of life"},
		"no limit":            {work.KindSmallJobStart, with(func(s *Surroundings) { s.TurnSeconds = 0 }), "## Surroundings", "Time limit"},
		"no required tests":   {work.KindBugfixStart, base, "the linter and the formatter. 2.", "required tests"},
		"required tests":      {work.KindBugfixStart, with(func(s *Surroundings) { s.RequiredTests, s.TestSeconds = []string{"sh", "-c", "a && b"}, 7200 }), "then the required tests, which are run again before a push (for at most 2 hours): ```sh sh -c 'a && b' ```", "formatter."},
		"none for a document": {work.KindDesignStart, with(func(s *Surroundings) { s.RequiredTests = []string{"make"} }), "## Surroundings", "make"},
	} {
		t.Run(name, func(t *testing.T) {
			sample := Sample()
			sample.Surroundings = c.s
			got := words(t, c.kind, sample)
			if !strings.Contains(got, c.want) || strings.Contains(got, c.absent) {
				t.Errorf("want %q and not %q in\n%s", c.want, c.absent, got)
			}
		})
	}
}

// TestTheCommandIsAsTheShellTakesIt: an agent that copies it runs what is
// configured.
func TestTheCommandIsAsTheShellTakesIt(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	argv := []string{"printf", "%s|", "plain", "a b", "it's", `"$HOME"`, "", "x;y", "`id`", "a\nb", "*"}
	block := commandLine(argv)
	text := strings.TrimSuffix(strings.TrimPrefix(block, "```sh\n"), "\n```")
	out, err := exec.CommandContext(t.Context(), sh, "-c", text).Output()
	if want := strings.Join(argv[2:], "|") + "|"; err != nil || string(out) != want {
		t.Errorf("%s printed %q, want %q, %v", text, out, want, err)
	}
	if commandLine(nil) != "" {
		t.Error("a block for no command")
	}
}

func TestAuthorsRolesStandBesideTheirWords(t *testing.T) {
	c := story()
	c.Task.Issue.Role, c.Task.Issue.Comments[0].Role = RoleNone, RoleWrite
	c.NewEvents[0].Role, c.NewEvents[1].Role = RoleWrite, "owner of everything"
	c.Unresolved[0].Comments[0].Role = RoleNone
	text, err := render(work.KindImplementationFeedback, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"title: It breaks\nauthor: ann\nrole: none\n", "author: bob\nrole: write\nat: ", "author: ann\nrole: write\nat: ", "author: bob\n\nAnd the docs?", "author: ann\nrole: none\nRename this.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "owner of everything") {
		t.Error("a role that nobody has")
	}
}

func TestTemplatesAreWhole(t *testing.T) {
	entries, err := os.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile("templates/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimRight(line, " \t") != line || strings.Contains(line, "\t") {
				t.Errorf("%s:%d: stray space", e.Name(), i+1)
			}
		}
	}
}
