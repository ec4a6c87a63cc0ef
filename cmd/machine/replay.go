package machine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// Replay is a turn whose prompt an agent gets once more. Nothing of it is sent or kept.
type Replay struct {
	Repo    work.Repo // required, like Kind, Prompt and Head
	Kind    work.Kind
	Prompt  string
	Context prompts.Context
	Head    string // the commit on which its agent worked
	Commit  string // the one that it made; empty: none
}

// Replayed is what came of it.
type Replayed struct {
	Answer  json.RawMessage
	Usage   work.Usage
	Refused string // why a pass would not have committed what it changed; empty: it would have
	Diff    string // from what the turn changed to what the replay changed; empty: the same
}

// mostReplayed limits the shown difference, in bytes.
const mostReplayed = 1 << 20

// Replay runs an agent on a turn's prompt, in a new session and a checkout of the turn's commit in place, without the
// repository's set-up. Its run is paid. Errors are those of an agent's run.
func (m *Machine) Replay(ctx context.Context, a config.Agent, place string, what Replay) (done Replayed, err error) {
	if _, err := m.Protection(ctx, a); err != nil { // its turns are blocked
		return done, err
	}
	spec, dir, leave, err := m.tryOut(ctx, a, place)
	if err != nil {
		return done, err
	}
	defer leave()
	ag, err := agent.New(spec)
	if err == nil {
		err = agent.Find(spec)
	}
	if err != nil {
		return done, err
	}
	if _, err := m.Git(ctx); err != nil {
		return done, err
	}
	beside := filepath.Dir(dir)
	mirror := m.git.Mirror(filepath.Join(beside, "mirror.git"), m.dirs.MirrorDir(what.Repo), filepath.Join(beside, "lock")).WithAlternate(m.dirs.MirrorDir(what.Repo))
	if err := mirror.Ensure(ctx); err != nil {
		return done, fmt.Errorf("prepare a mirror: %w", err)
	}
	index := filepath.Join(beside, "index")
	if err := mirror.Restore(ctx, git.Restore{Dir: dir, Index: index, Commit: what.Head, Branch: "replay"}); err != nil {
		return done, err
	}
	about, err := json.Marshal(what.Context)
	if err != nil {
		return done, fmt.Errorf("encode the context: %w", err)
	}
	res, err := ag.Run(ctx, agent.Request{
		Turn: "replay", Mark: markOf(dir), Kind: what.Kind, Mode: what.Kind.Mode(), Prompt: prompts.ForNewSession(what.Prompt), Context: about,
		Schema: prompts.Schema(what.Kind, what.Context), Dir: dir, Wall: m.cfg.Runtime.TurnTimeout, Idle: m.cfg.Runtime.IdleTimeout,
	})
	done.Answer, done.Usage = res.Answer, res.Usage
	if err != nil || what.Kind.Mode() == work.ModeRead {
		return done, err
	}
	limits := git.Limits{MaxFiles: m.cfg.Runtime.MaxFiles, MaxFileBytes: m.cfg.Runtime.MaxFileBytes}
	if r, known := m.cfg.Repo(what.Repo.Name); known {
		limits.Protected = r.ProtectedPaths
	}
	made, err := mirror.CommitTree(ctx, git.Commit{
		Dir: dir, Index: index, Parents: []string{what.Head}, Message: "Replay", Date: time.Unix(1, 0), Turn: "replay", Limits: limits, Account: git.Identity{Name: "replay", Email: "replay@localhost"},
	})
	if refused, is := errors.AsType[*git.RefusedError](err); is {
		done.Refused = refused.Reason
		return done, nil
	}
	if err != nil {
		return done, err
	}
	then, now := cmp.Or(what.Commit, what.Head), cmp.Or(made.OID, what.Head)
	done.Diff, _, err = mirror.Diff(ctx, then, now, mostReplayed)
	return done, err
}
