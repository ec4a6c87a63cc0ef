package spending

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// How many turns in a row may fix the same pull request without a comment by a person: in total,
// and with the same red checks each time.
const (
	MaxFixes     = 3
	maxSameFixes = 2
)

// NoProgress returns why another turn would not fix what the last ones did not; zero: it may. A
// turn that fixed its checks is not counted: if a person pushes on top, other checks are red.
// Findings of reviewers are counted by the reviews (internal/work/review), because the checks were
// green before them.
//
// spent has the item's turns, oldest first; findings what each had to fix, by turn id; head is the
// pull request's head; events are what must be fixed now.
func NoProgress(spent []work.Spent, findings map[int64][]string, head string, events []work.Event) work.Reason {
	row := lastFixes(spent)
	now := work.Findings(events)
	same := 0
	for _, s := range row {
		left := s.Commit
		if left == "" {
			left = s.Head
		}
		if len(now) == 0 || left != head || !slices.Equal(findings[s.Turn], now) {
			break
		}
		head = s.Head
		same++
	}
	switch {
	case same >= maxSameFixes:
		return work.Reason{Kind: work.WhyNoProgress, Count: same, Names: now}
	case len(row) >= MaxFixes:
		return work.Reason{Kind: work.WhyNoProgress, Count: len(row)}
	}
	return work.Reason{}
}

// lastFixes returns the last consecutive turns that fixed checks, newest first.
func lastFixes(spent []work.Spent) (row []work.Spent) {
	for _, s := range slices.Backward(spent) {
		if s.Kind != work.KindFix || s.Reviewer != "" {
			break
		}
		if s.Step == work.StepDone {
			row = append(row, s)
		}
	}
	return row
}
