package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/env"
	telling "github.com/mergexo/gh-mergexo/tick/notify"
)

// PassOptions are the scope and mode of a pass.
type PassOptions struct {
	Only     *work.RepoName // nil: all repositories
	Wait     time.Duration  // for another pass that is planning
	MaxTurns int            // 0: the config's limit
	AtOnce   bool           // read repositories even if this program would wait
	DryRun   bool           // use a copy of the database, no log, and clients of GitHub that only read
	Unseen   bool           // nobody reads the exit code
	Version  string         // of this program; required except for a dry run
}

// Pass connects a pass to this machine. done releases the resources.
func (m *Machine) Pass(ctx context.Context, opt PassOptions) (pass *tick.Pass, done func() error, err error) {
	pack, err := prompts.Load(m.cfg.Runtime.PromptsDir)
	if err != nil {
		return nil, nil, err
	}
	log, closeLog, err := m.openLog(opt.DryRun)
	if err != nil {
		return nil, nil, err
	}
	m.readOnly = opt.DryRun
	remotes, err := m.remotes(log)
	if err != nil {
		return nil, nil, errors.Join(err, closeLog())
	}
	pass = &tick.Pass{
		Env: &env.Env{
			Config: m.cfg, Dirs: m.dirs, Remotes: remotes, Agents: m, Orphans: m, Now: m.now, Log: log, Prompts: pack, Secrets: m.secrets,
			Only: opt.Only, AtOnce: opt.AtOnce, Preflight: m.preflight, Unseen: opt.Unseen, Asked: m.tally.Take, Host: func(name string) env.GitHub { return m.otherHost(name, log) },
		},
		Wait: opt.Wait, MaxTurns: opt.MaxTurns, OpenStore: m.openStore, Listeners: tick.Listeners{After: after(m, opt)},
	}
	if !opt.DryRun {
		pass.Telling = telling.New(pass.Env, m.Tell)
		pass.After = append(pass.After, pass.Telling.After)
		trace(m, pass, opt.Version)
		return pass, closeLog, nil
	}
	done, err = m.throwAway(ctx, pass)
	return pass, done, err
}

// Detach starts the same pass with these arguments in a session of its own: schedulers that skip a
// run while their job is active must not wait for a long turn.
func (m *Machine) Detach(ctx context.Context, args []string) error {
	logs := filepath.Join(m.dirs.State, "logs")
	if err := MakeFolder(logs); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return proc.Detach(ctx, self, args, m.env.All(), m.dirs.State, filepath.Join(logs, m.now().UTC().Format(detachedDay)))
}
