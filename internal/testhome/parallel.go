package testhome

import (
	"flag"
	"strconv"
)

// SideBySide lets n parallel tests of a package run at once, unless the command line sets a number.
// It is for the TestMain of packages whose tests wait, for a limit or for another program, much
// longer than they compute.
func SideBySide(n int) error {
	const name = "test.parallel"
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == name })
	if said {
		return nil
	}
	return flag.Set(name, strconv.Itoa(n))
}
