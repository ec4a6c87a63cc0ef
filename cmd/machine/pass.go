package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/metrics"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// PassOptions are the scope and mode of a pass.
type PassOptions struct {
	Only     *work.RepoName // nil: all repositories
	Wait     time.Duration  // for another pass that is planning
	MaxTurns int            // 0: the config's limit
	AtOnce   bool           // read repositories even if this program would wait
	DryRun   bool           // use a copy of the database, no log, and clients of GitHub that only read
	Begun    *folder.Begun  // the record of the pass; nil: there is none
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
	self, err := m.self(opt.DryRun)
	if err != nil {
		return nil, nil, errors.Join(err, closeLog())
	}
	self.Version, self.Config = opt.Version, m.cfg.Shared()
	remotes, err := m.remotes(ctx, log)
	if err != nil {
		return nil, nil, errors.Join(err, closeLog())
	}
	pass = &tick.Pass{
		Env: &env.Env{
			Config: m.cfg, Machine: self, Dirs: m.dirs, Remotes: remotes, Agents: m, Orphans: m, Now: m.now, Log: log, Prompts: pack, Secrets: m.secrets, TokenVariable: m.TokenVariable,
			Only: opt.Only, AtOnce: opt.AtOnce, Preflight: m.preflight, Fault: m.fault, Unseen: opt.Unseen, Begun: opt.Begun, Asked: m.tally.Take, Host: func(name string) env.GitHub { return m.otherHost(ctx, name, log) },
		},
		Wait: opt.Wait, MaxTurns: opt.MaxTurns, OpenStore: m.openForPass, Listeners: tick.Listeners{After: after(m, opt)},
	}
	if !opt.DryRun {
		pass.Notify = m.Notify
		return pass, closeLog, nil
	}
	done, err = m.useScratchStore(ctx, pass)
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
	log, err := files.OpenOwn(filepath.Join(logs, m.now().UTC().Format(detachedDay)), os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }()
	return proc.Detach(ctx, self, args, m.env.Own(), m.dirs.State, log)
}

// after returns the observers of a pass's end.
func after(m *Machine, opt PassOptions) []tell.Observer {
	all := []tell.Observer{{Name: "old logs", Do: m.trimLogs}}
	if m.cfg.Runtime.MetricsFile != "" {
		build := metrics.Build{Version: opt.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
		all = append(all, tell.WriteMetrics(m.cfg.Runtime.MetricsFile, build))
	}
	return all
}

// TellFailing sends the message that passes do not work if a pass failed before it could open the
// database, which otherwise records what was sent. Passes that fail after this one send nothing.
func (m *Machine) TellFailing(ctx context.Context, passes work.PassFacts) {
	if passes.Last.Failures != work.FailingPasses {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, e := range news.Alone(passes, m.cfg.Targets(), m.secrets.Redact) {
		wg.Go(func() {
			m.Notify(ctx, e.Target, notify.Message{ID: news.Delivery(e.Target, e.Key), Event: string(e.What), Body: e.Body, At: e.At})
		})
	}
	wg.Wait()
}

// tellTime bounds TellFailing.
const tellTime = 10 * time.Second

// Notify sends a message to one [[notify]] of the config.
func (m *Machine) Notify(ctx context.Context, name string, msg notify.Message) notify.Answer {
	i := slices.IndexFunc(m.cfg.Notify, func(n config.Notify) bool { return n.Name == name })
	if i < 0 {
		return notify.Answer{Fate: notify.Unreached, Says: "the config has no [[notify]] of that name"}
	}
	target, err := m.target(m.cfg.Notify[i])
	if err != nil {
		return notify.Answer{Fate: notify.Unreached, Says: err.Error()}
	}
	return notify.Send(ctx, target, msg)
}

// target returns the program that gets a message. It sees as much of the environment as an agent
// without a key, plus what env_pass names.
func (m *Machine) target(n config.Notify) (notify.Target, error) {
	path := m.path()
	program, err := proc.LookPath(n.Command[0], path)
	return notify.Target{
		Command: append([]string{program}, n.Command[1:]...), Env: append(slices.DeleteFunc(m.env.Agent(n.EnvPass), isPath), "PATH="+path),
		Dir: m.env.Home, Redact: m.redactorFor(n.EnvPass),
	}, err
}
