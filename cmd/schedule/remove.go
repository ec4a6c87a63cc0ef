package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/schedule"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// remove needs no valid config: nobody should have to repair a config to stop passes.
func (r *room) remove(ctx context.Context) error {
	cfg, _, err := r.ConfigForAll()
	if err != nil {
		cfg = &config.Config{}
	}
	none, err := r.removeJobs(ctx, cfg, r.Output().W)
	if err == nil && none != "" {
		fmt.Fprintf(r.Output().W, "Nothing to do: %s.\n", none)
	}
	return err
}

// removeJobs removes the job from every scheduler that has it, and reports it. none says that no scheduler has it.
func (r *room) removeJobs(ctx context.Context, cfg *config.Config, w io.Writer) (none string, err error) {
	p, err := newPlan(cfg, r.Environ(), r.Now())
	if err != nil {
		return "", err
	}
	v := p.survey(ctx)
	for _, why := range v.mute {
		fmt.Fprintln(r.Env.Stderr, why)
	}
	trouble := v.trouble
	for _, st := range v.all {
		trouble = errors.Join(trouble, st.remove(ctx, p.job, w))
	}
	if trouble != nil {
		return "", trouble
	}
	r.noteRemoved(ctx, cfg)
	if len(v.all) == 0 {
		none = "there is no schedule for " + p.job.Config
	}
	return none, nil
}

// noteRemoved notes in the database that no pass begins on this machine any more, so that the others
// do not miss its passes.
func (r *room) noteRemoved(ctx context.Context, cfg *config.Config) {
	shared, err := r.WithFleet(ctx, cfg, func(tx *store.Tx) error { return tx.StopMachine(ctx, work.MachineUnscheduled) })
	if _, moved := errors.AsType[*store.MovedError](err); shared && err != nil && !moved {
		fmt.Fprintf(r.Env.Stderr, "other machines will report this one as silent, because the database cannot be reached (%s); to end that: gh mergexo machines forget %s\n",
			terminal.OneLine(err.Error()), cli.ThisMachine(cfg))
	}
}

// print shows what install would write, also with a scheduler that this machine does not have.
func (r *room) print(ctx context.Context, opt Options) error {
	x, err := prepare(ctx, r.App, opt)
	if err != nil {
		return err
	}
	if x.job, err = x.fit(x.s, x.job); err != nil {
		return err
	}
	files, err := x.s.Files(x.job)
	if err != nil {
		return err
	}
	texts := terminal.Each(files, func(f schedule.File) string { return f.Path + ":\n" + f.Text })
	_, err = io.WriteString(r.Output().W, strings.Join(texts, "\n"))
	return err
}
