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

// everywhere are the fields that mean the same in each object, and need no words there.
var everywhere = []struct{ name, words string }{
	{"repo", "owner/name, with the host in front where two hosts are configured"},
	{"number", "of the issue or pull request"},
	{"url", "on GitHub"},
	{"flow", "`design`, `implementation`, `bugfix`, `small_job`, `roadmap`; `review` of somebody else's pull request"},
	{"kind", "of a turn: `bugfix_start`, `implementation_feedback`, `review` and so on, as `prompts list` names them"},
	{"agent", "its name in the config"},
	{"machine", "its name"},
	{"waitingFor", "for people"},
	{"reason", "for people"},
	{"reasonCode", "the same for programs: [reasons](reasons.md)"},
	{"nextStep", "what happens next, or what a person must do"},
	{"error", "the last; empty: none since the last success"},
	{"decision", "`approve` or `request_changes`"},
	{"turns", "as budgets count them"},
	{"runs", "starts of an agent's program"},
	{"inputTokens", "that agents read; `outputTokens`: that they wrote"},
	{"runsOfUnknownTokens", "that those sums lack"},
	{"runsOfUnknownCost", "that `costUSD` lacks"},
}

// jsonPage lists every JSON field of every command, of the documents that other programs get, and of
// the objects in them. What a field's name does not say is the comment in its source, or in everywhere.
func jsonPage(tree *cobra.Command, root string) (string, error) {
	p := jsonWriter{sources: sources{root: root, packages: map[string]map[string]string{}}, used: map[string]bool{}}
	p.b.WriteString(generated + `# JSON fields

` + "`--json FIELD,…`" + ` prints these fields, ` + "`--jq`" + ` filters them as in gh. Later versions may add fields, but do not rename one or change its meaning.
[operating.md](../operating.md#watching) has examples.

A field is a text, unless something else stands behind its name; times are UTC in RFC 3339. Without a value, a text or list is empty, a count or limit 0, anything else null. The same everywhere:

`)
	for _, f := range everywhere {
		fmt.Fprintf(&p.b, "- `%s`: %s\n", f.name, f.words)
	}
	shared := false // the commands for one item have the same fields
	for _, c := range commands(tree) {
		if view := cli.JSONView(c); view != nil && (!shared || !isForItem(c)) {
			p.list(heading(c), view)
			shared = shared || isForItem(c)
		}
	}
	p.list("a message of notify", reflect.TypeFor[news.Message]())
	p.list("what a program of your own gets", reflect.TypeFor[command.Document]())
	for i := 0; i < len(p.types); i++ {
		p.list(title(p.types[i]), p.types[i])
	}
	for _, f := range everywhere {
		if !p.used[f.name] {
			p.errs = append(p.errs, fmt.Errorf("no object has the field %q", f.name))
		}
	}
	return p.b.String(), errors.Join(p.errs...)
}

type jsonWriter struct {
	sources
	b     strings.Builder
	types []reflect.Type  // of objects, in the order of their first mention
	used  map[string]bool // fields without words of their own
	errs  []error
}

// isForItem reports whether people can also give the command in comments.
func isForItem(c *cobra.Command) bool { return c.GroupID == "item" }

// heading returns the heading of a command's fields.
func heading(c *cobra.Command) string {
	if isForItem(c) {
		return "commands for one item"
	}
	return c.CommandPath()
}

// list lists the fields of a struct, those that need no words in one line.
func (p *jsonWriter) list(heading string, t reflect.Type) {
	all, err := p.members(t)
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	fmt.Fprintf(&p.b, "\n## %s\n\n", heading)
	var plain []string
	for _, m := range all {
		if m.name == "" {
			plain = append(plain, "the fields of "+p.link(m.of))
			continue
		}
		field := "`" + m.name + "`"
		if is := kind(m.of, p.link); is != "" {
			field += " " + is
		}
		if m.maybe {
			field += ", optional"
		}
		if m.comment == "" {
			plain, p.used[m.name] = append(plain, field), true
			continue
		}
		p.line(&plain)
		fmt.Fprintf(&p.b, "- %s: %s\n", field, m.comment)
	}
	p.line(&plain)
}

// line writes the fields that need no words.
func (p *jsonWriter) line(fields *[]string) {
	if len(*fields) > 0 {
		fmt.Fprintf(&p.b, "- %s\n", strings.Join(*fields, "; "))
		*fields = nil
	}
}

// link links to a struct's fields.
func (p *jsonWriter) link(t reflect.Type) string {
	if !slices.Contains(p.types, t) {
		if slices.ContainsFunc(p.types, func(o reflect.Type) bool { return title(o) == title(t) }) {
			p.errs = append(p.errs, fmt.Errorf("two types are called %q", title(t)))
		}
		p.types = append(p.types, t)
	}
	return fmt.Sprintf("[%s](#%s)", title(t), strings.ReplaceAll(title(t), " ", "-"))
}

// title returns a struct's name for people: passView is "pass".
func title(t reflect.Type) string {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(t.Name(), "View") {
		if unicode.IsUpper(r) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
