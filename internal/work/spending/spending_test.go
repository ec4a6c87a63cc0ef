package spending

import (
	"math"
	"testing"
)

// A program may claim to have used more than can be counted: the sum stays the
// largest, and is never below zero, which would make room in a budget.
func TestCountsThatAreTooLargeStayTheLargest(t *testing.T) {
	much := Tokens{Input: math.MaxInt64 - 1, CacheRead: 5, CacheWrite: math.MaxInt64, Output: math.MaxInt64}
	if got := much.Add(much); got != (Tokens{math.MaxInt64, 10, math.MaxInt64, math.MaxInt64}) {
		t.Errorf("added: %+v", got)
	}
	u := much.Usage(1)
	if u.InputTokens != math.MaxInt64 {
		t.Errorf("as usage: %+v", u)
	}
	if got := u.Add(u); got.InputTokens != math.MaxInt64 || got.OutputTokens != math.MaxInt64 {
		t.Errorf("usage added: %+v", got)
	}
}
