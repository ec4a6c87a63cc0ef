package prompts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// How many unanswered comments the repair turn quotes.
const (
	maxNamed   = 15 // comments quoted with their first words
	maxListed  = 20 // further ids in one line
	firstWords = 60 // characters
)

// checkAnswers demands an answer to each comment in the prompt: a reply to a comment on a line, or
// a general comment for all others. A question to people counts as a general comment.
func (c *checker) checkAnswers(a Answer, told []NewEvent) {
	var rest []string
	named := 0
	general := strings.TrimSpace(a.GeneralComment+a.BlockedReason) != ""
	for _, e := range told {
		missing, id := "", public.OneLine(e.ID)
		switch {
		case e.Asks() && e.Kind == work.EventReview && !replied(a, id):
			missing = fmt.Sprintf("review comment %s by %s (%s) has no reply in review_replies", id, public.OneLine(e.Author), begin(e.Body))
		case e.Asks() && e.Kind != work.EventReview && !general:
			missing = fmt.Sprintf("%s %s by %s (%s) has no answer: general_comment is empty", eventNames[e.Kind], id, public.OneLine(e.Author), begin(e.Body))
		default:
			continue
		}
		if named++; named <= maxNamed {
			c.add("%s", missing)
		} else {
			rest = append(rest, id)
		}
	}
	for ids := range slices.Chunk(rest, maxListed) {
		c.add("these have no answer either: %s", strings.Join(ids, ", "))
	}
}

// checkFindingAnswers demands an answer to each finding: a reply to one that is a comment on a
// line, or a general comment for those in the review's text.
func (c *checker) checkFindingAnswers(a Answer, findings []Finding) {
	general := strings.TrimSpace(a.GeneralComment+a.BlockedReason) != ""
	for _, x := range findings {
		id := strconv.FormatInt(x.CommentID, 10)
		switch {
		case x.CommentID != 0 && !replied(a, id):
			c.add("review comment %s by %s (%s) has no reply in review_replies", id, public.OneLine(x.Reviewer), begin(x.Body))
		case x.CommentID == 0 && !general:
			c.add("finding %s by %s (%s) has no answer: general_comment is empty", public.OneLine(x.ID), public.OneLine(x.Reviewer), begin(x.Body))
		}
	}
}

// Asks reports whether the event needs an answer. A review's verdict without text does not, nor
// does an approval without a question.
func (e NewEvent) Asks() bool {
	approval := e.Kind == work.EventSummary && e.State == "APPROVED"
	return e.Kind.IsComment() && strings.TrimSpace(e.Body) != "" && (!approval || strings.Contains(e.Body, "?"))
}

func replied(a Answer, id string) bool {
	return slices.ContainsFunc(a.ReviewReplies, func(r ReviewReply) bool { return fmt.Sprint(r.ReviewCommentID) == id })
}

// begin quotes the first words of a comment, by which people and agents recognize it.
func begin(body string) string {
	words := secrets.Redact(public.OneLine(body)) // redact before cutting: half a token matches no pattern
	if short := public.FirstRunes(words, firstWords); len(short) < len(words) {
		words = short + "…"
	}
	return fmt.Sprintf("%q", words)
}
