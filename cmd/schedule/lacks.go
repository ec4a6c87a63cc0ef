package schedule

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/schedule"
)

// Lack is what this shell has and scheduled passes do not.
type Lack struct {
	Program string // empty: a login
	machine.Trouble
}

func root(a *cli.App) string { return filepath.Join("/", a.Env.Root) }

// lacks returns the programs and logins that this shell has and the passes of an installed job do not.
func (p plan) lacks(ctx context.Context, in standing, cfg *config.Config, here environ.Env) (all []Lack) {
	job, kind := in.found.Job, in.s.Kind()
	if job.Gh == "" { // its header is not ours
		return nil
	}
	for _, need := range p.programs {
		if found, _ := proc.LookPath(need.Name, job.Get("PATH")); found == "" && need.Path != "" {
			all = append(all, Lack{need.Name, machine.Trouble{
				Says: fmt.Sprintf("%s is on your PATH at %s, but not on the PATH of %s's job", need.Name, need.Path, kind), Do: "gh mergexo schedule install",
			}})
		}
	}
	if files.Exists(filepath.Join(p.machine.ConfigHome, "systemd", "user", job.Name()+".service.d")) {
		return all // it may have more variables
	}
	locked := kind == schedule.Launchd && !p.machine.AtScreen(ctx)
	for _, t := range machine.LoginsLacking(cfg, here, environ.Of(job.Pairs()), string(kind), locked) {
		all = append(all, Lack{Trouble: t})
	}
	return all
}
