// Gh-mergexo is the gh extension "gh mergexo".
package main

import (
	"os"

	"github.com/mergexo/gh-mergexo/cmd"
)

// version is set by release builds (script/build.sh).
var version string

func main() {
	os.Exit(cmd.Main(cmd.Env{
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Version: version,
	}))
}
