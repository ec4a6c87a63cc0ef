package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Due is what the key of an event says that asks for a review.
type Due struct {
	Reviewer     string
	Epoch, Cycle int
	Head         string
}

// DueKey is the key of the event by which a reviewer is to look at a head. It is the
// same whenever it is made, so that a lost database asks for nothing twice.
func DueKey(number int, d Due) string {
	epoch, cycle := strconv.Itoa(d.Epoch), strconv.Itoa(d.Cycle)
	source := strings.Join([]string{d.Reviewer, epoch, cycle, d.Head}, ".")
	return work.EventKey(number, work.EventReviewDue, source, work.ContentHash("review due", d.Reviewer, d.Head, epoch, cycle))
}

// DueOf reads what DueKey has put into an event's source.
func DueOf(e work.Event) (Due, bool) {
	parts := strings.Split(e.Source, ".")
	if e.Kind != work.EventReviewDue || len(parts) != 4 {
		return Due{}, false
	}
	epoch, err := strconv.Atoi(parts[1])
	cycle, err2 := strconv.Atoi(parts[2])
	return Due{Reviewer: parts[0], Epoch: epoch, Cycle: cycle, Head: parts[3]}, err == nil && err2 == nil
}

// FixDue is what the key of an event says that asks for a fix.
type FixDue struct {
	ReviewID     int64 // GitHub's number of the review that requests changes
	Epoch, Cycle int
}

// FixKey is the key of the event by which what a review asks for is to be done.
func FixKey(number int, d FixDue) string {
	source := fmt.Sprintf("%d.%d.%d", d.ReviewID, d.Epoch, d.Cycle)
	return work.EventKey(number, work.EventFixDue, source, work.ContentHash("fix due", source))
}

// FixDueOf reads what FixKey has put into an event's source.
func FixDueOf(e work.Event) (FixDue, bool) {
	var d FixDue
	n, err := fmt.Sscanf(e.Source, "%d.%d.%d", &d.ReviewID, &d.Epoch, &d.Cycle)
	return d, e.Kind == work.EventFixDue && err == nil && n == 3
}

// findingDigits is how much of a token names a finding.
const findingDigits = 16

// FindingID is how a finding is named for good, by the token of its comment.
func FindingID(token string) string { return token[:min(len(token), findingDigits)] }
