// Package about has the commands that tell of the program itself: its version, the life of
// an item, what agents are told, and what they can see of this machine.
package about

import "github.com/mergexo/gh-mergexo/cmd/cli"

// room is what the commands of this package share.
type room struct{ *cli.App }
