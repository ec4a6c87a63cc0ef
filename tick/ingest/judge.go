package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
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
}

// judged is a candidate on its way through the judgement.
type judged struct {
	candidate
	known bool   // the database has it
	was   string // if known: its outcome
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
	refused   []work.Event    // of people who may give no commands
	unmerged  []work.Event    // merge commands of people who may not push
	own       []work.Event    // texts of ours; without number: found because of a command
	copies    []surplus       // of comments of ours
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
		j.byEditor(all)
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
	slices.SortStableFunc(said, inOrder)
	all := make([]judged, 0, len(said))
	for _, c := range said {
		j.about = c.event
		k, known := j.known[c.event.Key]
		switch {
		case c.pending:
		case known || twice[c.event.Key]:
			if mayChange(k) || several[versionOf(c.event)] {
				all = append(all, judged{candidate: c, known: true, was: k.Outcome})
			}
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
	return e.Kind.Written() && e.Outcome == "" && !x.word.Known && e.Node != "" &&
		(!x.known || x.was == "" || x.was == store.OutcomeEdited || work.ByWord(x.was))
}

// byEditor has it asked who edited a text last and whether it is hidden.
func (j *judgement) byEditor(all []judged) {
	for i, x := range all {
		j.about = x.event
		if !x.asksWord() {
			continue
		}
		word, asked := j.words[x.event.Node]
		if !asked {
			j.lack(lack{kind: lackWord, node: x.event.Node})
		}
		all[i].word = word
	}
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
	switch {
	case c.event.Kind == work.EventCheck && x.was == work.OutcomeVoid+work.ReasonClosed: // it is open again
	case !c.event.Kind.Written(), ignored != "" && ignored == x.was:
		return
	case ignored != "":
		c.event.Outcome = ignored
	case (x.was == store.OutcomeEdited || work.ByWord(x.was)) && c.event.Kind.IsComment():
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
	for _, e := range slices.Concat(j.pendingCommands, j.commands) { // every comment after a command that ends a pause counts
		for i, p := range all {
			if since := work.StampOf(e); p.Open() && !since.Before(p.Began) && isCommand(e, work.VerbResume, at.numbers) {
				all[i].Ended = since
			}
		}
	}
	return all
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
