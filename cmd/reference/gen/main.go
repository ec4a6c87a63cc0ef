// Gen writes the reference and the man pages of the given repository.
package main

import (
	"fmt"
	"os"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/cmd/reference"
)

func main() {
	if err := reference.Write(cmd.Tree(demo.Commands), os.Args[1], os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
