package status

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// moment is one thing that happened to an item.
type moment struct {
	at   time.Time
	mark string
	what string
	link string
	sub  []moment // parts of it, without times of their own
}

// moments returns what happened, oldest first. It omits applied actions that only decorate GitHub.
func (s Story) moments() []moment {
	var all []moment
	for _, e := range s.events {
		if e.Outcome == work.OutcomeOwn { // an action shows it
			continue
		}
		all = append(all, moment{at: cmp.Or(e.CreatedAt, e.SeenAt), mark: "•", what: s.happened(e) + outcome(e), link: e.URL})
	}
	for _, t := range s.turns {
		all = append(all, s.turnMoment(t))
	}
	for _, x := range s.actions {
		if x.TurnID == 0 && (x.ResultURL != "" || x.Need == work.NeedRequired || x.State != work.ActionApplied) {
			all = append(all, moment{at: x.PlannedAt, mark: "→", what: sent(x), link: x.ResultURL})
		}
	}
	for _, h := range slices.Backward(s.history) {
		if s.tellsMore(h) {
			all = append(all, moment{at: h.At, mark: "·", what: strings.Replace(h.What, "review", "reviews", 1) + ": " + h.Detail})
		}
	}
	if m := s.merged; m != nil && m.Stage == merging.Landed {
		all = append(all, moment{at: m.LandedAt, mark: "→", what: "merged: " + mergedAs(*m) + "; " + compared(*m), link: s.Pull.URL})
		if s.revert != "" {
			all = append(all, moment{at: m.LandedAt, mark: "→", what: fmt.Sprintf("%s turned red: %s; %s takes the merge back", m.Base, strings.Join(m.Red, ", "), number(s.revert)), link: s.revert})
		}
	}
	slices.SortStableFunc(all, func(x, y moment) int { return x.at.Compare(y.at) })
	return all
}

// tellsMore reports whether a line of the history adds something to the events.
func (s Story) tellsMore(h work.History) bool {
	ended := h.What == "review" && review.State(h.Detail).Ended()
	return h.What != "command" && !ended
}

// turnMoment is a turn with what it sent.
func (s Story) turnMoment(t work.Turn) moment {
	what := fmt.Sprintf("turn %s: %s", work.Short(t.Key), t.Kind)
	if t.Reviewer != "" {
		what += ", " + t.Reviewer
	}
	if t.Agent != "" {
		what += " by " + t.Agent
	}
	what += ": " + turnStep(t)
	if t.Runs != 1 {
		what += ", " + work.Count(t.Runs, "run")
	}
	if d := took(t); d != "" {
		what += ", " + d
	}
	m := moment{at: t.ClaimedAt, mark: "▸", what: what + live.Used(t.Usage)}
	if trouble := cmp.Or(t.LastError, s.why(t.WaitReason)); trouble != "" {
		m.sub = append(m.sub, moment{mark: "✗", what: trouble})
	}
	for _, x := range s.actions {
		if x.TurnID == t.ID {
			m.sub = append(m.sub, moment{mark: "→", what: sent(x), link: x.ResultURL})
		}
	}
	return m
}

// happened describes an event.
func (s Story) happened(e work.Event) string {
	who, words, said := cmp.Or(e.Author.Login, "somebody"), firstLine(e.Body), ""
	if words != "" {
		said = ": " + words
	}
	switch e.Kind {
	case work.EventSource:
		return who + " commented on the issue" + said
	case work.EventIssue:
		return who + " commented" + said
	case work.EventReview:
		return fmt.Sprintf("%s commented on %s%s", who, place(e.Path, e.Line), said)
	case work.EventSummary:
		return who + " " + didReview(e.State) + said
	case work.EventCommand:
		return who + said
	case work.EventCheck:
		return "checks failed" + said
	case work.EventConflict:
		return "it cannot be merged into its base" + said
	case work.EventLabelled:
		return who + " set the label " + e.State
	case work.EventMerged:
		return who + " merged it"
	case work.EventClosed:
		return who + " closed it"
	case work.EventReopened:
		return who + " opened it again"
	case work.EventHead:
		return who + " pushed to its branch"
	case work.EventReviewDue:
		return "a review is due" + said
	case work.EventFixDue:
		return "what a review asks for is to be done" + said
	}
	return string(e.Kind) + said
}

// didReview describes a review.
func didReview(state string) string {
	switch state {
	case "APPROVED":
		return "approved it"
	case "CHANGES_REQUESTED":
		return "requested changes"
	case "DISMISSED":
		return "reviewed it, and that was dismissed"
	}
	return "reviewed it"
}

func place(path string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d", path, line)
	}
	return path
}

func firstLine(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return line
}

// outcome describes an event's outcome unless it was answered.
func outcome(e work.Event) string {
	switch {
	case e.ProcessedAt.IsZero() && e.TurnID == 0:
		return " (waits for a turn)"
	case strings.HasPrefix(e.Outcome, "ignored"), strings.HasPrefix(e.Outcome, work.OutcomeVoid):
		return " (" + e.Outcome + ")"
	}
	return ""
}

// digests matches commits in texts, which are shortened.
var digests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{40}\b`) })

// sent describes what an action did, or will do.
func sent(x work.Action) string {
	said := strings.ReplaceAll(string(x.Kind), "_", " ")
	switch {
	case x.Kind == work.ActionPush:
		said = fmt.Sprintf("push: %s to %s", work.Short(x.Head), x.Target)
	case x.Why != "":
		said += ": " + digests().ReplaceAllStringFunc(x.Why, work.Short)
	}
	switch x.State {
	case work.ActionApplied:
	case work.ActionPlanned, work.ActionSent, work.ActionVoid, work.ActionDropped:
		said += " (" + string(x.State) + ")"
	}
	if x.LastError != "" && x.State != work.ActionApplied {
		said += ": " + x.LastError
	}
	return said
}

// printTimeline draws for people what happened, oldest first. Parts of a turn are below it, and a
// link that does not fit gets its own line.
func (s Story) printTimeline(out terminal.Output) error {
	all := s.moments()
	if len(all) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n" + out.Bold("TIMELINE") + "\n")
	for _, m := range all {
		b.WriteString(m.draw(out, fmt.Sprintf("%5s  %s ", terminal.Age(m.at, s.Now), m.mark)))
		for _, x := range m.sub {
			b.WriteString(x.draw(out, "         "+x.mark+" "))
		}
	}
	_, err := fmt.Fprint(out.W, b.String())
	return err
}

func (m moment) draw(out terminal.Output, begin string) string {
	return out.Linked(begin, out.LocalTimes(m.what), m.link)
}
