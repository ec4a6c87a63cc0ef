package store

import "errors"

// MovedOrGone takes a lost compare-and-set for what it is here: somebody
// merged or closed the item meanwhile, and that stands.
func MovedOrGone(err error) error {
	if errors.Is(err, ErrStale) {
		return nil
	}
	return err
}
