package reference

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// jsonPage lists every field of every command, and of the objects in it. A field that
// nothing is said about is an error.
func jsonPage(tree *cobra.Command, root string) (string, error) {
	p := jsonWriter{sources: sources{root: root, packages: map[string]map[string]typeSpec{}}, unsaid: unsaidOf(tree)}
	p.b.WriteString(generated + `# JSON fields

` + "`--json FIELD,…`" + ` prints these, ` + "`--jq` and `--template`" + ` filter them as in gh. Times are UTC and RFC 3339. Fields are added, and those that are there keep their names and
meanings. [status.md](../operating.md#watching) has examples.
`)
	shared := false // the commands for one item have the same fields
	for _, c := range commands(tree) {
		if fields := cli.JSONFields(c); len(fields) > 0 && (!shared || !isForItem(c)) {
			p.command(c, fields)
			shared = shared || isForItem(c)
		}
	}
	for i := 0; i < len(p.types); i++ {
		p.object(p.types[i])
	}
	return p.b.String(), p.err()
}

type jsonWriter struct {
	sources
	b      strings.Builder
	types  []string // that objects are of, in the order of their first mention
	unsaid []string
	errs   []error
}

func (p *jsonWriter) err() error {
	if len(p.unsaid) > 0 {
		p.errs = append(p.errs, fmt.Errorf("cmd/reference/fields.go says nothing, or too much, of:\n  %s", strings.Join(p.unsaid, "\n  ")))
	}
	return errors.Join(p.errs...)
}

// unsaidOf are the commands of the table that there are not.
func unsaidOf(tree *cobra.Command) (gone []string) {
	known := map[string]bool{itemCommands: true}
	for _, c := range commands(tree) {
		known[c.CommandPath()] = true
	}
	for path := range fieldsOf {
		if !known[path] {
			gone = append(gone, path)
		}
	}
	return gone
}

// isForItem reports whether a command is one that people also give in comments.
func isForItem(c *cobra.Command) bool { return c.GroupID == "item" }

// heading is what a command's table is called.
func heading(c *cobra.Command) string {
	if isForItem(c) {
		return itemCommands
	}
	return c.CommandPath()
}

const itemCommands = "commands for one item"

func (p *jsonWriter) command(c *cobra.Command, fields []string) {
	fmt.Fprintf(&p.b, "\n## %s\n\n| field | | |\n|---|---|---|\n", heading(c))
	said := fieldsOf[heading(c)]
	for _, name := range fields {
		i := slices.IndexFunc(said, func(f field) bool { return f.name == name })
		if i < 0 {
			p.unsaid = append(p.unsaid, c.CommandPath()+" --json "+name)
			continue
		}
		p.row(name, said[i].kind, said[i].says)
	}
	for _, f := range said {
		if !slices.Contains(fields, f.name) {
			p.unsaid = append(p.unsaid, c.CommandPath()+" has no "+f.name)
		}
	}
}

// row is a field's. Its kind may name a type, as in list: cmd/status.itemView.
func (p *jsonWriter) row(name, kind, says string) {
	words := strings.Fields(kind)
	for i, word := range words {
		if typed := strings.TrimSuffix(word, ","); strings.Contains(typed, ".") {
			words[i] = p.link(typed) + strings.TrimPrefix(word, typed)
		}
	}
	fmt.Fprintf(&p.b, "| `%s` | %s | %s |\n", name, strings.Join(words, " "), cell(says))
}

// link leads to a type's table.
func (p *jsonWriter) link(name string) string {
	if !slices.Contains(p.types, name) {
		p.types = append(p.types, name)
	}
	return fmt.Sprintf("[%s](#%s)", title(name), strings.ReplaceAll(title(name), " ", "-"))
}

// title is a type's name for people: itemView of cmd/status is "object item".
func title(name string) string {
	if t, ok := titles[name]; ok {
		return "object " + t
	}
	_, id, _ := strings.Cut(name, ".")
	return "object " + strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(id, "View"), "Report"))
}

func (p *jsonWriter) object(name string) {
	all, err := p.members(name)
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	fmt.Fprintf(&p.b, "\n## %s\n\n| field | | |\n|---|---|---|\n", title(name))
	_, id, _ := strings.Cut(name, ".")
	for _, m := range all {
		says := says[id+"."+m.name]
		if says = cmp.Or(says, m.comment, usual[m.name]); says == "" {
			p.unsaid = append(p.unsaid, fmt.Sprintf("%q: \"\", // %s", id+"."+m.name, m.kind))
		}
		kind := m.kind
		if m.below != "" {
			kind = strings.Replace(kind, "object", m.below, 1)
			if strings.HasPrefix(m.kind, "object by name") {
				kind = strings.Replace(m.kind, ": object", ": "+m.below, 1)
			}
		}
		p.row(m.name, kind, says)
	}
}
