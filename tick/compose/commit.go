package compose

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// CommitMessage is the message of the turn's commit.
func CommitMessage(l *env.Lease, a prompts.Answer) string {
	message := public.NoClosing(public.Message(a.CommitMessage))
	switch {
	case l.Turn.Kind == work.KindFix && l.Turn.Reviewer != "":
		return fixMessage(l, message)
	case message != "":
		return message
	case l.Turn.Kind == work.KindDesignStart:
		return fmt.Sprintf("Design for #%d: %s", l.Item.Number, public.NoClosing(public.Title(a.Title)))
	case a.PRTitle != "":
		return public.NoClosing(public.Title(a.PRTitle))
	}
	if l.Merge != nil {
		return fmt.Sprintf("Merge %s into %s", l.Turn.Base, l.Turn.Branch)
	}
	if l.Turn.Kind == work.KindFix {
		return fmt.Sprintf("Fix the checks of #%d", l.Turn.Number)
	}
	return fmt.Sprintf("Answer the comments on #%d", l.Turn.Number)
}
