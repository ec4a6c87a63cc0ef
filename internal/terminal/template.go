package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/cli/go-gh/v2/pkg/tableprinter"
	"github.com/cli/go-gh/v2/pkg/text"
	"github.com/mgutz/ansi"
)

// executeTemplate prints JSON by a template with gh's functions. They are copied from go-gh, whose
// package brings sprig for five of them, and with it 17 packages that took a tenth of the time of
// every start.
func executeTemplate(o Output, w io.Writer, r io.Reader, source string) error {
	table := tableprinter.New(w, true, o.Width)
	render := func() (string, error) {
		err := table.Render()
		table = tableprinter.New(w, true, o.Width)
		return "", err
	}
	t, err := template.New("").Funcs(templateFuncs(o)).Funcs(template.FuncMap{
		"tablerow": func(cells ...any) (string, error) {
			for _, c := range cells {
				s, err := scalar(c)
				if err != nil {
					return "", fmt.Errorf("failed to write table row: %w", err)
				}
				table.AddField(s, tableprinter.WithTruncate(firstLine))
			}
			table.EndRow()
			return "", nil
		},
		"tablerender": render,
	}).Parse(source)
	if err != nil {
		return filtered("--template", err)
	}
	var data any
	if err := json.NewDecoder(r).Decode(&data); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	if err := t.Execute(w, data); err != nil {
		return filtered("--template", err)
	}
	_, err = render()
	return err
}

// templateFuncs are the functions that know no table.
func templateFuncs(o Output) template.FuncMap {
	now := time.Now() //nolint:forbidigo // the age of a time, as gh tells it
	colour := func(style string, v any) (string, error) {
		s, err := scalar(v)
		return ansi.Color(s, style), err
	}
	automatic := colour
	if !o.Color {
		automatic = func(_ string, v any) (string, error) { return scalar(v) }
	}
	at := func(s string, format func(time.Time) string) (string, error) {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return "", err
		}
		return format(t), nil
	}
	return template.FuncMap{
		"color":      colour,
		"autocolor":  automatic,
		"contains":   func(part, s string) bool { return strings.Contains(s, part) },
		"hasPrefix":  func(part, s string) bool { return strings.HasPrefix(s, part) },
		"hasSuffix":  func(part, s string) bool { return strings.HasSuffix(s, part) },
		"hyperlink":  hyperlink,
		"join":       joinScalars,
		"pluck":      pluck,
		"regexMatch": func(expression, s string) (bool, error) { return regexp.MatchString(expression, s) },
		"replace":    func(old, fresh, s string) string { return strings.ReplaceAll(s, old, fresh) },
		"timeago": func(s string) (string, error) {
			return at(s, func(t time.Time) string { return timeAgo(now.Sub(t)) })
		},
		"timefmt": func(format, s string) (string, error) {
			return at(s, func(t time.Time) string { return t.Format(format) })
		},
		"truncate": func(width int, v any) (string, error) {
			s, ok := v.(string)
			if !ok && v != nil {
				return "", fmt.Errorf("invalid value; expected string, got %T", v)
			}
			return text.Truncate(width, s), nil
		},
	}
}

func hyperlink(link, label string) string {
	if label == "" {
		label = link
	}
	return "\x1b]8;;" + link + "\x1b\\" + label + "\x1b]8;;\x1b\\"
}

func joinScalars(between string, list []any) (string, error) {
	all := make([]string, len(list))
	var errs []error
	for i, v := range list {
		s, err := scalar(v)
		all[i], errs = s, append(errs, err)
	}
	return strings.Join(all, between), errors.Join(errs...)
}

func pluck(field string, list []any) ([]any, error) {
	var all []any
	for _, v := range list {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("cannot take %q from %T", field, v)
		}
		all = append(all, object[field])
	}
	return all, nil
}

// scalar formats a value of JSON; a fraction gets two digits.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		if math.Trunc(v) == v {
			return strconv.FormatFloat(v, 'f', 0, 64), nil
		}
		return strconv.FormatFloat(v, 'f', 2, 64), nil
	}
	return "", fmt.Errorf("cannot convert type to string: %v", v)
}

func timeAgo(ago time.Duration) string {
	const day = 24 * time.Hour
	if ago < time.Minute {
		return "just now"
	}
	for _, unit := range []struct {
		until, length time.Duration
		name          string
	}{{time.Hour, time.Minute, "minute"}, {day, time.Hour, "hour"}, {30 * day, day, "day"}, {365 * day, 30 * day, "month"}} {
		if ago < unit.until {
			return text.Pluralize(int(ago/unit.length), unit.name) + " ago"
		}
	}
	return text.Pluralize(int(ago/(365*day)), "year") + " ago"
}

// firstLine cuts a cell after its first line and to a width.
func firstLine(width int, s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i] + "..."
	}
	return text.Truncate(width, s)
}
