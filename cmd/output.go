package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/jsonpretty"
	"github.com/cli/go-gh/v2/pkg/template"
	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/cli/go-gh/v2/pkg/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// output is where results go and how they look there: tables with headings and
// ages on a terminal, bare TSV with exact times elsewhere.
type output struct {
	w     io.Writer
	bare  io.Writer // the same for JSON that a program reads, or a terminal's colours go to
	tty   bool
	color bool
	width int
}

// newOutput asks the terminal as gh does: NO_COLOR, CLICOLOR, GH_FORCE_TTY.
func newOutput(env Env) output {
	t := term.FromEnv()
	o := output{w: env.Stdout, bare: env.bare, width: 80}
	if env.bare != t.Out() || !t.IsTerminalOutput() {
		return o
	}
	o.tty, o.color = true, t.IsColorEnabled()
	if w, _, err := t.Size(); err == nil && w > 0 {
		o.width = w
	}
	return o
}

func (o output) bold(s string) string { return o.paint("1", s) }
func (o output) dim(s string) string  { return o.paint("2", s) }

func (o output) paint(code, s string) string {
	if !o.color || s == "" {
		return s
	}
	return paintMark + code + "m" + s + paintMark + "m"
}

// when renders a time: its age on a terminal, RFC 3339 elsewhere, nothing for
// no time.
func (o output) when(t, now time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case o.tty:
		return text.RelativeTimeAgo(now, t)
	}
	return t.UTC().Format(time.RFC3339)
}

// oneLine makes text fit for a cell: white space becomes single blanks, and
// what a terminal would obey is shown, here already for the cell's width.
func oneLine(s string) string { return legible(strings.Join(strings.Fields(s), " ")) }

// jsonFlags are gh's --json, --jq and --template.
type jsonFlags struct {
	fields   []string
	jq       string
	template string
}

// asked reports whether JSON is wanted rather than a table.
func (j *jsonFlags) asked() bool { return len(j.fields) > 0 }

// addJSONFlags gives a command gh's flags for one JSON object with the given
// fields.
func addJSONFlags(c *cobra.Command, available ...string) *jsonFlags {
	j := &jsonFlags{}
	slices.Sort(available)
	c.Flags().StringSliceVar(&j.fields, "json", nil, "Output JSON with the specified `fields`")
	c.Flags().StringVarP(&j.jq, "jq", "q", "", "Filter JSON output using a jq `expression`")
	c.Flags().StringVarP(&j.template, "template", "t", "", "Format JSON output using a Go template `string`")
	c.Long = strings.TrimSpace(c.Long) + "\n\nJSON fields: " + strings.Join(available, ", ") + "."
	list := strings.Join(available, "\n  ")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok && missing.GetSpecifiedName() == "json" {
			return fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list)
		}
		return flagError(c, err)
	})
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, f := range j.fields {
			if !slices.Contains(available, f) {
				return fmt.Errorf("unknown JSON field: %q\navailable fields:\n  %s", f, list)
			}
		}
		return j.check(c.Flags().Changed("json"), list)
	}
	return j
}

// check finds flags that do not go together.
func (j *jsonFlags) check(given bool, list string) error {
	switch {
	case given && len(j.fields) == 0:
		return fmt.Errorf("specify one or more comma-separated fields for `--json`:\n  %s", list)
	case j.jq != "" && j.template != "":
		return &usageError{errors.New("specify only one of `--jq` and `--template`")}
	case j.jq != "" && !given:
		return &usageError{errors.New("cannot use `--jq` without specifying `--json`")}
	case j.template != "" && !given:
		return &usageError{errors.New("cannot use `--template` without specifying `--json`")}
	}
	return nil
}

// write prints the asked fields of an object.
func (j *jsonFlags) write(o output, object map[string]any) error {
	asked := make(map[string]any, len(j.fields))
	for _, f := range j.fields {
		asked[f] = object[f]
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(asked); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	if o.tty {
		return j.show(o, &b)
	}
	switch {
	case j.jq != "":
		return jq.EvaluateFormatted(&b, o.bare, j.jq, "", o.color)
	case j.template != "":
		return executeTemplate(o, o.bare, &b, j.template)
	}
	_, err := o.bare.Write(escapeJSON(b.Bytes()))
	return err
}

// show prints on a terminal. A jq expression or a template may print strings as
// they are, so those are made legible before; colours of their own pass.
func (j *jsonFlags) show(o output, b *bytes.Buffer) error {
	w := &screen{to: o.bare, styled: true}
	defer w.flush()
	if j.jq == "" && j.template == "" {
		return jsonpretty.Format(w, b, "  ", o.color)
	}
	clean, err := legibleStrings(b.Bytes())
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	if j.jq != "" {
		return jq.EvaluateFormatted(bytes.NewReader(clean), w, j.jq, "  ", o.color)
	}
	return executeTemplate(o, w, bytes.NewReader(clean), j.template)
}

func executeTemplate(o output, w io.Writer, r io.Reader, source string) error {
	t := template.New(w, o.width, o.color)
	if err := t.Parse(source); err != nil {
		return fmt.Errorf("parse template: %w", err)
	}
	if err := t.Execute(r); err != nil {
		return fmt.Errorf("execute template: %w", err)
	}
	return t.Flush()
}
