package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// commanded returns a command that was given long enough ago.
func commanded(body string, number int, id string) work.Event {
	at := noon.Add(-2 * time.Minute)
	return work.AsCommand(work.Event{
		ID: int64(len(id)) + 500, ItemID: 10, Number: number, Kind: work.EventIssue, Source: id, Hash: "h", Author: ann, Body: body,
		CreatedAt: at, UpdatedAt: at, SeenAt: at,
	})
}

func labels(v *known.Snapshot) {
	v.Policy.Labels = work.Labels{Design: "agent:design", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore"}
}

// orders returns the decisions of commands and the beginning of the last answer, in short form.
func orders(p Plan) string {
	var b []string
	for _, m := range Of[change.Move](p) {
		b = append(b, fmt.Sprintf("%s → %s", m.Cause, m.To))
	}
	for _, m := range Of[change.Roadmap](p) {
		b = append(b, fmt.Sprintf("roadmap #%d → %s", m.After.Number, m.After.State))
	}
	for _, a := range Of[change.AcceptHead](p) {
		b = append(b, "accept "+a.Head)
	}
	for _, x := range []struct {
		what string
		n    int
	}{{"resume", len(Of[change.ResumeTurn](p))}, {"cancel", len(Of[change.CancelTurn](p))}, {"read again", len(Of[change.RereadPull](p))}, {"take up", len(Of[change.RetryShelved](p))}, {"allow", len(Of[change.RenewBudget](p))}, {"pause", len(Of[change.Pause](p))}} {
		if x.n > 0 {
			b = append(b, x.what)
		}
	}
	for _, a := range Of[change.Notice](p) {
		switch a.Kind {
		case work.ActionComment:
			_, said, _ := strings.Cut(a.Body, "for ann:")
			said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
			said, _, _ = strings.Cut(said, ". ")
			b = append(b, "“"+said+"”")
		default:
			b = append(b, fmt.Sprintf("%s #%d %s", a.Kind, a.Number, a.Target))
		}
	}
	for _, t := range p.Turns() {
		b = append(b, "turn "+string(t.Kind))
	}
	return strings.Join(b, "; ")
}

func TestCommands(t *testing.T) {
	turn := func(change func(*work.Turn)) func(*known.Snapshot) {
		return func(v *known.Snapshot) {
			t := work.Turn{ID: 5, ItemID: 10, RepoID: 1, Number: 2, Key: "k", Kind: work.KindImplementationFeedback, Step: work.StepPushed}
			change(&t)
			v.Items[0].Turn = &t
		}
	}
	parked := turn(func(t *work.Turn) { t.Blocked = true })
	alive := func(v *known.Snapshot) {
		v.Held = []work.Holder{{Repo: app.Name.String(), Number: 2, Issue: 1, Turn: "k"}}
	}
	rewritten := func(v *known.Snapshot) { v.Items[0].Pull.LostOID, v.Items[0].Pull.HeadOID = "bbb", "abcdef1234" }
	two := item(func(i *known.Item) { i.Open = []int{2, 3} })
	held := item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} })
	pausedOn := func(number int) func(*known.Snapshot) {
		return item(func(i *known.Item) { i.Pause = &work.Pause{Number: number, By: "bob", Began: noon} })
	}
	isPaused := func(v *known.Snapshot) { v.Items[0].Pause = &work.Pause{By: "bob", Began: noon} }
	edited := func(v *known.Snapshot) {
		i := &v.Items[0]
		i.Edited, i.Label = "its title was changed", "agent:bugfix"
		i.Reason = work.Reason{Kind: work.WhyIssueEdited, Text: i.Edited}
	}
	nested := func(v *known.Snapshot) {
		at := func(number int) string { return work.Dependency{Repo: app.Name, Number: number}.String() }
		v.Roadmaps = []roadmap.Record{{ItemID: 20, Repo: app.Name, Number: 5, Ref: at(5), Parent: at(1), State: roadmap.Followed}}
	}
	untracked := commanded("/mergexo bugfix", 9, "1")
	untracked.ItemID = 0
	talk := said(work.EventIssue, 2, "66", bob)
	for _, c := range []struct {
		name, say string
		number    int
		view      known.Snapshot
		want      string
	}{
		{"help", "help", 2, scene(), "“Write a command on the first line of a comment; it needs write permission on the repository.”"},
		{"what is no command", "dance", 2, scene(), "“There is no command `dance`, so nothing was done”"},
		{"retry with nothing to retry", "retry", 2, scene(), "“There is nothing to retry”"},
		{"retry of a parked turn", "retry", 2, scene(parked, state(work.StateBlocked)), "resumed → running; resume; allow; “The next pass resumes the turn where it stopped, with all its attempts; the agent's answer is kept.”"},
		{"retry of a turn that waits", "retry", 2, scene(state(work.StateRunning), turn(func(t *work.Turn) { t.NotBefore, t.Step = noon.Add(time.Hour), work.StepClaimed })), "resume; allow; “The next pass retries the turn, with all its attempts.”"},
		{"retry of a turn that runs", "retry", 2, scene(state(work.StateRunning), turn(func(*work.Turn) {}), alive), "“There is nothing to retry”"},
		{"retry of a turn that was interrupted", "retry", 2, scene(state(work.StateRunning), turn(func(t *work.Turn) { t.Step = work.StepClaimed })), "“Nothing has failed, so there is nothing to retry: the agent was interrupted, and the next pass resumes its turn.”"},
		{"retry of what waits for an answer", "retry", 1, scene(noPull, state(work.StateAwaitingIssueFollowup), with(labelled())), "resumed → pending; allow; “The next turn retries the work, with all comments on the issue.”; turn bugfix_start"},
		{"retry of a question on the pull request", "retry", 2, scene(state(work.StateBlocked), halted(work.Reason{Kind: work.WhyQuestion, Text: "Which?"})), "“There is nothing to retry: it waits for a person”"},
		{"retry of what was given up", "retry", 2, scene(state(work.StateBlocked), func(v *known.Snapshot) { v.Items[0].Shelved = []string{"x"} }), "resumed → awaiting_feedback; take up; allow; “It resumes: the next turn answers what waits on #2.”"},
		{"retry of what GitHub did not answer for", "retry", 2, scene(func(v *known.Snapshot) { v.Items[0].Pull.NotBefore = noon.Add(time.Hour) }), "read again; “Pull request #2 could not be read from GitHub, and is read again now.”"},
		{"retry of what was merged", "retry", 2, scene(pullIs(work.PullMerged)), "pull merged → completed; “Pull request #2 was merged, so there is nothing to retry”"},
		{"retry of what is paused", "retry", 2, scene(parked, state(work.StateBlocked), isPaused), "“It is paused by bob since 2026-11-21 12:00 UTC, so nothing was done”"},
		{"unblock of what is paused", "unblock", 2, scene(state(work.StateBlocked), rewritten, isPaused), "“It is paused by bob since 2026-11-21 12:00 UTC, so nothing was done”"},
		{"retry of what was blocked by an issue that is not planned", "retry", 1, scene(noPull, state(work.StateBlocked), halted(work.Reason{Kind: work.WhyDependsDropped, Name: "#9"})), "“Nothing was done, because it depends on #9, which was closed as not planned”"},
		{"retry of an edited issue", "retry", 1, scene(noPull, state(work.StateBlocked), with(labelled()), edited), "“Only setting the label again confirms the new text, so nothing was done: read the issue, then remove `agent:bugfix` and add it again.”"},
		{"unblock of an edited issue", "unblock", 1, scene(noPull, state(work.StateBlocked), with(labelled()), edited), "“Only setting the label again confirms the new text, so nothing was done: read the issue, then remove `agent:bugfix` and add it again.”"},
		{"unblock of what is not", "unblock", 2, scene(), "“Nothing is blocked”"},
		{"unblock of a rewritten branch", "unblock", 2, scene(state(work.StateBlocked), rewritten), "resumed → awaiting_feedback; accept abcdef1234; allow; “The work resumes from abcdef1234, the head of `agent/bugfix/1-x` now; the former commits of the branch are not restored”"},
		{"unblock of that head", "unblock --head ABCDEF1", 2, scene(state(work.StateBlocked), rewritten), "resumed → awaiting_feedback; accept abcdef1234; allow; “The work resumes from abcdef1234, the head of `agent/bugfix/1-x` now; the former commits of the branch are not restored”"},
		{"unblock of another head", "unblock --head abcdef9", 2, scene(state(work.StateBlocked)), "“The head of `agent/bugfix/1-x` is aaa, not that commit, so nothing was done”"},
		{"pause", "pause", 2, scene(), "pause; labels #1 agent:ignore; “Paused”"},
		{"pause in a pause that ended since", "pause", 2, scene(func(v *known.Snapshot) {
			v.Items[0].Pauses = []work.Pause{{By: "bob", Began: noon.Add(-time.Hour), Ended: noon.Add(time.Hour)}}
		}), "“It was paused by bob when you wrote this, and that pause ended at 2026-11-21 13:00 UTC, so it is not paused again.”"},
		{"resume of what is not paused", "resume", 2, scene(), "“It is not paused”"},
		{"resume", "resume", 2, scene(func(v *known.Snapshot) { v.Items[0].Pause = &work.Pause{By: "bob"} }), "pause; labels #1 ; labels #2 ; “The pause is over: comments made before it and after it count”"},
		{"retry on an issue of two pull requests", "retry", 1, scene(two), "“#1 has 2 open pull requests, #2 and #3, so nothing was done: comment the command on the one that you mean.”"},
		{"cancel there", "cancel", 1, scene(two), "“#1 has 2 open pull requests, #2 and #3, so nothing was done: comment the command on the one that you mean.”"},
		{"pause there", "pause", 1, scene(two), "pause; labels #1 agent:ignore; “Paused”"},
		{"pause there, where one of them is paused", "pause", 1, scene(two, pausedOn(2)), "pause; labels #1 agent:ignore; “Paused”"},
		{"resume there", "resume", 1, scene(two, pausedOn(1), held), "pause; labels #1 ; labels #2 ; “The pause is over: comments made before it and after it count”"},
		{"resume there, where one of them is paused", "resume", 1, scene(two, pausedOn(2)), "“#1 has 2 open pull requests, #2 and #3, so nothing was done: comment the command on the one that you mean.”"},
		{"resume there, where one of them is on hold", "resume", 1, scene(two, held), "“#1 has 2 open pull requests, #2 and #3, so nothing was done: comment the command on the one that you mean.”"},
		{"retry of one of them", "retry", 2, scene(two), "“There is nothing to retry”"},
		{"cancel", "cancel", 2, scene(with(talk)), "withdrawn → closed; flow #1 ; close #2 ; “The work is cancelled”"},
		{"cancel of a turn that is parked", "cancel", 2, scene(parked, state(work.StateBlocked)), "withdrawn → closed; cancel; flow #1 ; close #2 ; “The work is cancelled”"},
		{"cancel of a turn that runs", "cancel", 2, scene(turn(func(*work.Turn) {}), state(work.StateRunning), alive), "withdrawn → closed; flow #1 ; close #2 ; “The work is cancelled”"},
		{"cancel before anything began", "cancel", 1, scene(noPull, state(work.StatePending), with(labelled())), "withdrawn → closed; flow #1 ; “The work is cancelled”"},
		{"cancel of all below", "cancel --all", 1, scene(noPull, state(work.StatePending), with(labelled()), nested), "withdrawn → closed; roadmap #5 → cancelled; flow #1 ; “The work is cancelled”"},
		{"cancel with a roadmap below", "cancel", 1, scene(noPull, state(work.StatePending), with(labelled()), nested), "withdrawn → closed; flow #1 ; “The work is cancelled”"},
		{"cancel of all below what is closed", "cancel --all", 2, scene(pullIs(work.PullClosed), state(work.StateClosed), nested), "roadmap #5 → cancelled; “The roadmaps below it are cancelled: #5.”"},
		{"cancel of what is closed", "cancel", 2, scene(pullIs(work.PullClosed), state(work.StateClosed)), "“Pull request #2 is closed, so there is nothing to cancel”"},
		{"a flow that is under way", "bugfix", 1, scene(), "“This work is already in progress”"},
		{"another flow", "design", 1, scene(), "“Another kind of work is in progress”"},
		{"a flow on a pull request", "bugfix", 2, scene(), "“This is a pull request”"},
		{"a flow after the end", "bugfix", 1, scene(pullIs(work.PullClosed), state(work.StateClosed)), "flow #1 agent:bugfix; “The label `agent:bugfix` is set, and the next pass starts the work if the issue is open and has no label `agent:ignore`.”"},
	} {
		labels(&c.view)
		with(commanded("/mergexo "+c.say, c.number, "900"))(&c.view)
		p := For(c.view)
		if got := orders(p); got != c.want {
			t.Errorf("%s\n  planned %s\n  want    %s", c.name, got, c.want)
		}
	}
	v := scene(labels)
	v.Untracked = []known.Item{{Item: work.Item{RepoID: 1, Number: 9}, Events: []work.Event{untracked}}}
	if got, want := orders(For(v)), "flow #9 agent:bugfix; “The label `agent:bugfix` is set, and the next pass starts the work if the issue is open and has no label `agent:ignore`.”"; got != want {
		t.Errorf("a flow where nothing is worked on\n  planned %s\n  want    %s", got, want)
	}
}

// A command with a planned answer is not executed again. It is finished once the answer was seen,
// and an item that it closed stays closed.
func TestCommandOnce(t *testing.T) {
	e := commanded("/mergexo cancel", 2, "900")
	token := work.NoticeToken(app.Key(), 2, e.Key)
	closed := work.Action{Kind: work.ActionClose, Number: 2, State: work.ActionPlanned}
	at := func(answer work.ActionState, closing work.ActionState, seen time.Time) string {
		closed.State, closed.SeenAt = closing, noon.Add(-time.Minute)
		v := scene(state(work.StateClosed), labels, with(e, said(work.EventIssue, 2, "66", bob)), func(v *known.Snapshot) {
			v.Items[0].Notices[token] = answer
			v.Items[0].Closings = map[int64]work.Action{e.ID: closed}
			v.Items[0].Pull.DetailsAt = seen
		})
		return sketch(For(v))
	}
	for _, c := range []struct {
		name, got, want string
	}{
		{"the close is not sent", at(work.ActionPlanned, work.ActionPlanned, noon.Add(-time.Hour)), ""},
		{"it was sent, and GitHub was not asked since", at(work.ActionApplied, work.ActionApplied, noon.Add(-time.Hour)), ""},
		{"it was reopened since", at(work.ActionApplied, work.ActionApplied, noon), "turn implementation_feedback 2:issue:66:h; move awaiting_feedback; finish answered; notice reaction 66"},
	} {
		if c.got != c.want {
			t.Errorf("%s: planned %q, not %q", c.name, c.got, c.want)
		}
	}
}

// Every command of the table has a function.
func TestEveryCommandHasADeed(t *testing.T) {
	for _, row := range work.CommandTable() {
		if commandFuncs()[row.Verb] == nil {
			t.Errorf("/mergexo %s does nothing", row.Verb)
		}
	}
}

// In any state and order, every command gets exactly one answer (unless it waits for a pull request
// to be opened), every move is allowed, and no text has anything that is not to be published.
func TestCommandsAnyhow(t *testing.T) {
	verbs := append(work.CommandTable(), work.CommandSpec{Verb: "dance"})
	rapid.Check(t, func(t *rapid.T) {
		v := scene(labels, state(rapid.SampledFrom(work.States()).Draw(t, "state")))
		why := func(what string) work.Reason {
			return work.Reason{Kind: rapid.SampledFrom(explain.Kinds()).Draw(t, what), Local: "/secret/path", Names: []string{"a", "b"}}
		}
		v.Items[0].Reason = why("reason")
		if rapid.Bool().Draw(t, "no pull") {
			noPull(&v)
		} else {
			pullIs(rapid.SampledFrom([]work.PullState{work.PullOpen, work.PullClosed, work.PullMerged}).Draw(t, "pull"))(&v)
		}
		if rapid.Bool().Draw(t, "turn") {
			step := rapid.SampledFrom([]work.Step{work.StepClaimed, work.StepAnswered, work.StepPushed, work.StepApplied}).Draw(t, "step")
			v.Items[0].Turn = &work.Turn{ID: 5, ItemID: 10, RepoID: 1, Key: "k", Step: step, Blocked: rapid.Bool().Draw(t, "blocked"), LastError: "/secret/path", WaitReason: why("waits")}
			if rapid.Bool().Draw(t, "alive") {
				v.Held = []work.Holder{{Repo: app.Name.String(), Issue: 1, Turn: "k"}}
			}
		}
		if rapid.Bool().Draw(t, "paused") {
			v.Items[0].Pause = &work.Pause{By: "bob"}
		}
		n := rapid.IntRange(1, 4).Draw(t, "commands")
		for i := range n {
			u := rapid.SampledFrom(verbs).Draw(t, "verb")
			e := commanded("/mergexo "+string(u.Verb), rapid.IntRange(1, 2).Draw(t, "on"), fmt.Sprint(900+i))
			e.ID = int64(900 + i)
			with(e)(&v)
		}
		var p Plan
		r := plannerOf(v, &p, v.Items[0])
		r.commander().commands()
		tokens := map[string]bool{}
		for _, a := range Of[change.Notice](p) {
			if a.Kind == work.ActionComment {
				tokens[a.Token] = true
			}
			if strings.Contains(a.Body, "secret") {
				t.Fatalf("GitHub is told %q", a.Body)
			}
		}
		waits := slices.ContainsFunc(p.Lines(), func(l change.Line) bool { return l.Code == work.WhyPullCloses })
		if len(tokens) != n && !waits {
			t.Fatalf("%d commands got %d answers", n, len(tokens))
		}
		at := v.Items[0].State
		for _, m := range Of[change.Move](p) {
			if !slices.Contains(work.StatesBefore(m.Cause, m.To), at) {
				t.Fatalf("%q cannot move %s to %s", m.Cause, at, m.To)
			}
			at = m.To
		}
		if at != r.item.State {
			t.Fatalf("the plan leaves %s, and counted on %s", at, r.item.State)
		}
	})
}
