package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Due is the content of the key of an event that asks for a review.
type Due struct {
	Reviewer     string
	Epoch, Cycle int
	Head         string
	Again        int // how many of the reviewer's verdicts on this head were for another base
}

// Subject names what is reviewed, in tokens.
func (d Due) Subject() string { return subject(d.Head, d.Again) }

func subject(head string, again int) string {
	if again == 0 {
		return head
	}
	return head + "." + strconv.Itoa(again)
}

// DueKey returns the key of the event that asks a reviewer to review a head. It depends only on its
// arguments, so that no review is repeated after a loss of the database.
func DueKey(number int, d Due) string {
	epoch, cycle := strconv.Itoa(d.Epoch), strconv.Itoa(d.Cycle)
	source := strings.Join([]string{d.Reviewer, epoch, cycle, d.Subject()}, ".")
	return work.EventKey(number, work.EventReviewDue, source, work.ContentHash("review due", d.Reviewer, d.Subject(), epoch, cycle))
}

// DueOf parses the source of an event with a DueKey.
func DueOf(e work.Event) (Due, bool) {
	if e.Kind != work.EventReviewDue {
		return Due{}, false // most events that a pass reads
	}
	parts := strings.Split(e.Source, ".")
	if len(parts) == 4 {
		parts = append(parts, "0")
	}
	if len(parts) != 5 {
		return Due{}, false
	}
	epoch, err := strconv.Atoi(parts[1])
	cycle, err2 := strconv.Atoi(parts[2])
	again, err3 := strconv.Atoi(parts[4])
	return Due{Reviewer: parts[0], Epoch: epoch, Cycle: cycle, Head: parts[3], Again: again}, err == nil && err2 == nil && err3 == nil
}

// FixDue is the content of the key of an event that asks for a fix.
type FixDue struct {
	ReviewID     int64 // GitHub's id of the review that requests changes
	Epoch, Cycle int
}

// FixKey returns the key of the event that asks for the fix of a review's findings.
func FixKey(number int, d FixDue) string {
	source := fmt.Sprintf("%d.%d.%d", d.ReviewID, d.Epoch, d.Cycle)
	return work.EventKey(number, work.EventFixDue, source, work.ContentHash("fix due", source))
}

// FixDueOf parses the source of an event with a FixKey.
func FixDueOf(e work.Event) (FixDue, bool) {
	var d FixDue
	n, err := fmt.Sscanf(e.Source, "%d.%d.%d", &d.ReviewID, &d.Epoch, &d.Cycle)
	return d, e.Kind == work.EventFixDue && err == nil && n == 3
}

// findingDigits is the length of a finding's id.
const findingDigits = 16

// FindingID returns the permanent id of a finding, from the token of its comment.
func FindingID(token string) string { return token[:min(len(token), findingDigits)] }
