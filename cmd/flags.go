package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/nearest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/terminal"
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
	if meant := nearest.Of(unknown.GetSpecifiedName(), known); meant != "" {
		err = fmt.Errorf("%w; did you mean --%s?", err, meant)
	}
	return &usageError{err}
}

// addJSONFlags gives a command gh's flags for one JSON object with the given
// fields.
func addJSONFlags(c *cobra.Command, available ...string) *terminal.JSON {
	j := &terminal.JSON{}
	slices.Sort(available)
	c.Flags().StringSliceVar(&j.Fields, "json", nil, "Output JSON with the specified `fields`")
	c.Flags().StringVarP(&j.JQ, "jq", "q", "", "Filter JSON output using a jq `expression`")
	c.Flags().StringVarP(&j.Template, "template", "t", "", "Format JSON output using a Go template `string`")
	c.Long = strings.TrimSpace(c.Long) + "\n\nJSON fields: " + strings.Join(available, ", ") + "."
	list := strings.Join(available, "\n  ")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok && missing.GetSpecifiedName() == "json" {
			return fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list)
		}
		return flagError(c, err)
	})
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, f := range j.Fields {
			if !slices.Contains(available, f) {
				return fmt.Errorf("unknown JSON field: %q\navailable fields:\n  %s", f, list)
			}
		}
		return checkJSON(j, c.Flags().Changed("json"), list)
	}
	return j
}

// checkJSON finds flags that do not go together.
func checkJSON(j *terminal.JSON, given bool, list string) error {
	switch {
	case given && len(j.Fields) == 0:
		return fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list)
	case j.JQ != "" && j.Template != "":
		return &usageError{errors.New("specify only one of `--jq` and `--template`")}
	case j.JQ != "" && !given:
		return &usageError{errors.New("cannot use `--jq` without specifying `--json`")}
	case j.Template != "" && !given:
		return &usageError{errors.New("cannot use `--template` without specifying `--json`")}
	}
	return nil
}
