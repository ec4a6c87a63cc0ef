package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Args wraps errors of a check of positional arguments in a UsageError.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return &UsageError{Err: err}
		}
		return nil
	}
}

// Words checks the number of arguments; the error shows an example.
func Words(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		switch n := len(given); {
		case n > most && most == 0:
			return fmt.Errorf("%s takes no %q; as in: %s", c.Name(), given[0], example(c))
		case n > most:
			return fmt.Errorf("%s takes no %q after %q; as in: %s", c.Name(), given[most], given[most-1], example(c))
		case n >= least:
			return nil
		case n > 0 && n+1 < len(strings.Fields(c.Use)):
			return fmt.Errorf("%s needs %s after %q; as in: %s", c.Name(), strings.TrimRight(strings.Fields(c.Use)[n+1], "."), given[n-1], example(c))
		case c.Flags().Lookup("all") != nil && strings.Contains(c.Use, "--all"):
			return errors.New("say which one, or --all; as in: " + example(c) + unquoted(c))
		}
		return errors.New("say which one; as in: " + example(c) + unquoted(c))
	}
}

// unquoted tells why a command that takes an item may have got none.
func unquoted(c *cobra.Command) string {
	if _, takes, _ := strings.Cut(c.Use, " "); !strings.HasPrefix(strings.TrimPrefix(takes, "{"), "<owner/name#number") {
		return ""
	}
	return ". A shell takes #12 for a comment: type 12"
}

// RefuseUnknown makes every command that only groups others reject an unknown subcommand. Without
// an argument it prints its help.
func RefuseUnknown(c *cobra.Command) {
	for _, sub := range c.Commands() {
		RefuseUnknown(sub)
	}
	if !c.HasAvailableSubCommands() || c.Runnable() {
		return
	}
	c.Args = Args(oneOf)
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

// RefuseUnknownHelp makes "help" reject an unknown command: cobra's own version exits with 0.
func RefuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Run = nil
		c.RunE = func(_ *cobra.Command, given []string) error {
			about, rest, err := root.Find(given)
			if err == nil && len(rest) > 0 && about.HasAvailableSubCommands() {
				err = noCommand(about, rest[0])
			}
			if err != nil {
				return &UsageError{Err: err}
			}
			return about.Help()
		}
	}
}

// oneOf rejects any argument of a command that groups others: cobra runs a known subcommand itself.
func oneOf(c *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	return noCommand(c, given[0])
}

// noCommand reports an unknown subcommand and suggests the one that was probably meant. Cobra's own
// suggestions are less strict: for "unhold" they include hold.
func noCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	err := fmt.Errorf("there is no command %q", word) // the help of gh mergexo lists them
	if c.HasParent() {
		err = fmt.Errorf("%s has no command %q; it has %s", c.Name(), word, strings.Join(known, ", "))
	}
	for _, sub := range c.Commands() {
		if slices.Contains(sub.SuggestFor, word) {
			return fmt.Errorf("%w; did you mean %s?", err, sub.Name())
		}
	}
	if meant := DidYouMean(err, word, known, ""); meant.Error() != err.Error() {
		return meant
	}
	if row, ok := work.FindCommand(work.Verb(word)); ok && !c.HasParent() {
		return fmt.Errorf("%w; comment /mergexo %s on the issue", err, row.Verb)
	}
	if parts := partsNamed(c, word); len(parts) == 1 {
		return fmt.Errorf("%w; did you mean %s?", err, parts[0])
	}
	return err
}

// partsNamed are the commands and flags of that name below the commands: report cost for cost, status --watch for
// watch.
func partsNamed(c *cobra.Command, word string) (parts []string) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if f := sub.Flags().Lookup(word); f != nil && !f.Hidden {
			parts = append(parts, sub.Name()+" --"+word)
		}
		for _, below := range sub.Commands() {
			if below.IsAvailableCommand() && (below.Name() == word || slices.Contains(below.SuggestFor, word)) {
				parts = append(parts, sub.Name()+" "+below.Name())
			}
		}
	}
	return parts
}

// DidYouMean adds the known name nearest to a misspelt one, if one is near.
func DidYouMean(err error, misspelt string, known []string, prefix string) error {
	if meant := work.Nearest(misspelt, known); meant != "" {
		return fmt.Errorf("%w; did you mean %s%s?", err, prefix, meant)
	}
	return err
}

// example returns the first line of a command's examples.
func example(c *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	if line = strings.TrimPrefix(line, "$ "); line == "" {
		return c.CommandPath()
	}
	return line
}
