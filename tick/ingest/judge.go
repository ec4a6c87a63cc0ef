package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// judge decides what of the things said counts: by who wrote it, who edited it last, what we said ourselves, and
// the pauses and holds of its item. It reads facts, asks nobody and changes nothing. What it lacks it names;
// facts.go reads that, and calls judge again.

// candidate is an event that may be new.
type candidate struct {
	event   work.Event
	pull    bool  // it is on a pull request, otherwise on an issue
	pending bool  // part of a draft review
	former  bool  // it belongs to its item even if a later item follows on the issue
	review  int64 // of a diff comment: its review's id
	word    work.Word
	keeps   bool // somebody else edited it; what its author said before still holds
}

// judged is a candidate on its way through the judgement.
type judged struct {
	candidate
	known bool   // the database has it
	over  bool   // and it counts no more than it did
	was   string // if known: its outcome
	holds []int  // its issue and pull request, if an earlier version of it holds the latter and this one says something else; of a hold that was put back, too
}

// judgement is what counts of what was said. It counts only once nothing is lacking.
type judgement struct {
	*facts
	rights rights
	about  work.Event // that is judged now
	lacks  []missing

	events    []candidate     // new ones, with their outcomes
	readAgain []work.Event    // known ones that count differently now
	commands  []work.Event    // new ones to carry out
	obeyed    []work.Event    // those that were carried out before the database was lost
	refused   []work.Event    // of people who may give no commands
	unmerged  []work.Event    // merge commands of people who may not push
	own       []work.Event    // texts of ours; without number: found because of a command
	copies    []surplus       // of comments of ours
	waiting   []candidate     // comments that wait until a number can be read
	takenBack []judged        // comments whose authors took a hold out of them
	putBack   []judged        // and those of whom who put one back
	handled   map[string]bool // event keys that texts of ours name as answered
}

// surplus are further copies of a comment that an action sent.
type surplus struct {
	of  work.Action
	ids []int64
}

// missing is a fact that the judgement of an event lacks.
type missing struct {
	lack
	event work.Event
}

func judge(said []candidate, f *facts) *judgement {
	j := &judgement{facts: f, rights: *f.rights, handled: map[string]bool{}}
	j.rights.lack = j.lack
	all := j.byAuthor(said)
	if len(j.lacks) == 0 {
		all = j.byEditor(all)
	}
	if len(j.lacks) == 0 {
		j.byTime(all)
	}
	return j
}

func (j *judgement) lack(l lack) {
	if !slices.ContainsFunc(j.lacks, func(m missing) bool { return m.lack == l }) {
		j.lacks = append(j.lacks, missing{l, j.about})
	}
}

// byAuthor judges the new candidates by who wrote them, commands first: they may have begun a pause.
func (j *judgement) byAuthor(said []candidate) []judged {
	several, twice := severalVersions(said), map[string]bool{}
	said = slices.Clone(said)
	sorted.By(said, inOrder)
	all := make([]judged, 0, len(said))
	for _, c := range said {
		j.about = c.event
		k, known := j.known[c.event.Key]
		switch {
		case c.pending:
		case known || twice[c.event.Key]:
			counts := mayChange(k) || several[versionOf(c.event)]
			if counts || c.event.UpdatedAt.After(c.event.CreatedAt) { // it may have been a hold in between
				all = append(all, judged{candidate: c, known: true, over: !counts, was: k.Outcome})
			}
		case len(j.unread) > 0 && c.event.Kind.IsComment() && c.event.Kind != work.EventCommand: // a command may be the way out
			twice[c.event.Key] = true
			j.waiting = append(j.waiting, c)
		default:
			twice[c.event.Key] = true
			if c.event.Kind.Written() && c.event.Outcome == "" {
				c.event.Outcome = j.verdict(c.event)
			}
			all = append(all, judged{candidate: c})
		}
	}
	return all
}

// verdict returns the outcome of an event that is ignored, or "" if it counts.
func (j *judgement) verdict(e work.Event) string {
	marks, marked := work.ParseMarks(e.Body)
	ours := slices.Contains(j.ours, e.Author.ID)
	switch {
	case ours && j.editedByPerson(e):
		return work.OutcomeOwnEdited
	case ours && marked && !j.pasted(e, marks.Token):
		j.own = append(j.own, e)
		j.answer(e.Body)
		return work.OutcomeOwn
	case marked && !ours:
		return work.OutcomeOthers
	case e.Kind.IsComment() && j.foreign[e.Number]: // it asks for no turn, so nobody's permission is looked up
		return work.OutcomeTheirs
	case e.Author.Bot:
		return "ignored: bot"
	}
	j.rights.isReviewer(e.Author) // asked about each author: a reviewer's login means the first account that says anything
	switch {
	case j.rights.mayComment(e):
		return ""
	case j.rights.takenFrom(e.Author) != 0:
		return work.OutcomeTakenOver
	}
	return work.OutcomeNoPermission
}

// answer notes the events that a text of ours names as answered.
func (j *judgement) answer(body string) {
	marks, _ := work.ParseMarks(body)
	for _, key := range marks.Handled {
		j.handled[key] = true
	}
}

// editedByPerson reports whether a comment that we sent has been edited by somebody else. We edit
// sticky comments ourselves, so for those only a lost marker proves it.
func (j *judgement) editedByPerson(e work.Event) bool {
	kind, id := plainOf(e)
	writes := []work.ActionKind{work.ActionComment, work.ActionSticky}
	if kind == work.EventReview {
		writes = []work.ActionKind{work.ActionReply}
	}
	marks, marked := work.ParseMarks(e.Body)
	return kind != work.EventSummary && slices.ContainsFunc(j.sent[e.ItemID], func(a work.Action) bool {
		changed := strings.TrimSpace(work.Normalise(a.Body)) != strings.TrimSpace(e.Body)
		if a.Kind == work.ActionSticky {
			changed = !marked || marks.Token != a.Token
		}
		return a.Number == e.Number && a.ResultID == id && slices.Contains(writes, a.Kind) && changed
	})
}

// pasted reports whether a person copied a comment of ours with its marker: it counts as theirs. Further copies
// of our own are to be removed.
func (j *judgement) pasted(e work.Event, token string) bool {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	a, known := j.actions[token]
	if err != nil || !known {
		return false
	}
	extra, asked := j.extra[token]
	if !asked {
		j.lack(lack{kind: lackCopies, node: token})
		return false
	}
	j.copies = append(j.copies, surplus{a, extra})
	first, err := strconv.ParseInt(a.ResultID, 10, 64)
	later := err == nil && id > first // an earlier copy is ours, shown late
	return a.State == work.ActionApplied && later && !slices.Contains(extra, id)
}

// GitHub's lists show of a comment its author and its text. Two things decide besides whether it
// counts, and only GraphQL has them: who edited it last, as everybody with the role Write may edit
// anybody's, and whether people hid it. GitHub is asked about what would count, so an idle pass asks
// nothing.

// asksWord reports whether the last editor decides about a candidate, and is not known yet.
func (x judged) asksWord() bool {
	e := x.event
	return e.Kind.Written() && (e.Outcome == "" || x.holds != nil) && !x.word.Known && e.Node != "" &&
		(!x.over || x.holds != nil) && (!x.known || x.holds != nil || x.was == "" || x.was == store.OutcomeEdited || work.ByWord(x.was))
}

// byEditor judges by who edited a text last and whether it is hidden, and adds what its author said before
// somebody else edited it, if that holds work.
func (j *judgement) byEditor(all []judged) (out []judged) {
	for i, x := range all {
		j.about = x.event
		if x.event.UpdatedAt.After(x.event.CreatedAt) && !strings.Contains(strings.ToLower(x.event.Body), "/mergexo "+string(work.VerbHold)) && !isCommand(x.event, work.VerbResume, []int{x.event.Number}) { // which ends it itself
			all[i].holds = j.heldBy(x.candidate)
		}
		if x = all[i]; x.asksWord() {
			word, asked := j.words[x.event.Node]
			if !asked {
				j.lack(lack{kind: lackWord, node: x.event.Node})
			}
			all[i].word = word
		}
	}
	if len(j.lacks) > 0 {
		return nil
	}
	for _, x := range all {
		j.about = x.event
		if x.event.Kind.Written() && x.event.Outcome == "" && x.word.Ignored(x.event.Author) == work.OutcomeEditedByOther {
			brake, holds := j.brakeOf(x.candidate)
			if x.keeps = holds; brake != nil {
				out = append(out, *brake)
			}
		}
		if by := x.event.Author.ID; x.holds != nil && by != 0 && x.word.Editor.ID == by {
			j.takenBack = append(j.takenBack, x)
		}
		out = append(out, x)
	}
	return out
}

// heldBy returns the numbers of an issue and its pull request if a comment's author holds it by an
// earlier version of the comment, and may still command.
func (j *judgement) heldBy(c candidate) []int {
	at := j.spots[whoseOf(c)]
	if !c.event.Kind.Written() || c.pending || at.hold == nil {
		return nil
	}
	if hold := *at.hold; !hold.beganWith(c.event) || !j.rights.mayComment(c.event) {
		return nil
	}
	return at.numbers
}

// brakeOf looks whether a comment that somebody else edited was a hold or a pause when its author
// wrote it last: nobody else's edit ends that. holds reports whether it was; brake is that version if
// no pass has read it.
func (j *judgement) brakeOf(c candidate) (brake *judged, holds bool) {
	source := work.CommandSource(plainOf(c.event))
	if slices.ContainsFunc(j.pendingCommands, func(e work.Event) bool { return e.Number == c.event.Number && e.Source == source && isBrake(e) }) {
		return nil, true
	}
	former, asked := j.former[c.event.Node]
	switch {
	case !asked:
		j.lack(lack{kind: lackFormer, node: c.event.Node})
		return nil, false
	case former.known || former.event == nil:
		return nil, former.known
	}
	c.event, c.word = *former.event, work.Word{Known: true}
	c.event.Outcome = j.verdict(c.event)
	return &judged{candidate: c}, true
}

// formerVersion is what its author wrote last of a comment that somebody else edited, if that was a hold or a
// pause.
type formerVersion struct {
	event *work.Event // nil: it was neither
	known bool        // the database has it
}

// brakeAmong finds that version.
func brakeAmong(versions []github.Revision, e work.Event) *work.Event {
	own := slices.IndexFunc(versions, func(v github.Revision) bool { return v.By.ID == e.Author.ID })
	if own < 0 {
		return nil
	}
	e.Kind, e.Source = plainOf(e)
	e.Body, e.UpdatedAt = work.Normalise(versions[own].Body), versions[own].At
	if e = work.AsCommand(e); !isBrake(e) {
		return nil
	}
	return &e
}

// isBrake reports whether an event is a command that stops something until people end that.
func isBrake(e work.Event) bool {
	return isCommand(e, work.VerbHold, []int{e.Number}) || isCommand(e, work.VerbPause, []int{e.Number})
}

// byTime judges what counts by the commands, pauses and reviews of its item at the time of its text.
func (j *judgement) byTime(all []judged) {
	for _, x := range all {
		c := x.candidate
		j.about = c.event
		if c.event.Kind != work.EventCommand && len(j.lacks) > 0 { // commands decide about the pauses of what follows
			return
		}
		ignored := ""
		if c.event.Kind.Written() && c.event.Outcome == "" {
			ignored = c.word.Ignored(c.event.Author)
		}
		switch {
		case x.over:
		case x.known:
			j.judgeAgain(x, ignored)
		case c.event.Kind == work.EventCommand:
			c.event.Outcome = j.commandVerdict(c.event, ignored)
			j.events = append(j.events, c)
		default:
			if ignored != "" {
				c.event.Outcome = ignored
			}
			if c.event.Kind == work.EventReview && c.event.Outcome == "" {
				if slices.Contains(j.fixed[c.event.Number], c.event.Review) { // the review may not be read again with a comment that was edited
					c.event.Outcome = work.OutcomeVerdict
				} else if c.event.State == "" { // of the review: a comment with an approval is answered, and nothing is pushed for it
					state, known := j.reviewStates[c.review]
					if c.event.State = state; c.review != 0 && !known && !j.reviewsOf[c.event.Number] {
						j.lack(lack{kind: lackReviews, number: c.event.Number})
					}
				}
			}
			if c.event.Outcome == "" {
				c.event.Outcome = j.paused(c)
			}
			j.events = append(j.events, c)
		}
	}
	for i, c := range j.events {
		if j.isAnswered(c.event.Key) && (c.event.Outcome == "" || work.ByWord(c.event.Outcome)) {
			j.events[i].event.Outcome = work.OutcomeAnswered
		}
	}
}

// isAnswered reports whether a text of ours names an event as answered.
func (j *judgement) isAnswered(key string) bool { return j.handled[key] || j.answered(key) }

// judgeAgain judges a known event that was read again. If its text does not count, ignored says so.
// An edit that a person reverted while the item was paused for them is skipped like other comments.
func (j *judgement) judgeAgain(x judged, ignored string) {
	c := x.candidate
	switch reopened := x.was == store.OutcomeEdited; {
	case c.event.Kind == work.EventCheck && x.was == work.OutcomeVoid+work.ReasonClosed: // it is open again
	case !c.event.Kind.Written(), ignored != "" && (c.keeps || ignored == x.was):
		return
	case ignored != "":
		c.event.Outcome = ignored
	case reopened && isCommand(c.event, work.VerbHold, []int{c.event.Number}): // put back, it holds again; as the command, it is answered
		if !j.rights.mayComment(c.event) {
			c.event.Outcome = work.OutcomeNoCommander
			break
		}
		x.holds = j.spots[whoseOf(c)].numbers
		j.putBack = append(j.putBack, x)
		c.event.Outcome = work.OutcomeAnswered
	case (reopened || work.ByWord(x.was)) && c.event.Kind.IsComment():
		c.event.Outcome = j.paused(c)
	}
	j.readAgain = append(j.readAgain, c.event)
}

// commandVerdict judges a new command: whether its author may give it, and whether it was carried out before the
// database was lost. ignored says why its text does not count.
func (j *judgement) commandVerdict(e work.Event, ignored string) string {
	switch {
	case e.Outcome == work.OutcomeNoPermission:
		j.refused = append(j.refused, e)
		return work.OutcomeNoCommander
	case e.Outcome != "":
		return e.Outcome
	case j.obeyedBefore(e):
		j.obeyed = append(j.obeyed, e)
		return work.OutcomeAnswered
	case ignored != "":
		return ignored
	}
	if isCommand(e, work.VerbMerge, []int{e.Number}) && !j.rights.mayNow(e.Author, false) { // allowed_users grants other commands, but not this one
		j.unmerged = append(j.unmerged, e)
		return work.OutcomeNoCommander
	}
	j.commands = append(j.commands, e)
	return ""
}

// obeyedBefore looks for our answer to a command. If there is one, the command was carried out,
// even if this database does not know it: an old cancel must not act again.
func (j *judgement) obeyedBefore(e work.Event) bool {
	said, asked := j.said[e.Number]
	if !asked {
		since := e.CreatedAt
		for _, m := range j.lacks {
			if m.kind == lackAnswers && m.number == e.Number { // of an earlier command
				since = m.since
			}
		}
		j.lack(lack{kind: lackAnswers, number: e.Number, since: since})
	}
	for _, c := range said {
		if work.Ours(c.Body, c.Author, j.rights.operators()) {
			j.own = append(j.own, work.Event{Body: c.Body, URL: c.URL, CreatedAt: c.CreatedAt})
			j.answer(c.Body)
		}
	}
	return j.isAnswered(e.Key) || j.isAnswered(work.ShortKey(e.Key))
}

// isCommand reports whether an event is a command with the verb on one of the numbers.
func isCommand(e work.Event, verb work.Verb, numbers []int) bool {
	cmd, ok := work.ParseCommand(e.Body)
	return ok && e.Kind == work.EventCommand && cmd.Verb == verb && slices.Contains(numbers, e.Number)
}

// paused returns the outcome of an event that came while people had the item paused: it is skipped,
// even if it appears later.
func (j *judgement) paused(c candidate) string {
	e := c.event
	if !e.Kind.IsComment() && e.Kind != work.EventCheck && e.Kind != work.EventConflict {
		return "" // state changes of issues and pull requests always count
	}
	at := e.CreatedAt                                                           // when it got its current text
	for _, later := range []time.Time{j.submitted[c.review], c.word.EditedAt} { // it was a draft until then
		if later.After(at) {
			at = later
		}
	}
	covers := func(p work.Pause) bool { return p.Covers(at) }
	if e.Kind == work.EventConflict { // nobody knows since when it exists: it counts unless a pause lasts that began before it was seen
		covers = func(p work.Pause) bool { return p.Open() && (e.SeenAt.IsZero() || !e.SeenAt.Before(p.Began)) }
	}
	if !slices.ContainsFunc(j.pausesFor(c), covers) {
		return ""
	}
	return work.OutcomePaused
}

// pausesFor returns the pauses of the item that an event belongs to.
func (j *judgement) pausesFor(c candidate) []work.Pause {
	at := j.spots[whoseOf(c)]
	all := slices.Clone(at.pauses)
	all = append(all, j.pausesByCommand(at.numbers, all)...)
	for _, e := range slices.Concat(j.pendingCommands, j.commands) { // every comment after a command that ends a pause counts
		for i, p := range all {
			if since := work.StampOf(e); p.Open() && !since.Before(p.Began) && isCommand(e, work.VerbResume, at.numbers) {
				all[i].Ended = since
			}
		}
	}
	return all
}

// pausesByCommand returns the pauses begun by commands that were carried out before the database
// was lost. Each ends when its label was set, as timelines show the pause from then on, when the label was
// removed that paused already, or when another command ended it.
func (j *judgement) pausesByCommand(numbers []int, shown []work.Pause) (pauses []work.Pause) {
	obeyed := slices.Concat(j.obeyedEarlier, j.obeyed)
	for i, e := range obeyed { // oldest first
		if !isCommand(e, work.VerbPause, numbers) {
			continue
		}
		p := work.Pause{Number: e.Number, Began: work.StampOf(e), By: e.Author.Login}
		ends := func(at time.Time) {
			if !at.Before(p.Began) && (p.Open() || at.Before(p.Ended)) {
				p.Ended = at
			}
		}
		for _, s := range shown {
			if ends(s.Began); !s.Open() && s.Covers(p.Began) {
				ends(s.Ended)
			}
		}
		for _, o := range obeyed[i+1:] {
			if isCommand(o, work.VerbResume, numbers) {
				ends(work.StampOf(o))
			}
		}
		if !p.Open() {
			pauses = append(pauses, p)
		}
	}
	return pauses
}

// inOrder puts commands first, and then what is older. Stamps are whole seconds; within a second GitHub's ids
// rise. Of two versions of one comment, read before and after an edit, the newer comes last.
func inOrder(a, b candidate) int {
	rank := map[bool]int{true: 0, false: 1}
	return cmp.Or(
		rank[a.event.Kind == work.EventCommand]-rank[b.event.Kind == work.EventCommand],
		a.event.CreatedAt.Compare(b.event.CreatedAt),
		len(a.event.Source)-len(b.event.Source), strings.Compare(a.event.Source, b.event.Source),
		a.event.UpdatedAt.Compare(b.event.UpdatedAt),
	)
}

// mayChange reports whether a known version that is read again may count again: it has other
// versions, was ended for one or together with what its turn was to answer, or did not count for its
// last editor or because it was hidden, or because its pull request was closed.
func mayChange(k store.KnownEvent) bool {
	return k.Edited || work.ByWord(k.Outcome) || k.Outcome == store.OutcomeEdited || k.Outcome == work.OutcomeVoid+work.ReasonGone ||
		k.Outcome == work.OutcomeVoid+work.ReasonClosed
}

// commentVersion identifies a comment; its versions share it.
type commentVersion struct {
	number int
	kind   work.EventKind
	source string
}

func versionOf(e work.Event) commentVersion { return commentVersion{e.Number, e.Kind, e.Source} }

// severalVersions returns the comments that are listed in more than one version.
func severalVersions(all []candidate) map[commentVersion]bool {
	first, several := map[commentVersion]string{}, map[commentVersion]bool{}
	for _, c := range all {
		of := versionOf(c.event)
		if key, listed := first[of]; !listed {
			first[of] = c.event.Key
		} else if key != c.event.Key {
			several[of] = true
		}
	}
	return several
}

// unjudged says that an event cannot be judged yet.
type unjudged struct {
	number int
	url    string
	err    error
}

func (e *unjudged) Error() string { return fmt.Sprintf("judge %s: %s", e.url, e.err) }
func (e *unjudged) Unwrap() error { return e.err }
