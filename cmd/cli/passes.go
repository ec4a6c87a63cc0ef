package cli

import (
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// PassesView is whether passes work, as JSON.
type PassesView struct {
	Code     work.PassCode `json:"code"`     // `work`, `none_yet`, `failing`, `late` or `hanging`
	Says     string        `json:"says"`     // the same for people
	Do       string        `json:"do"`       // what to type; empty: nothing
	Last     terminal.Time `json:"last"`     // when a pass ended last; null: none did
	LastGood terminal.Time `json:"lastGood"` // when one ended last that read a repository and did not fail; null: none did
	Failures int           `json:"failures"` // how many failed in a row, without those that were killed since
}

// ViewPasses returns the judgement of passes as JSON.
func ViewPasses(f work.PassFacts) PassesView {
	v := work.JudgePasses(f)
	return PassesView{v.Code, terminal.OneLine(v.Says), v.Do, terminal.Stamp(f.Last.At), terminal.Stamp(f.Last.GoodAt), f.Last.Failures}
}
