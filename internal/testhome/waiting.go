package testhome

import (
	"flag"
	"runtime"
	"strconv"
)

// Waiting runs tests that wait for programs and the disk more than they compute: more at
// once than there are processors, unless the command line says how many. It is given a
// *testing.M and is one for testscript.Main.
type Waiting struct{ M interface{ Run() int } }

// Run runs the tests.
func (w Waiting) Run() int {
	flag.Parse()
	procs := runtime.GOMAXPROCS(0)
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == strconv.Itoa(procs) {
		if err := f.Value.Set(strconv.Itoa(procs * 5 / 2)); err != nil {
			panic(err) // a number
		}
	}
	return w.M.Run()
}
