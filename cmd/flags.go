package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// flagError makes a usageError of what is wrong with a flag, and names the one
// that was meant.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return &usageError{err}
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if meant := work.Nearest(unknown.GetSpecifiedName(), known); meant != "" {
		err = fmt.Errorf("%w; did you mean --%s?", err, meant)
	}
	return &usageError{err}
}
