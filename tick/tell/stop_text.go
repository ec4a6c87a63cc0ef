package tell

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// stopText returns the text of a stop comment. A question is answered with a comment; anything else
// can also be retried unchanged.
func (s Target) stopText(stop work.Stop) string {
	w := explain.Reason(stop.Reason, s.place)
	if stop.Reason.Kind == work.WhyQuestion && (s.place.Pull || s.place.Comments) {
		return fmt.Sprintf("**Question:** %s\n\nWork continues when somebody with write access answers here.\n\n- Since: %s\n- Attempts: %d\n\nThis comment is kept up to date.",
			public.InlineBody(stop.Reason.Text), work.UTC(stop.Since), stop.Attempts)
	}
	text := fmt.Sprintf("gh mergexo stopped here: %s\n\n- Since: %s\n- Attempts: %d\n- Next step: %s.",
		work.Sentence(public.InlineBody(w.What)), work.UTC(stop.Since), stop.Attempts, w.Next())
	if w.Retry {
		text += fmt.Sprintf("\n- Or, to retry unchanged: comment `/mergexo retry` here, or run `gh mergexo retry %s#%d` where it runs.",
			s.Remote.Name.FullName(), s.item.Number)
	}
	return text + "\n\nThis comment is kept up to date."
}

// overText returns the text once the item resumes or ends.
func (s Target) overText(stop work.Stop, m work.Move) string {
	what := "Resumed"
	switch m.To {
	case work.StateMerged, work.StateCompleted:
		what = "Merged"
	case work.StateClosed:
		what = "Cancelled"
		if m.Cause == work.CausePullClosed {
			what = "Closed"
		}
	case work.StateBlocked, work.StateAwaitingIssueFollowup:
		if !m.Passing {
			what = "Stopped for another reason"
		}
	case work.StatePending, work.StateReady, work.StateRunning, work.StateAwaitingFeedback:
	}
	why := work.Sentence(public.InlineBody(explain.What(stop.Reason, s.place)))
	return fmt.Sprintf("**%s** %s. It had been stopped since %s: %s", what, work.UTC(s.now), work.UTC(stop.Since), why)
}

// pausedText returns the text while the item is paused: its next step is not for now.
func (s Target) pausedText(stop work.Stop, pause work.Pause) string {
	return fmt.Sprintf("**Paused** by %s since %s: no agent works on this, and comments made during the pause are never acted on. "+
		"To resume, comment `/mergexo resume` or remove the label `%s`. Then this applies again:\n\n%s",
		pause.By, work.UTC(pause.Began), s.place.Ignore, s.stopText(stop))
}

// resumedText returns the text after a pause. unheard counts the comments skipped in it.
func (s Target) resumedText(stop work.Stop, unheard int) string {
	switch unheard {
	case 0:
		return s.stopText(stop)
	case 1:
		return "**Resumed.** One comment made during the pause was not acted on: repeat what the agent should know.\n\n" + s.stopText(stop)
	}
	return fmt.Sprintf("**Resumed.** %d comments made during the pause were not acted on: repeat what the agent should know.\n\n%s", unheard, s.stopText(stop))
}
