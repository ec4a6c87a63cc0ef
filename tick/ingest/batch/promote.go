package batch

import "github.com/mergexo/gh-mergexo/internal/work"

// Promotion makes an implementation of a merged design. It is stored together
// with the sight of the merge, so that there is one, whatever dies.
type Promotion struct {
	Design   work.Item // its id is 0 while the design was found again and has no row yet
	Item     work.Item // without id until it is stored
	Trigger  work.Event
	Fulfills bool // the document says that it is implemented: nothing is made
}
