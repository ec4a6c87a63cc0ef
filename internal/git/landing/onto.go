package landing

import (
	"context"
	"fmt"
	"strings"
)

// Brings reports whether merging head into tip brings commits along that head shares with
// onto, and tip lacks: onto is the base for which head was approved, and what it held then
// was no part of the change. Of an onto that is not there any more nobody can tell.
func (l Landings) Brings(ctx context.Context, onto, tip, head string) (bool, error) {
	if onto == tip {
		return false, nil
	}
	if !l.mirror.Has(ctx, onto) {
		return true, nil
	}
	c := l.mirror.Call("merge-base", "--all", onto, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return false, fmt.Errorf("look for what %s and %s share: %w", onto, head, err)
	}
	for shared := range strings.FieldsSeq(string(res.Stdout)) {
		on, err := l.mirror.IsAncestor(ctx, shared, tip)
		if err != nil || !on {
			return err == nil, err
		}
	}
	return false, nil
}
