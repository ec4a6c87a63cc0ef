// Package lazy makes values at their first use. A pass starts each minute, and no run of the
// program uses all of them.
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
