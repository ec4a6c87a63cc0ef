package notice

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// StopText is what people are told where an item stands still. What is asked of
// them is answered with words; anything else may also be tried again without.
func (p *Notices) StopText(s Target, stop work.Stop, m work.Move) string {
	text := fmt.Sprintf(work.StoppedHere+"%s"+work.StoppedSince+"%s"+work.StoppedOften+"%d"+work.StoppedNext+"%s.",
		work.Sentence(public.Behind(stop.Reason)), work.UTC(stop.Since), stop.Attempts, stop.Hint)
	if m.Asked == "" && !strings.Contains(stop.Hint, "/mergexo ") && !work.AwaitsLabel(s.item, stop.Hint) {
		text += fmt.Sprintf("\n- Or, to retry unchanged: comment `/mergexo retry` here, or run `gh mergexo retry %s#%d` where it runs.",
			s.Remote.Name.FullName(), s.item.Number)
	}
	return text + "\n\nThis comment is kept up to date."
}

// OverText replaces it once the item goes on.
func OverText(stop work.Stop, m work.Move, now time.Time) string {
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
	return fmt.Sprintf("**%s** %s. It had been stopped since %s: %s", what, work.UTC(now), work.UTC(stop.Since), work.Sentence(public.Behind(stop.Reason)))
}
