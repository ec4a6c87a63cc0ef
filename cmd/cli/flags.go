package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// FlagError wraps an error of a flag in a UsageError and suggests the flag that was meant.
func FlagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); len(words) > 0 && c.HasAvailableSubCommands() { // the command was not recognized, so the flag cannot be blamed
		return &UsageError{Err: noCommand(c, words[0])}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return &UsageError{Err: wrongValue(wrong)}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return &UsageError{Err: fmt.Errorf("--%s: want %s, got nothing", missing.GetFlag().Name, wanted(missing.GetFlag()))}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return &UsageError{Err: fmt.Errorf("%q is no flag: want --name or --name=value", wrong.GetSpecifiedFlag())}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return &UsageError{Err: err}
	}
	if len(unknown.GetSpecifiedName()) < 2 {
		return &UsageError{Err: fmt.Errorf("unknown flag: -%s", unknown.GetSpecifiedName())}
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	return &UsageError{Err: DidYouMean(err, unknown.GetSpecifiedName(), known, "--")}
}

// WithJSON adds gh's JSON flags to a command. The fields are those of view, the struct with JSON tags
// that the command prints. Their values are in App.JSON.
func (a *App) WithJSON(view any, c *cobra.Command) *cobra.Command {
	j := &a.JSON
	c.Flags().StringSliceVar(&j.Fields, "json", nil, "Output JSON with the specified `fields`")
	flag := c.Flags().Lookup("json")
	flag.Value, flag.DefValue = viewValue{flag.Value, reflect.TypeOf(view)}, ""
	available := JSONFields(c)
	c.Flags().StringVarP(&j.JQ, "jq", "q", "", "Filter JSON output using a jq `expression`")
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long = strings.TrimSpace(c.Long) + "\n\nJSON fields: " + strings.Join(available, ", ") + "."
	list := strings.Join(available, "\n  ")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok && missing.GetSpecifiedName() == "json" {
			return Coded(CodeUsage, fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list))
		}
		return FlagError(c, err)
	})
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, f := range j.Fields {
			if !slices.Contains(available, f) {
				return Coded(CodeUsage, fmt.Errorf("unknown JSON field: %q\navailable fields:\n  %s", f, list))
			}
		}
		return checkJSON(j, c.Flags().Changed("json"), list)
	}
	return c
}

// viewValue is the value of --json, with the type of the command's output.
type viewValue struct {
	pflag.Value
	view reflect.Type
}

// JSONView returns the struct that a command prints as JSON; nil if it prints none.
func JSONView(c *cobra.Command) reflect.Type {
	if f := c.Flags().Lookup("json"); f != nil {
		if v, ok := f.Value.(viewValue); ok {
			return v.view
		}
	}
	return nil
}

// JSONFields returns the names of a command's JSON fields, sorted; nil if it prints none.
func JSONFields(c *cobra.Command) []string {
	view := JSONView(c)
	if view == nil {
		return nil
	}
	var names []string
	for _, f := range reflect.VisibleFields(view) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// checkJSON rejects flags that exclude each other.
func checkJSON(j *terminal.JSON, given bool, list string) error {
	switch {
	case given && len(j.Fields) == 0:
		return Coded(CodeUsage, fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list))
	case j.JQ != "" && !given:
		return &UsageError{Err: errors.New("cannot use `--jq` without specifying `--json`")}
	}
	return nil
}

// wrongValue tells what kind of value a flag takes.
func wrongValue(e *pflag.InvalidValueError) error {
	f := e.GetFlag()
	if f.Value.Type() == "stringSlice" { // only a lone quotation mark is wrong there
		return fmt.Errorf("--%s: %q has a quotation mark too many", f.Name, e.GetValue())
	}
	return fmt.Errorf("--%s: want %s, got %q", f.Name, wanted(f), e.GetValue())
}

// wanted describes the values of a flag.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "duration":
		return "a time such as 90s, 30m or 24h"
	case "bool":
		return "true or false"
	}
	name, _ := pflag.UnquoteUsage(f)
	return "a value for " + name
}
