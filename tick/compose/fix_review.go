package compose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// findingReplies answers what reviewers found, each in its thread. It is no event of the
// turn: the review as a whole asks for it.
func (c *composer) findingReplies() {
	if c.l.Turn.Reviewer == "" {
		return
	}
	t := c.l.Turn
	for _, x := range c.l.Told().Findings {
		at := slices.IndexFunc(c.answer.ReviewReplies, func(r prompts.ReviewReply) bool { return r.ReviewCommentID == x.CommentID })
		if x.CommentID == 0 || at < 0 {
			continue
		}
		r, top := c.answer.ReviewReplies[at], strconv.FormatInt(x.CommentID, 10)
		token := work.ReplyToken(c.l.Repo.Row.Key(), t.Number, x.CommentID, work.ContentHash(x.ID, t.EventKeys[0]))
		c.add(work.Action{
			Kind: work.ActionReply, Need: work.NeedRequired, Token: token, Number: t.Number, Target: top,
			Body: c.signed(public.Body(r.Body), work.Marks{Token: token}), Why: x.ID,
		})
		if r.Resolve && c.fixed() {
			c.add(work.Action{
				Kind: work.ActionResolve, Need: work.NeedCosmetic, Number: t.Number, Target: top,
				Token: work.ResolveToken(c.l.Repo.Row.Key(), t.Number, top, t.Key), Why: x.ID,
			})
		}
	}
}

// fixed reports whether there is a commit for what was asked. Where there is none the
// thread stays open for people, whatever the agent says of it.
func (c *composer) fixed() bool { return c.l.Turn.Commit != "" || c.l.Committed() }

// fixMessage is the message of a commit that does what a reviewer asks for: which review
// that is can be read from the history alone.
func fixMessage(l *env.Lease, message string) string {
	if message == "" {
		message = "Address the review of " + l.Turn.Reviewer
	}
	if url := reviewURL(l); url != "" {
		message = strings.TrimRight(message, "\n") + "\n\nReview: " + url
	}
	return message
}

func reviewURL(l *env.Lease) string {
	if r := l.Told().ReviewFix; r != nil {
		return r.URL
	}
	return ""
}

// ReviewTrailer is the line of a commit that names the review which it answers; empty
// where it answers none.
func ReviewTrailer(l *env.Lease) string {
	due, ok := l.FixDue()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s: %s %d", origin.TrailerReview, l.Turn.Reviewer, due.ReviewID)
}
