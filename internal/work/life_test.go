package work

import (
	"slices"
	"testing"
)

// No trap states: from every state there is a way to an end, and from every
// end but a completed one a person can begin again.
func TestLifeHasNoTraps(t *testing.T) {
	next := map[State][]State{}
	for _, tr := range Transitions() {
		next[tr.From] = append(next[tr.From], tr.To)
	}
	reach := func(from State) map[State]bool {
		seen := map[State]bool{}
		for line := []State{from}; len(line) > 0; line = line[1:] {
			for _, to := range next[line[0]] {
				if !seen[to] {
					seen[to] = true
					line = append(line, to)
				}
			}
		}
		return seen
	}
	born := reach("")
	for _, s := range States() {
		if !born[s] {
			t.Errorf("nothing leads to %q", s)
		}
		if s == StateCompleted {
			continue
		}
		if !reach(s)[StateCompleted] {
			t.Errorf("%q is a trap: nothing leads from it to %q", s, StateCompleted)
		}
		if s.Open() && !reach(s)[StateClosed] {
			t.Errorf("%q cannot be called off", s)
		}
	}
}

// What happens to a pull request or an issue is honoured from any open state.
func TestLifeHonoursPeople(t *testing.T) {
	for _, s := range openStates() {
		for cause, to := range map[Cause][]State{
			CausePullMerged: {StateMerged, StateCompleted}, CausePullClosed: {StateClosed}, CauseWithdrawn: {StateClosed},
			CauseStopped: {StateBlocked}, CauseAdopted: {StateAwaitingFeedback},
		} {
			for _, to := range to {
				if s != to && !slices.Contains(StatesBefore(cause, to), s) {
					t.Errorf("%q does not move %q to %q", cause, s, to)
				}
			}
		}
	}
}

func TestLifeSaysEachLineOnce(t *testing.T) {
	seen := map[[3]string]bool{}
	for _, tr := range Transitions() {
		key := [3]string{string(tr.From), string(tr.Cause), string(tr.To)}
		if seen[key] || tr.Does == "" || tr.To == "" || tr.Cause == "" {
			t.Errorf("double or incomplete: %+v", tr)
		}
		seen[key] = true
	}
}
