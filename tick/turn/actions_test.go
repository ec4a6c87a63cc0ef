package turn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func composed(kind work.Kind, keys int, a prompts.Answer) []work.Action {
	return planActions(leaseOf(kind, keys), a)
}

// With an answer longer than GitHub accepts and thousands of events, the text is cut with a note,
// and the markers after it are kept.
func TestPullRequestBodiesFit(t *testing.T) {
	testhome.NotShort(t)
	for _, keys := range []int{1, 150, 2500, 20000} {
		for _, length := range []int{10, 70000, 400000} {
			summary := "intro\n```go\n" + strings.Repeat("ä", length)
			actions := composed(work.KindBugfixStart, keys, prompts.Answer{PRTitle: "T", PRSummary: summary, CommitMessage: "m"})
			body := actions[len(actions)-1].Body
			if n := utf8.RuneCountInString(body); n > prompts.MaxBody {
				t.Errorf("%d keys, %d characters: %d", keys, length, n)
			}
			tail := body[strings.LastIndex(body, "```"):]
			if !strings.HasPrefix(tail, "```\n\n") || !strings.Contains(tail, "\n\nFixes #7\n\n<!-- mergexo-work:") {
				t.Errorf("%d keys, %d characters: ends in %.300q", keys, length, tail)
			}
			if cut := strings.Contains(body, "*(Cut: "); cut != (length > 60000) {
				t.Errorf("%d keys, %d characters: cut %v", keys, length, cut)
			}
			marks, ok := work.ParseMarks(body)
			if _, found := work.ParsePullMark(body); !ok || !found || len(marks.Handled) != min(keys, 4000) {
				t.Errorf("%d keys: %d handled, %v %v", keys, len(marks.Handled), ok, found)
			}
			if keys == 2500 && marks.Handled[2] != work.ShortKey("7:source:1000000002:0123456789abcdef") {
				t.Errorf("handled %q", marks.Handled[2])
			}
		}
	}
}

func TestCommentsFit(t *testing.T) {
	long := "```\n" + strings.Repeat("x", 70000)
	actions := composed(work.KindImplementationFeedback, 50, prompts.Answer{GeneralComment: long, BlockedReason: long, CommitMessage: "m"})
	last := actions[len(actions)-1]
	if n := utf8.RuneCountInString(last.Body); last.Kind != work.ActionComment || n > prompts.MaxBody {
		t.Errorf("%s of %d characters", last.Kind, n)
	}
	marks, ok := work.ParseMarks(last.Body)
	text, _, _ := strings.Cut(last.Body, "\n\n<!-- mergexo-")
	if !ok || len(marks.Handled) != 50 || public.Balanced(text) != text {
		t.Errorf("%v, %d handled, open at %q", ok, len(marks.Handled), text[len(text)-100:])
	}
}

// A turn that answers again, because the database was set back by a failover, makes the same comment, whatever else it
// plans: its push is on the branch already, or the agent replies to other comments than before.
func TestACommentIsFoundAgainWhateverElseIsPlanned(t *testing.T) {
	answer := prompts.Answer{GeneralComment: "Done.", CommitMessage: "m"}
	comment := func(l *env.Lease, a prompts.Answer) string {
		planned := planActions(l, a)
		at := slices.IndexFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionComment })
		return planned[at].Token
	}
	pushes, pushed, edits := leaseOf(work.KindImplementationFeedback, 2), leaseOf(work.KindImplementationFeedback, 2), leaseOf(work.KindImplementationFeedback, 2)
	pushed.Turn.Commit = ""
	pushed.Carried = map[string]bool{pushed.Turn.EventKeys[0]: true, pushed.Turn.EventKeys[1]: true}
	more := answer
	more.FlakyTest = &prompts.FlakyTest{Name: "TestX", Reason: "slow"}
	edits.Turn.Commit, edits.Red = "", []github.Check{{Name: "ci"}}
	first := comment(pushes, answer)
	if second, third := comment(pushed, answer), comment(edits, more); first != second || first != third {
		t.Errorf("tokens %s, %s and %s", first, second, third)
	}
	if pushes.Turn.Key += "x"; comment(pushes, answer) == first {
		t.Error("two turns have one comment")
	}
}

// An agent's text can neither disable what follows it nor close other issues.
func TestAnUnclosedBlockSwallowsNothing(t *testing.T) {
	for _, summary := range []string{"```\nx", "- a\n  ~~~\n  x", "<pre>\nx", "<!-- x", "text <!-- y", "<script>"} {
		actions := composed(work.KindBugfixStart, 1, prompts.Answer{PRTitle: "T", PRSummary: summary + "\ncloses #9", CommitMessage: "m"})
		body := actions[len(actions)-1].Body
		before, _, ok := strings.Cut(body, "\n\nFixes #7\n\n")
		if !ok || public.Balanced(before) != before || strings.Contains(before, "closes #9") {
			t.Errorf("%q becomes %q", summary, body)
		}
	}
}

// A pushed change is reported if nobody asked for a comment. It never replaces an answer.
func TestAPushedChangeIsNoAnswer(t *testing.T) {
	line := work.Event{Kind: work.EventReview, Source: "5", ThreadTop: 5, Body: "Rename it."}
	asked := work.Event{Kind: work.EventIssue, Source: "6", Body: "Why?"}
	approval := work.Event{Kind: work.EventSummary, Source: "7", State: "APPROVED", Body: "Nice."}
	conflict := work.Event{Kind: work.EventConflict, Source: "abc"}
	replied := prompts.Answer{CommitMessage: "Rename", ReviewReplies: []prompts.ReviewReply{{ReviewCommentID: 5, Body: "Done."}}}
	tests := []struct {
		name   string
		events []work.Event
		answer prompts.Answer
		want   string // of the general comment; empty: there is none
	}{
		{"all replied", []work.Event{line}, replied, ""},
		{"an approval beside it", []work.Event{line, approval}, replied, ""},
		{"a conflict beside it", []work.Event{line, conflict}, replied, ""},
		{"nobody asked", []work.Event{conflict}, prompts.Answer{CommitMessage: "Merge"}, "Pushed a change: Merge"},
		{"answered", []work.Event{asked}, prompts.Answer{CommitMessage: "Sort", GeneralComment: "Because."}, "Because."},
		{"an old answer without a word", []work.Event{asked}, prompts.Answer{CommitMessage: "Sort"}, "Pushed a change: Sort\n\nThe agent gave no answer"},
		{"a blank word", []work.Event{conflict}, prompts.Answer{CommitMessage: "Merge", GeneralComment: " \n"}, "Pushed a change: Merge"},
	}
	for _, tt := range tests {
		l := &env.Lease{
			Repo: &env.Repo{Remote: env.Remote{Name: work.RepoName{Host: "github.com", Owner: "o", Name: "n"}}}, Events: tt.events,
			Turn: work.Turn{Kind: work.KindImplementationFeedback, Number: 2, Key: "k", Commit: strings.Repeat("b", 40)},
		}
		got := ""
		for _, a := range planActions(l, tt.answer) {
			if a.Kind == work.ActionComment {
				got = a.Body
			}
		}
		if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func leaseOf(kind work.Kind, keys int) *env.Lease {
	l := &env.Lease{
		Repo: &env.Repo{Remote: env.Remote{Name: work.RepoName{Host: "github.com", Owner: "o", Name: "n"}}},
		Item: work.Item{Number: 7, Flow: work.FlowBugfix},
		Turn: work.Turn{Kind: kind, Number: 7, Key: strings.Repeat("a", 64), Branch: "agent/bugfix/7-x", Commit: strings.Repeat("b", 40)},
	}
	for i := range keys {
		l.Turn.EventKeys = append(l.Turn.EventKeys, fmt.Sprintf("7:source:%d:0123456789abcdef", 1000000000+i))
	}
	return l
}

// TestFollowUpsAreListedWhereTheyArose: a start's on its pull request, others in a comment, which there
// is also where nothing else is to say. The list names nobody and closes nothing, and its marker stays.
func TestFollowUpsAreListedWhereTheyArose(t *testing.T) {
	all := []work.Proposal{{Number: 3, Title: "Cache it", Why: "It\nis slow, @ann. Fixes #7."}, {Number: 4, Title: "Rotate", Why: "w"}}
	for _, kind := range []work.Kind{work.KindBugfixStart, work.KindImplementationFeedback, work.KindFix} {
		l := leaseOf(kind, 2)
		l.Proposals = all
		planned := planActions(l, prompts.Answer{PRTitle: "T", PRSummary: "S", CommitMessage: "m"})
		last := planned[len(planned)-1]
		marks, _ := work.ParseMarks(last.Body)
		if got := work.Proposed(last.Body); !slices.Equal(got, all) || len(marks.Handled) != 2 {
			t.Errorf("%s: the markers have %v and %v", kind, got, marks.Handled)
		}
		list := "`/mergexo followup 3` opens the first as an issue.\n\n3. Cache it: It is slow, @\u200bann."
		if !strings.Contains(last.Body, list) || !strings.Contains(last.Body, "\n4. Rotate: w\n") {
			t.Errorf("%s: %s", kind, last.Body)
		}
		if kind.Start() && strings.Count(last.Body, "Fixes #7") != 1 {
			t.Errorf("%s closes the issue twice: %s", kind, last.Body)
		}
	}
}

// TestAnEditIsWhatDiffers: what the agent leaves as it is, and what nothing is left of, is no edit; and a new text
// closes what the former one closed.
func TestAnEditIsWhatDiffers(t *testing.T) {
	const former = "It squeaked.\n\nCloses #3"
	for name, c := range map[string]struct {
		text                string // former, unless given
		title, description  string // the agent's
		wantTitle, wantText string
		said                string
	}{
		"both":                   {"", "fix: Oil it", "Oil.\n\nCloses #3", "fix: Oil it", "Oil.\n\nCloses #3", "Changed title and description of the pull request."},
		"the same title":         {"", "Oiled", "Oil.", "", "Oil.", "Changed the description of the pull request."},
		"the same text":          {"", "fix: Oil it", former, "fix: Oil it", "", "Changed the title of the pull request."},
		"both the same":          {"", "Oiled", former, "", "", "I have read this and changed nothing."},
		"nothing is left":        {"", "", "<!-- nothing -->", "", "", "I have read this and changed nothing."},
		"another issue":          {"", "", "Fixes #3, fixes #4", "", "Fixes #3, fixes \u200b#4", "Changed the description of the pull request."},
		"its own issue":          {"Oil.\n\nFixes #7", "", "More oil.", "", "More oil.\n\nCloses #7", "Changed the description of the pull request."},
		"its own issue, kept":    {"Oil.\n\nFixes #7", "", "Oil fixes #7.", "", "Oil fixes #7.", "Changed the description of the pull request."},
		"its own issue, unasked": {"Oil.", "", "Oil fixes #7.", "", "Oil fixes \u200b#7.", "Changed the description of the pull request."},
	} {
		t.Run(name, func(t *testing.T) {
			l := leaseOf(work.KindFix, 1)
			l.Turn.Commit = ""
			seen := &prompts.PullRequest{Title: "Oiled", Text: cmp.Or(c.text, former), Version: "v"}
			request, err := json.Marshal(env.Request{Context: prompts.Context{Task: prompts.Task{PullRequest: seen}}})
			if err != nil {
				t.Fatal(err)
			}
			l.Turn.Request = request
			planned := planActions(l, prompts.Answer{Title: c.title, Description: c.description})
			edit := work.Action{}
			if len(planned) == 2 {
				edit = planned[0]
			}
			if edit.Title != c.wantTitle || edit.Body != c.wantText || edit.Kind == work.ActionEditPull && edit.Title == "" && edit.Body == "" {
				t.Errorf("%s %q, %q; want %q, %q", edit.Kind, edit.Title, edit.Body, c.wantTitle, c.wantText)
			}
			if said := planned[len(planned)-1].Body; !strings.HasPrefix(said, c.said) {
				t.Errorf("it says %q, want %q", said, c.said)
			}
		})
	}
}
