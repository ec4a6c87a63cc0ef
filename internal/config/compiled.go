package config

import (
	"regexp"
	"sync"
)

// compiled compiles an expression when it is used first: not every start of the program
// uses it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
