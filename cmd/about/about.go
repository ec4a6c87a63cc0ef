// Package about has the commands that describe the program itself: its version, the life of an
// item, the prompts, and what agents can see of this machine.
package about

import "github.com/mergexo/gh-mergexo/cmd/cli"

// room holds what the commands of this package share.
type room struct{ *cli.App }
