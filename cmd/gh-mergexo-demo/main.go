// Gh-mergexo-demo is gh-mergexo with the command demo and its simulated GitHub. The launcher of a clone
// builds it.
package main

import (
	"os"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/demo"
)

func main() {
	os.Exit(cmd.Main(cmd.Env{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Demo:   demo.Commands,
	}))
}
