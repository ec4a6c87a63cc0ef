// Package lazy has what is made when it is used first: a pass begins each minute, and no
// start of the program uses everything that it knows.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles an expression when it is asked for first. One that does not compile
// panics then, so a test has to ask for it.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
