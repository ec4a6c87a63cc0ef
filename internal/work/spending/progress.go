package spending

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// How often in a row turns may try to mend the same pull request without anybody
// saying a word to it: at all, and with the same checks red each time.
const (
	MostMends     = 3
	mostSameMends = 2
)

// NoProgress says why one more turn would not fix what the last ones did not;
// none while it may. Those that mended what they were for are no circle: what a
// person pushed on top of them is red for another reason. What a reviewer asked for is
// counted by the reviews (internal/work/review): before it the checks were green.
//
// Spent are the item's turns, oldest first; findings what those were to mend, by turn
// id; head is the pull request's, and events are what is to be mended now.
func NoProgress(spent []work.Spent, findings map[int64][]string, head string, events []work.Event) work.Reason {
	row := mends(spent)
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
	case same >= mostSameMends:
		return work.Reason{Kind: work.WhyNoProgress, Count: same, Names: now}
	case len(row) >= MostMends:
		return work.Reason{Kind: work.WhyNoProgress, Count: len(row)}
	}
	return work.Reason{}
}

// mends are the last turns in a row that mended, newest first.
func mends(spent []work.Spent) (row []work.Spent) {
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
