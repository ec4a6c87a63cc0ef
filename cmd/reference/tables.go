package reference

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/metrics"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// reasonsPage lists every code of a reason, by who can end it.
func reasonsPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Reasons

` + "`status`, `show`, dry runs, `--json`" + ` and comments on GitHub give the same reason in the same words. The code stays as it is
from release to release; the words may change.

Words in capitals, numbers and dates are examples: TEXT is what an agent, a program, git or GitHub said, ADVICE is what the failed program itself says to do. "next" is
the next step as a comment on a pull request words it. "comment" says when such a comment is written, once: at once, or after that time. Until then, ` + "`status` and `show`" + ` have the reason.
`)
	for _, part := range []struct {
		who   explain.Who
		title string
	}{
		{explain.People, "People on GitHub can end it"},
		{explain.Operator, "The operator or a repository admin can end it"},
		{explain.Nobody, "It ends by itself; if it lasts, the operator can look why"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| code | says | next | comment |\n|---|---|---|---|\n", part.title)
		for _, r := range explain.Entries() {
			if r.Who == part.who {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Kind, cell(r.What), cell(r.Next), strings.TrimPrefix(string(r.After), "after "))
			}
		}
	}
	return b.String()
}

// gatesPage lists the gates of a merge.
func gatesPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Gates of a merge

With [` + "`auto_merge`" + `](../review.md#merging), a pull request is merged once all gates are open. ` + "`gh mergexo show`" + ` lists them in this order.

| code | open when | who opens it |
|---|---|---|
`)
	for _, r := range merging.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Code, cell(r.Opens), cell(r.Who))
	}
	return b.String()
}

// doctorPage lists the checks of doctor.
func doctorPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Checks of doctor

| code | group | what it checks |
|---|---|---|
`)
	for _, c := range doctor.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Code, c.Group, cell(c.Title))
	}
	return b.String()
}

// configPage shows every key of the config.
func configPage() string {
	return generated + `# The config

` + "`gh mergexo config --example`" + ` prints this; [setting up](../setup.md#the-config) says where the config is.

` + "```toml\n" + config.Example() + "```\n"
}

// metricsPage lists the metrics that a pass writes.
func metricsPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Metrics

A pass writes these into [` + "`metrics_file`" + `](../operating.md#metrics). ` + "`agent`" + ` is the name in the config, ` + "`kind`" + ` a kind of turn, of failures a
[reason](reasons.md). ` + "`outcome`" + ` of turns is ` + "`done`, `superseded`, `failed` or `cancelled`; of passes `ok`, `waiting`, `failed` or `cancelled`" + `.

| metric | kind | labels | what it is |
|---|---|---|---|
`)
	for _, f := range metrics.Known() {
		labels := "–"
		if len(f.Labels) > 0 {
			labels = "`" + strings.Join(f.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Kind, labels, cell(f.Help))
	}
	return b.String()
}
