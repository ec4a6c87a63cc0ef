package schedule

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/schedule"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// byHand finds what starts passes with the plan's config and was not written by install. One that
// names another config is somebody else's.
func (p plan) byHand(ctx context.Context) ([]schedule.Hand, []string) {
	all, unread := p.machine.ByHand(ctx)
	all = slices.DeleteFunc(all, func(h schedule.Hand) bool {
		if h.Config == "" {
			return !p.job.Default
		}
		return real(h.Config) != real(p.job.Config)
	})
	return all, terminal.Each(unread, func(err error) string { return terminal.OneLine(err.Error()) })
}

// lineOf is the line in one line, without secrets.
func lineOf(h schedule.Hand) string {
	return terminal.OneLine(secrets.Redact(strings.TrimSpace(h.Text)))
}

// refuseSecond returns why a schedule would be the second one; nil: it would not.
func refuseSecond(all []schedule.Hand) error {
	if len(all) == 0 {
		return nil
	}
	h := all[0]
	return fmt.Errorf("%s, starts passes already (%s), and gh mergexo did not write it; nothing was changed; to end it: %s; then: gh mergexo schedule install", h.Says(), lineOf(h), h.End())
}

// printLeft names what starts passes after our schedule is gone.
func printLeft(w io.Writer, all []schedule.Hand) {
	for _, h := range all {
		fmt.Fprintf(w, "%s, continues to start passes, because gh mergexo did not write it (%s). To end it: %s\n", h.Says(), lineOf(h), h.End())
	}
}

func printUnread(w io.Writer, unread []string) {
	for _, why := range unread {
		fmt.Fprintln(w, "something else may start passes, too: "+why)
	}
}

// Lack is what this shell has and scheduled passes do not.
type Lack struct {
	Program string // empty: a login
	doctor.Trouble
}

func root(a *cli.App) string { return filepath.Join("/", a.Env.Root) }

// lacks returns the programs and logins that this shell has and scheduled passes do not, as far as their
// PATH is known: those of our job, if there is one, and those of what was written by hand.
func (p plan) lacks(ctx context.Context, in *standing, byHand []schedule.Hand, cfg *config.Config, here environ.Env) (all []Lack) {
	look := func(path, where, do string, programs []doctor.Program) {
		for _, need := range programs {
			if found, _ := proc.LookPath(need.Name, path); found == "" && need.Path != "" && path != "" {
				all = append(all, Lack{need.Name, doctor.Trouble{Says: fmt.Sprintf("%s is on your PATH at %s, but not on the PATH of %s", need.Name, need.Path, where), Do: do}})
			}
		}
	}
	for _, h := range byHand {
		look(h.Path, fmt.Sprintf("%s (%s)", h.Says(), h.Path), fmt.Sprintf("set another PATH there; or end it (%s), then: gh mergexo schedule install", h.End()), p.programs[1:]) // gh it names itself
	}
	if in == nil || in.found.Job.Gh == "" { // its header is not ours
		return all
	}
	job, kind := in.found.Job, in.s.Kind()
	look(job.Get("PATH"), string(kind)+"'s job", "gh mergexo schedule install", p.programs)
	if files.Exists(filepath.Join(p.machine.ConfigHome, "systemd", "user", job.Name()+".service.d")) {
		return all // it may have more variables
	}
	locked := kind == schedule.Launchd && !p.machine.AtScreen(ctx)
	for _, t := range machine.LoginsLacking(cfg, here, environ.Of(job.Pairs()), string(kind), locked) {
		all = append(all, Lack{Trouble: t})
	}
	return all
}
