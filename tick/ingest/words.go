package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// GitHub's lists show of a comment its author and its text. Two things decide besides whether it
// counts, and only GraphQL has them: who edited it last, as everybody with the role Write may edit
// anybody's, and whether people hid it. GitHub is asked about what would count, so an idle pass asks
// nothing.

// judgedCandidate is a candidate judged by its author.
type judgedCandidate struct {
	candidate
	known bool   // the database has it
	over  bool   // and it counts no more than it did
	was   string // if known: its outcome
	holds []int  // its issue and pull request, if an earlier version of it holds the latter and this one says something else
	err   error
}

// asksWord reports whether the last editor decides about a candidate, and is not known yet.
func (j judgedCandidate) asksWord() bool {
	e := j.event
	return j.err == nil && e.Kind.Written() && (e.Outcome == "" || j.holds != nil) && !j.word.Known && e.Node != "" &&
		(!j.over || j.holds != nil) && (!j.known || j.holds != nil || j.was == "" || j.was == store.OutcomeEdited || work.ByWord(j.was))
}

// readWords reads who edited candidates last and which are hidden, and adds what their authors said
// before somebody else edited it, if that holds work. A candidate about which GitHub does not answer
// gets an error, so that the next pass reads it again.
func (h *reading) readWords(ctx context.Context, all []judgedCandidate) (out []judgedCandidate) {
	var nodes []string
	for i, j := range all {
		if j.err == nil && j.event.UpdatedAt.After(j.event.CreatedAt) && !mentionsHold(j.event) {
			all[i].holds, all[i].err = h.heldBy(ctx, j.candidate)
		}
		if j = all[i]; j.asksWord() {
			nodes = append(nodes, j.event.Node)
		}
	}
	words, failed := map[string]work.Word{}, error(nil)
	for some := range slices.Chunk(nodes, github.MaxWords) {
		read, err := h.repo.GitHub.Words(ctx, some)
		if err != nil {
			failed = err
			break
		}
		maps.Copy(words, read)
	}
	for _, j := range all {
		if j.asksWord() {
			w, known := words[j.event.Node]
			switch {
			case known:
				j.word = w
			case failed != nil:
				j.err = failed
			default:
				j.err = errors.New("GitHub does not say who edited it last")
			}
		}
		if j.err == nil && j.event.Kind.Written() && j.event.Outcome == "" && j.word.Ignored(j.event.Author) == work.OutcomeEditedByOther {
			brakes, holds, err := h.brakesOf(ctx, j.candidate)
			j.keeps, j.err = holds, err
			out = append(out, brakes...)
		}
		if by := j.event.Author.ID; j.holds != nil && j.err == nil && by != 0 && j.word.Editor.ID == by {
			h.takenBack = append(h.takenBack, j)
		}
		out = append(out, j)
	}
	return out
}

// brakesOf looks whether a comment that somebody else edited was a hold or a pause when its author
// wrote it last: nobody else's edit ends that. holds reports whether it was; brakes has that version if
// no pass has read it.
func (h *reading) brakesOf(ctx context.Context, c candidate) (brakes []judgedCandidate, holds bool, err error) {
	pending, err := h.lookups.pendingCommands(ctx, h)
	if err != nil {
		return nil, false, err
	}
	plain := versionKeys(c.event)
	at := plain[len(plain)-1]
	if c.event.Kind != work.EventCommand {
		at = plain[0]
	}
	source := work.CommandSource(work.EventKind(at[0]), at[1])
	if slices.ContainsFunc(pending, func(e work.Event) bool { return e.Number == c.event.Number && e.Source == source && isBrake(e) }) {
		return nil, true, nil
	}
	versions, err := h.repo.GitHub.Revisions(ctx, c.event.Node)
	own := slices.IndexFunc(versions, func(v github.Revision) bool { return v.By.ID == c.event.Author.ID })
	if err != nil || own < 0 {
		return nil, false, err
	}
	e := c.event
	e.Kind, e.Source, e.Body, e.UpdatedAt = work.EventKind(at[0]), at[1], work.Normalise(versions[own].Body), versions[own].At
	if e = work.AsCommand(e); !isBrake(e) {
		return nil, false, nil
	}
	known, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.HasEvent(ctx, h.row.ID, e.Key) })
	if err != nil || known {
		return nil, known, err
	}
	e.Outcome, err = h.verdict(ctx, e)
	c.event, c.word = e, work.Word{Known: true}
	return []judgedCandidate{{candidate: c, err: err}}, true, nil
}

// isBrake reports whether an event is a command that stops something until people end that.
func isBrake(e work.Event) bool {
	return isCommand(e, work.VerbHold, []int{e.Number}) || isCommand(e, work.VerbPause, []int{e.Number})
}

// hiddenLife is the time after which GitHub is asked again whether a hidden comment is shown: that
// changes no stamp.
const hiddenLife = 30 * time.Minute

// readHidden makes comments that were hidden pending again when people show them again.
func (h *reading) readHidden(ctx context.Context) error {
	hidden, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) ([]work.Event, error) {
		return tx.ListHidden(ctx, h.row.ID, h.now().Add(-hiddenLife), github.MaxWords)
	})
	if err != nil || len(hidden) == 0 {
		return err
	}
	nodes := make([]string, len(hidden))
	for i, e := range hidden {
		nodes[i] = e.Node
	}
	words, err := h.repo.GitHub.Words(ctx, nodes)
	if github.OutOfTime(err) {
		h.stopReading(err)
		return nil
	}
	if err != nil {
		return h.deferOne(err, "read which comments are hidden")
	}
	for _, e := range hidden {
		word, known := words[e.Node]
		if ignored := word.Ignored(e.Author); !known || ignored == work.OutcomeHidden {
			h.stillHidden = append(h.stillHidden, e.ID)
			continue
		} else if e.Outcome = ignored; ignored == "" && e.Kind.IsComment() {
			if e.Outcome, err = h.paused(ctx, candidate{event: e}); github.OutOfTime(err) {
				h.stopReading(err)
				return nil
			} else if err != nil {
				if fatal := h.deferOne(err, "judge %s", e.URL); fatal != nil {
					return fatal
				}
				continue
			}
		}
		h.readAgain = append(h.readAgain, e)
	}
	return nil
}

// lostWords returns the events of a turn whose texts do not count any more, with the outcome of each,
// by id: people hid them, or somebody else edited them, while they waited.
func (h *reading) lostWords(ctx context.Context, events []work.Event) (map[int64]string, error) {
	var nodes []string
	for _, e := range events {
		if e.Kind.IsComment() && e.Node != "" && len(nodes) < github.MaxWords {
			nodes = append(nodes, e.Node)
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	words, err := h.repo.GitHub.Words(ctx, nodes)
	lost := map[int64]string{}
	for _, e := range events {
		if outcome := words[e.Node].Ignored(e.Author); outcome != "" && e.Kind.IsComment() {
			lost[e.ID] = outcome
		}
	}
	return lost, err
}
