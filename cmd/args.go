package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/nearest"

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

// refuseUnknown has every command that only holds others refuse a word that names
// none of them: without one it prints its help.
func refuseUnknown(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseUnknown(sub)
	}
	if !c.HasParent() || !c.HasAvailableSubCommands() || c.Runnable() {
		return
	}
	c.Args = args(oneOf)
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

// refuseUnknownHelp has "help" refuse what is no command: cobra's says so and ends well.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Run = nil
		c.RunE = func(_ *cobra.Command, given []string) error {
			about, _, err := root.Find(given)
			if err != nil {
				return &usageError{err}
			}
			return about.Help()
		}
	}
}

// oneOf says which words a command that holds others may be followed by.
func oneOf(c *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return notTaken(c, given[0], known)
}

// oneOfValid says which words a command takes that names them.
func oneOfValid(c *cobra.Command, given []string) error {
	for _, word := range given {
		if !slices.Contains(c.ValidArgs, word) {
			return notTaken(c, word, c.ValidArgs)
		}
	}
	return nil
}

func notTaken(c *cobra.Command, word string, known []string) error {
	err := fmt.Errorf("%s takes no %q; it takes %s", c.Name(), word, strings.Join(known, ", "))
	if meant := nearest.Of(word, known); meant != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, meant)
	}
	return err
}

// example is the first line of a command's examples.
func example(c *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	if line = strings.TrimPrefix(line, "$ "); line == "" {
		return c.CommandPath()
	}
	return line
}
