package cli

import (
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// PassesView is whether passes work, as JSON.
type PassesView struct {
	Code     work.PassCode `json:"code"` // `work`, `none_yet`, `failing`, `late` or `hanging`
	Says     string        `json:"says"`
	Do       string        `json:"do"`       // what to type
	Last     terminal.Time `json:"lastPass"` // when one ended last
	LastGood terminal.Time `json:"lastGood"` // when one last ended that read a repository
	Failures int           `json:"failures"` // in a row
}

// ViewPasses returns the judgement of passes as JSON.
func ViewPasses(f work.PassFacts) PassesView {
	v := work.JudgePasses(f)
	return PassesView{v.Code, terminal.OneLine(v.Says), v.Do, terminal.Stamp(f.Last.At), terminal.Stamp(f.Last.GoodAt), f.Last.Failures}
}
