package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// apply shows what will be written, here and on GitHub, and does it once a person, or --yes,
// confirms.
func (r *room) apply(ctx context.Context, d *draft, p *place) (*config.Config, error) {
	now, cfg, err := d.written(p.name)
	if err != nil {
		return nil, err
	}
	repo, _ := cfg.Repo(p.name)
	lacking, _ := doctor.MissingLabels(repo, p.labels)
	names := strings.Join(terminal.Each(lacking, func(l work.Label) string { return l.Name }), ", ")
	var todo []string
	if now != d.text {
		r.say("")
		r.showDiff(ConfigDiff(d.path, d.text, now))
		todo = append(todo, "write "+d.path)
	}
	if len(lacking) > 0 {
		todo = append(todo, fmt.Sprintf("create the labels %s in %s", names, p.name.FullName()))
	}
	if err := r.agreed(todo); err != nil {
		return nil, err
	}
	if now != d.text {
		if err := d.save(now); err != nil {
			return nil, err
		}
		r.say("Wrote %s.", d.path)
	}
	for _, l := range lacking {
		if err := p.client.CreateLabel(ctx, p.name, l); err != nil && !github.AlreadyExists(err) {
			return nil, fmt.Errorf("create the label %s: %w; the rest is done; run again: gh mergexo init", l.Name, withRemedy(p.name.Host, err))
		}
	}
	if len(lacking) > 0 {
		r.say("Created the labels %s in %s.", names, p.name.FullName())
	}
	if len(todo) == 0 {
		r.say("Nothing to write: the config and the labels exist.")
	}
	return r.reload()
}

// cancelled is gh's exit code for a cancelled command.
const cancelled = 2

// agreed asks for confirmation. Nothing is written without it.
func (r *room) agreed(todo []string) error {
	switch {
	case len(todo) == 0 || r.yes:
		return nil
	case r.ask == nil:
		return flagNeeded("nothing was changed: to %s, add --yes", strings.Join(todo, " and "))
	}
	what := strings.Join(todo, " and ")
	yes, err := r.ask.Confirm(strings.ToUpper(what[:1])+what[1:]+"?", true)
	if err == nil && !yes {
		r.say("Nothing was changed.")
		return &cli.CodeError{Code: cancelled}
	}
	return err
}

// showDiff prints a diff in git's colours.
func (r *room) showDiff(diff string) {
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			line = r.out.Bold(line)
		case strings.HasPrefix(line, "+"):
			line = r.out.Paint("32", line)
		case strings.HasPrefix(line, "-"):
			line = r.out.Paint("31", line)
		}
		fmt.Fprintln(r.out.W, line)
	}
	r.say("")
}

var errMendFirst = errors.New("fix the failures above, then see what a pass would do: gh mergexo tick --dry-run")
