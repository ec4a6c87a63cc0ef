package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// A command plans moves, turns to resume or cancel, and actions on GitHub. It gets exactly one
// answer. The answer's token names the version of the comment; once the answer is planned, so are
// the command's effects, and none is planned again. On GitHub the answer comes last and marks the
// command as handled, so that a pass without the database repeats nothing.

// invocation is one command as given.
type invocation struct {
	work.Command
	by      string       // login
	account work.Account // of that login
	at      time.Time    // GitHub's clock
	number  int          // the issue or pull request of the command
	onPull  bool
	key     string // of its event
	url     string // of its comment; empty: it has none
}

// given says who gave the command and how.
func (inv invocation) given() string {
	if inv.url == "" {
		return fmt.Sprintf("%s ran gh %s on the machine", inv.by, strings.TrimPrefix(inv.String(), "/"))
	}
	return inv.by + " commented " + inv.String()
}

// comment returns the id of a command's comment. A command without one gets a negative id, which no
// comment has.
func (inv invocation) comment() int64 {
	e, _ := work.EventOfKey(inv.key)
	if id := work.CommandComment(e); id != 0 {
		return id
	}
	return -inv.at.UnixMilli()
}

// Reply is the result of a command.
type Reply struct {
	Said    string          // what was done and what comes next; or why nothing was done, and what to do
	Unsent  string          // the text while the effects are not on GitHub yet; empty: Said
	sent    []work.Action   // actions that must be applied before Said is true
	Refused bool            // nothing was done, and it is not so already either
	void    []string        // keys of events that it ended, for the answer's marker
	verdict *review.Verdict // its verdict, for the marker; nil: none
	merge   string          // the head allowed to merge, for the marker; empty: none
	cancels bool            // the command cancelled the merged roadmap of the issue; the marker stores that
	epoch   int             // how often people restarted the reviews, for the marker; 0: unchanged
}

// reply returns the reply of a command that is carried out, or whose effect was there already: the
// command line ends with 0.
func reply(said string, args ...any) Reply { return Reply{Said: fmt.Sprintf(said, args...)} }

// refusal returns the reply of a command that does nothing, because something is not as it assumes:
// the command line ends with 1.
func refusal(said string, args ...any) Reply {
	return Reply{Said: fmt.Sprintf(said, args...), Refused: true}
}

// commands executes the item's commands in order of time, before any other decision about it.
// closing is true if the item is being cancelled and needs no other decision.
func (r *commander) commands() (closing bool) {
	defer r.skipPaused()
	for _, e := range r.takeCommands() {
		if r.opening(e) && r.item.Notices[r.answerToken(e)] == "" { // later commands wait with it
			r.wait("", work.Reason{Kind: work.WhyPullCloses, Who: e.Author.Login})
			return closing
		}
		switch token := r.answerToken(e); {
		case r.closing(e):
			closing = true
			r.wait("", work.Reason{Kind: work.WhyPullCloses, Number: r.item.Pull.Number, Who: e.Author.Login})
		case e.State == work.SaidLocally, r.item.Notices[token].Settled():
			r.finish(work.OutcomeAnswered, e)
		case r.item.Notices[token] != "": // its answer is planned or sent
		default:
			inv := r.invocation(e)
			rep := r.execute(inv)
			r.answer(e, inv, rep)
			closing = closing || slices.ContainsFunc(rep.sent, func(a work.Action) bool { return a.Kind == work.ActionClose })
		}
	}
	return closing
}

// takeCommands removes the commands from the events and returns them: nothing else handles them.
func (r *commander) takeCommands() []work.Event {
	var asked []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		if e.Kind == work.EventCommand {
			asked = append(asked, e)
		}
		return e.Kind == work.EventCommand
	})
	sorted.By(asked, func(a, b work.Event) int { return work.StampOf(a).Compare(work.StampOf(b)) })
	return asked
}

// closing reports whether a command that cancelled the work still has an open pull request, as far
// as is known. A pull request that GitHub showed open after we closed it was reopened.
func (r *commander) closing(e work.Event) bool {
	a, ok := r.item.Closings[e.ID]
	switch {
	case !ok || r.item.Pull.State != work.PullOpen || a.Number != r.item.Pull.Number:
		return false
	case !a.State.Settled():
		return true
	}
	return a.State == work.ActionApplied && !r.item.Pull.DetailsAt.After(a.SeenAt)
}

// opening reports whether a command cancels a turn that a running pass has pushed and opens a pull
// request for. There is nothing to close yet, and later passes would work on the open pull request,
// so the command waits.
func (r *commander) opening(e work.Event) bool {
	turn, busy := r.unfinished()
	return r.invocation(e).Verb == work.VerbCancel && !r.item.HasPull() && busy && turn.Step == work.StepPushed && r.alive(turn)
}

func (r *commander) answerToken(e work.Event) string {
	return work.NoticeToken(r.v.Repo.Key(), e.Number, e.Key)
}

func (r *commander) invocation(e work.Event) invocation {
	cmd, ok := work.ParseCommand(e.Body)
	if !ok {
		cmd = work.Command{Verb: work.VerbHelp} // stored by an older program
	}
	return invocation{
		Command: cmd, by: e.Author.Login, account: e.Author, at: work.StampOf(e), number: e.Number, key: e.Key, url: e.URL,
		onPull: r.item.HasPull() && e.Number == r.item.Pull.Number || strings.Contains(e.URL, "/pull/"),
	}
}

// execute executes a command.
func (r *commander) execute(inv invocation) Reply {
	said := r.words("command", "", fmt.Sprintf("%s: %s", inv.by, inv.Named()))
	said.Says.Number = inv.number
	r.p.add(change.Command{Item: r.item.ID, Number: inv.number, Command: inv.Command, By: inv.by, Words: said})
	row, _ := work.FindCommand(inv.Verb)
	merged := r.item.Flow.Document() && r.item.State == work.StateMerged
	if why, over := r.over(); inv.onPull && over && (merged || r.item.Replans()) && row.Flow == "" && !row.OnMerged {
		return refusal("%s. %s.", why, r.onIssue(inv))
	}
	if row.NeedsItem && r.item.ID == 0 {
		if rep, starts := r.cancelStart(inv); starts && inv.Verb == work.VerbCancel {
			return rep
		}
		return r.noItem(inv)
	}
	if several := r.severalPulls(inv); several != "" && row.OnePull {
		return refusal("%s", several)
	}
	return commandFuncs()[inv.Verb](r, inv)
}

// commandFuncs returns the function of each command. The caller has checked NeedsItem, so a
// function that needs a work item has one.
func commandFuncs() map[work.Verb]func(*commander, invocation) Reply {
	return map[work.Verb]func(*commander, invocation) Reply{
		work.VerbHelp:     func(_ *commander, inv invocation) Reply { return helpReply(inv) },
		work.VerbStatus:   func(r *commander, _ invocation) Reply { return r.status() },
		work.VerbRetry:    (*commander).retry,
		work.VerbUnblock:  (*commander).unblock,
		work.VerbPause:    (*commander).pause,
		work.VerbResume:   (*commander).unpause,
		work.VerbApprove:  func(r *commander, inv invocation) Reply { return reviewCommands{r}.approve(inv) },
		work.VerbHold:     func(r *commander, inv invocation) Reply { return reviewCommands{r}.hold(inv) },
		work.VerbMerge:    func(r *commander, inv invocation) Reply { return mergeCommands{r}.merge(inv) },
		work.VerbCancel:   (*commander).cancel,
		work.VerbFollowup: (*commander).followup,
		work.VerbDesign:   (*commander).beginFlow,
		work.VerbBugfix:   (*commander).beginFlow,
		work.VerbSmallJob: (*commander).beginFlow,
		work.VerbRoadmap:  (*commander).beginFlow,
		work.VerbReplan:   (*commander).replan,
	}
}

// noItem answers a command that needs an item where there is none.
func (r *commander) noItem(inv invocation) Reply {
	if flow, held := r.v.Ignored[inv.number]; held {
		return refusal("The label `%s` is set, so no work has started. Remove it, or use %s, and the %s starts.",
			r.v.Policy.Labels.Ignore, r.command(work.VerbResume), strings.ReplaceAll(string(flow), "_", " "))
	}
	return refusal("There is no work here. On an issue, %s, %s, %s or %s starts it.",
		r.command(work.VerbDesign), r.command(work.VerbBugfix), r.command(work.VerbSmallJob), r.command(work.VerbRoadmap))
}

func helpReply(inv invocation) Reply {
	if inv.Wrong != "" {
		return refusal("%s `/mergexo help` lists the commands.", inv.Wrong)
	}
	return reply("Write a command on the first line of a comment; it needs write permission on the repository.\n\n%s", work.CommandHelp())
}

// answer plans a command's actions and the answer, which is sent once they are settled.
func (r *commander) answer(e work.Event, inv invocation, rep Reply) {
	var after []string
	closes := "" // what says that the pull request is closed
	for _, a := range rep.sent {
		r.p.add(change.Notice{Action: a})
		after = append(after, a.Token)
		if a.Kind == work.ActionClose {
			closes = a.Title
		}
	}
	token := r.answerToken(e)
	gap := " "
	if strings.Contains(rep.Said, "\n") {
		gap = "\n\n"
	}
	what, why := inv.String(), "answer to: "
	if rep.Refused {
		why = work.OutcomeRefused
	}
	if inv.Wrong != "" { // it was no valid command
		what = "/mergexo"
	}
	body := fmt.Sprintf("**`%s`** for %s:%s%s", what, e.Author.Login, gap, rep.Said)
	if e.State == work.SaidLocally {
		body = inv.given() + ". " + closes // the answer itself was printed
	}
	r.notice(work.Action{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: inv.number, Base: strings.Join(after, " "), Target: e.Source,
		Body: r.v.Policy.Mark(body, rep.marks(token, e)), Why: why + inv.Named(),
	}, "answer to "+inv.by+": "+inv.Named())
}

// marks returns the markers of the answer to a command.
func (rep Reply) marks(token string, e work.Event) work.Marks {
	m := work.Marks{Token: token, Handled: append([]string{e.Key}, rep.void...), Merge: rep.merge}
	if rep.cancels {
		m.Cancelled = strconv.Itoa(e.Number)
	}
	if rep.epoch > 0 {
		m.Epoch = strconv.Itoa(rep.epoch)
	}
	if rep.verdict != nil {
		m.Review = review.Mark(*rep.verdict, nil, nil)
	}
	return m
}

// command returns a command as people give it where the answer is read.
func (r *commander) command(v work.Verb) string { return r.v.Place(r.item).Command(v, "") }

// same returns this command, to be given again.
func (r *commander) same(inv invocation) string {
	args := ""
	if inv.Head != "" {
		args = "--head " + inv.Head
	}
	return r.v.Place(r.item).Command(inv.Verb, args)
}

// onIssue says how to give this command to the item's issue.
func (r *commander) onIssue(inv invocation) string {
	if at, local := r.named(r.item.Number); local {
		return "Give it to its issue: " + at.Command(inv.Verb, "")
	}
	return fmt.Sprintf("Comment the command on its issue, #%d", r.item.Number)
}

// named is where a terminal gives commands for a number; false: the answer is a comment.
func (r *commander) named(number int) (at explain.Place, local bool) {
	repo, _, local := strings.Cut(r.v.Terminal, "#")
	return explain.Place{Item: fmt.Sprintf("%s#%d", repo, number)}, local
}

// openBeside returns the other open pull requests of the item's issue.
func (r *commander) openBeside() (names []string) {
	for _, n := range r.item.Open {
		if n != r.item.Pull.Number {
			names = append(names, fmt.Sprintf("#%d", n))
		}
	}
	return names
}

// continued returns a clause about other work on the item's issue that continues; empty: none does.
func (r *commander) continued() string {
	beside := r.openBeside()
	switch {
	case len(beside) > 0:
		return fmt.Sprintf("the work on #%d continues in %s", r.item.Number, work.JoinNames(beside))
	case r.item.Newer:
		return fmt.Sprintf("the work on #%d continues", r.item.Number)
	}
	return ""
}

// severalPulls returns why a command about one pull request is not clear on the issue, and how to give it; empty: it is
// clear.
func (r *commander) severalPulls(inv invocation) string {
	all := r.item.Open
	if inv.number != r.item.Number || len(all) < 2 {
		return ""
	}
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = fmt.Sprintf("#%d", n)
	}
	give := "comment the command on the one that you mean"
	if at, local := r.named(all[0]); local {
		give = "name the one that you mean, such as " + at.Command(inv.Verb, "")
	}
	return fmt.Sprintf("#%d has %s, %s, so nothing was done: %s.", r.item.Number, work.Count(len(all), "open pull request"), work.JoinNames(names), give)
}

// over reports whether the item needs nothing more, with a text why.
func (r *commander) over() (string, bool) {
	switch {
	case r.item.Reason.Kind == work.WhyRoadmapCancelled:
		return "The roadmap was cancelled", true
	case r.item.HasPull() && r.item.Pull.State == work.PullMerged:
		return fmt.Sprintf("Pull request #%d was merged", r.item.Pull.Number), true
	case r.item.HasPull() && r.item.Pull.State == work.PullClosed:
		return fmt.Sprintf("Pull request #%d is closed", r.item.Pull.Number), true
	case r.item.State == work.StateClosed:
		return "The work on this was cancelled", true
	case !r.item.State.Open():
		return "The work on this is done", true
	}
	return "", false
}

// again returns startsOver as the start of a sentence, without its full stop.
func (r *commander) again() string {
	clause := r.startsOver()
	if strings.HasPrefix(clause, "`") || strings.HasPrefix(clause, "gh mergexo ") {
		return clause // commands keep their case
	}
	return strings.ToUpper(clause[:1]) + clause[1:]
}

// reviewedAgain returns a clause about how to get somebody else's pull request reviewed again.
func (r *commander) reviewedAgain() string {
	if r.item.Pull.State != work.PullOpen {
		return fmt.Sprintf("reopen #%d and it is reviewed again", r.item.Number)
	}
	return fmt.Sprintf("set the label `%s` again and it is reviewed", r.v.Policy.Labels.Review)
}

// startsOver returns a clause about how to start over.
func (r *commander) startsOver() string {
	if r.item.Flow == work.FlowReview {
		return r.reviewedAgain()
	}
	if label := r.item.Restarted; label != "" {
		return fmt.Sprintf("a command starts it over with the label `%s`, which the next pass reads", label)
	}
	if r.changesRoadmap() {
		return fmt.Sprintf("`/mergexo replan WHY` on #%d changes the roadmap", r.item.Number)
	}
	verb := work.CommandOf(r.item.Flow)
	text := fmt.Sprintf("%s on #%d starts over", r.command(verb), r.item.Number)
	at, local := r.named(r.item.Number)
	switch row, _ := work.FindCommand(verb); {
	case local && row.OtherForm:
		text = fmt.Sprintf("set the label `%s` on #%d (where it is set, remove it first), and it starts over", r.v.Policy.Labels.Of(r.item.Flow), r.item.Number)
	case local:
		text = at.Command(verb, "") + " starts over"
	}
	if next := r.item.Followed; next != nil && next.Pull.Number != 0 {
		return fmt.Sprintf("it continues in #%d", next.Pull.Number)
	}
	if other := r.continued(); other != "" { // as long as that is open, nothing else begins
		return other
	}
	merged := r.item.HasPull() && r.item.Pull.State == work.PullMerged && !r.item.Flow.Document()
	reopens := r.item.HasPull() && r.item.Pull.State == work.PullClosed && !r.item.Replans() // of a change of a roadmap that is over nothing would come
	switch {
	case reopens && r.item.IssueClosed:
		return fmt.Sprintf("reopen #%d and it resumes (if its branch was deleted, restore that first); or reopen the issue, and %s", r.item.Pull.Number, text)
	case reopens:
		return fmt.Sprintf("reopen #%d and it resumes (if its branch was deleted, restore that first), or %s", r.item.Pull.Number, text)
	case merged, r.item.IssueClosed: // GitHub closed the issue with the merge
		return "once the issue is reopened, " + text
	}
	return text
}

// commander executes the commands on one work item.
type commander struct{ *itemPlanner }

func (r *itemPlanner) commander() *commander { return &commander{r} }

// ForCommand executes a command from the command line. e is the event that records it.
func ForCommand(v known.Snapshot, item known.Item, e work.Event, cmd work.Command) (Reply, Plan) {
	made := Plan{Repo: v.Repo}
	r := plannerOf(v, &made, item)
	r.item.Events = known.Without(r.item.Events, func(other work.Event) bool { return other.Kind == work.EventCommand })
	at := e.CreatedAt.Truncate(time.Second) // in whole seconds, like GitHub's times
	inv := invocation{Command: cmd, by: e.Author.Login, account: e.Author, at: at, number: e.Number, key: e.Key, onPull: r.item.HasPull() && e.Number == r.item.Pull.Number}
	if r.commander().opening(e) {
		return refusal("The pull request is being opened. Repeat the command once it is open."), made
	}
	rep := r.commander().execute(inv)
	if slices.ContainsFunc(rep.sent, func(a work.Action) bool { return a.Kind == work.ActionClose }) {
		r.commander().answer(e, inv, rep) // nobody finds a pull request closed without a word
	} else {
		for _, a := range rep.sent {
			made.add(change.Notice{Action: a})
		}
		e.ProcessedAt, e.Outcome = v.Now, work.OutcomeAnswered
		if rep.Refused { // no comment tells why
			e.Outcome = work.OutcomeRefused + rep.Said
		}
	}
	made.add(change.LocalCommand{Event: e})
	return rep, made
}
