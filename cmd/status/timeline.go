package status

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// moment is one thing that happened to an item.
type moment struct {
	at   time.Time
	mark string
	said string // words of people, which are shown as they are
	what string
	link string
	sub  []moment // parts of it, without times of their own
}

// moments returns what happened, oldest first.
func (s Story) moments() []moment {
	pushed := map[string]bool{}
	for _, x := range s.Actions {
		if x.Kind == work.ActionPush && x.State == work.ActionApplied {
			pushed[x.head] = true
		}
	}
	var all []moment
	for _, e := range s.Events {
		if e.Outcome != work.OutcomeOwn && !pushed[e.head] { // an action shows it
			all = append(all, moment{at: cmp.Or(e.CreatedAt.Time, e.seenAt), mark: "•", said: e.happened(), what: e.fate(), link: e.URL})
		}
	}
	for _, t := range s.Turns {
		m := moment{at: t.StartedAt.Time, mark: "▸", what: t.says()}
		if t.trouble() != "" {
			m.sub = append(m.sub, moment{mark: "✗", what: t.trouble()})
		}
		for _, x := range s.Actions {
			if x.Turn == t.Key {
				m.sub = append(m.sub, moment{mark: "→", what: x.says(), link: x.URL})
			}
		}
		all = append(all, m)
	}
	for _, x := range s.Actions {
		if x.Turn == "" && x.told() {
			all = append(all, moment{at: x.at, mark: "→", what: x.says(), link: x.URL})
		}
	}
	for _, h := range slices.Backward(s.History) {
		ended := h.What == "review" && review.State(h.Detail).Ended()
		if h.What != "command" && !ended { // an event shows these
			all = append(all, moment{at: h.At.Time, mark: "·", what: strings.Replace(h.What, "review", "reviews", 1) + ": " + h.Detail})
		}
	}
	if m := s.Merge.landed(); m != nil {
		all = append(all, moment{at: m.LandedAt.Time, mark: "→", what: "merged: " + m.says() + "; " + m.compared(), link: s.Item.pull().URL})
	}
	sorted.By(all, func(x, y moment) int { return x.at.Compare(y.at) })
	return all
}

// told reports whether the timeline has an action. One that only decorates GitHub is there as long as it is to be
// done, and if something prevented it.
func (x Action) told() bool {
	if x.URL != "" || x.need == work.NeedRequired {
		return true
	}
	return x.State != work.ActionApplied && (x.State != work.ActionVoid || x.ending != "")
}

// happened describes an event.
func (e Event) happened() string {
	who, words, said := cmp.Or(e.Author, "somebody"), firstLine(e.Body), ""
	if words != "" {
		said = ": " + words
	}
	switch e.Kind {
	case work.EventSource:
		return who + " commented on the issue" + said
	case work.EventIssue:
		return who + " commented" + said
	case work.EventReview:
		return fmt.Sprintf("%s commented on %s%s", who, e.place, said)
	case work.EventSummary:
		return who + " " + didReview(e.State) + said
	case work.EventCommand:
		if e.State == work.SaidLocally {
			return fmt.Sprintf("%s ran gh %s on the machine", who, strings.TrimPrefix(words, "/"))
		}
		return who + said
	case work.EventCheck:
		return "checks failed" + said
	case work.EventConflict:
		return "it cannot be merged into its base" + said
	case work.EventLabelled:
		return who + " set the label " + e.State
	case work.EventReplan:
		return "the roadmap is to change" + said
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

// fate describes what became of an event unless it was answered.
func (e Event) fate() string {
	switch {
	case e.Outcome == outcomeRefused:
		return " (refused)"
	case e.ProcessedAt.IsZero() && e.Turn == "" && e.State != work.SaidLocally: // what is said on the machine is done at once
		return " (waits for a turn)"
	case strings.HasPrefix(e.Outcome, work.OutcomeRefused):
		return " (" + cli.Plain(firstLine(e.Outcome)) + ")"
	case strings.HasPrefix(e.Outcome, "ignored"), strings.HasPrefix(e.Outcome, work.OutcomeVoid):
		return " (" + e.Outcome + ")"
	}
	return ""
}

// digests matches commits in texts, which are shortened.
var digests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{40}\b`) })

// endings are why actions became void.
var endings = map[work.Ending]string{
	"": "not needed any more", work.EndedGone: "what it is about is gone", work.EndedRefused: "refused by GitHub",
	work.EndedTransferred: "its issue was transferred", work.EndedEdited: "a person edited what it would replace",
}

// says describes what an action did, or will do.
func (x Action) says() string {
	said := x.Kind.Words()
	switch {
	case x.Kind == work.ActionPush:
		said += fmt.Sprintf(": %s to %s", work.Short(x.head), x.target)
	case x.Kind == work.ActionFlow && x.target == "":
		said = "no " + said + ": " + x.Why
	case x.Kind == work.ActionReply:
		said += " to " + x.Why
	case x.Why != "":
		said += ": " + digests().ReplaceAllStringFunc(x.Why, work.Short)
	}
	switch x.State {
	case work.ActionApplied:
	case work.ActionPlanned:
		said += " (not sent yet)"
	case work.ActionSent:
		said += " (sent, not confirmed yet)"
	case work.ActionVoid:
		said += " (" + endings[x.ending] + ")"
	case work.ActionDropped:
		said += " (given up)"
	}
	if x.Error != "" && x.State != work.ActionApplied {
		said += ": " + x.Error
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
		b.WriteString(m.draw(out, fmt.Sprintf("%5s  %s ", terminal.Age(m.at, s.Item.now), m.mark)))
		for _, x := range m.sub {
			b.WriteString(x.draw(out, "         "+x.mark+" "))
		}
	}
	_, err := fmt.Fprint(out.W, b.String())
	return err
}

func (m moment) draw(out terminal.Output, begin string) string {
	return out.Linked(begin, m.said+out.Ours(m.what), m.link)
}
