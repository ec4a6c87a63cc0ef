package reference

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/agent/command"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// jsonPage lists every JSON field of every command, of the documents that other programs get, and of
// the objects in them. A field without a comment in its source is an error.
func jsonPage(tree *cobra.Command, root string) (string, error) {
	p := jsonWriter{sources: sources{root: root, packages: map[string]map[string]string{}}}
	p.b.WriteString(generated + `# JSON fields

` + "`--json FIELD,…`" + ` prints these fields, ` + "`--jq` and `--template`" + ` filter them as in gh. Times are in UTC, in the format of RFC 3339. Later versions may add fields, but
do not rename one or change its meaning. [operating.md](../operating.md#watching) has examples.
`)
	shared := false // the commands for one item have the same fields
	for _, c := range commands(tree) {
		if view := cli.JSONView(c); view != nil && (!shared || !isForItem(c)) {
			p.table(heading(c), view)
			shared = shared || isForItem(c)
		}
	}
	p.table("a message of notify", reflect.TypeFor[news.Message]())
	p.table("what a program of your own gets", reflect.TypeFor[command.Document]())
	for i := 0; i < len(p.types); i++ {
		p.table(title(p.types[i]), p.types[i])
	}
	return p.b.String(), errors.Join(p.errs...)
}

type jsonWriter struct {
	sources
	b     strings.Builder
	types []reflect.Type // of objects, in the order of their first mention
	errs  []error
}

// isForItem reports whether people can also give the command in comments.
func isForItem(c *cobra.Command) bool { return c.GroupID == "item" }

// heading returns the heading of a command's table.
func heading(c *cobra.Command) string {
	if isForItem(c) {
		return "commands for one item"
	}
	return c.CommandPath()
}

// table lists the fields of a struct.
func (p *jsonWriter) table(heading string, t reflect.Type) {
	all, err := p.members(t)
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	fmt.Fprintf(&p.b, "\n## %s\n\n| field | | |\n|---|---|---|\n", heading)
	for _, m := range all {
		if m.comment == "" {
			p.errs = append(p.errs, fmt.Errorf("%s: the field of %q has no comment behind it", t, m.name))
		}
		is := kind(m.of, p.link)
		if m.maybe {
			is += ", may be left out"
		}
		fmt.Fprintf(&p.b, "| `%s` | %s | %s |\n", m.name, is, cell(m.comment))
	}
}

// link links to a struct's table.
func (p *jsonWriter) link(t reflect.Type) string {
	if !slices.Contains(p.types, t) {
		if slices.ContainsFunc(p.types, func(o reflect.Type) bool { return title(o) == title(t) }) {
			p.errs = append(p.errs, fmt.Errorf("two types are called %q", title(t)))
		}
		p.types = append(p.types, t)
	}
	return fmt.Sprintf("[%s](#%s)", title(t), strings.ReplaceAll(title(t), " ", "-"))
}

// title returns a struct's name for people: promptView is "object prompt".
func title(t reflect.Type) string {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(t.Name(), "View") {
		if unicode.IsUpper(r) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return "object " + b.String()
}
