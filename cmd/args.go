package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// args makes a usageError of what a check of positional arguments finds.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// words checks how many words a command is given, and says what to type.
func words(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		switch n := len(given); {
		case n > most && most == 0:
			return fmt.Errorf("%s takes no %q; as in: %s", c.Name(), given[0], example(c))
		case n > most:
			return fmt.Errorf("%s takes no %q after %q; as in: %s", c.Name(), given[most], given[most-1], example(c))
		case n >= least:
			return nil
		case c.Flags().Lookup("all") != nil:
			return errors.New("say which one, or --all for everything on this machine; as in: " + example(c))
		}
		return errors.New("say which one; as in: " + example(c))
	}
}

// example is the first line of a command's examples.
func example(c *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	if line = strings.TrimPrefix(line, "$ "); line == "" {
		return c.CommandPath()
	}
	return line
}
