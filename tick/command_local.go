package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// CommandResult is the result of a command on the command line.
type CommandResult struct {
	Answer  string // what was done and what comes next, or why nothing was done
	Refused bool   // it was not executed, because something is not as it assumes
	Left    int    // actions on GitHub left to the next pass
	Why     string // why they are left; empty: they only take longer
	Halted  bool   // they are left because everything is paused
}

// commandWait is how long a command waits for a pass that is planning. Planning takes seconds.
const commandWait = 20 * time.Second

// Command executes one command of the operator on an issue or pull request and sends its actions,
// if GitHub can be reached. It calls waiting if another pass holds tick.lock.
func (p *Pass) Command(ctx context.Context, repo work.RepoName, number int, cmd work.Command, waiting func()) (told *CommandResult, err error) {
	planning, err := p.lockForCommand(ctx, waiting, ", or say it in a comment on GitHub")
	if err != nil {
		return nil, err
	}
	defer planning.Unlock() // unlocking twice is harmless
	if err = p.open(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err := p.beginCommand(ctx); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(p.All, func(r *env.Repo) bool { return r.Name.Equal(repo) })
	if at < 0 || p.All[at].Row.NodeID == "" {
		return nil, &UnreadError{p.Config.Called(repo)}
	}
	login := sync.OnceValue(func() error { return p.logIn(ctx, p.All[at]) })
	// Whoever puts another account's token before a command wants to be that account: it is refused before anything is
	// stored as the operator's. Without such a token a command needs no answer of GitHub.
	if p.TokenVariable(repo.Host) != "" && changedAccount(login()) {
		return &CommandResult{Answer: "Nothing was done: " + env.ReasonOf(p.Causes(p.All[at], login())) + ".", Refused: true}, nil
	}
	if err := p.lockPlanningOf(ctx, p.All[at]); err != nil {
		return nil, err
	}
	if err := p.ReadHeld(ctx); err != nil {
		return nil, err
	}
	if err := p.loader.ReadDay(ctx); err != nil {
		return nil, fmt.Errorf("read what was spent today: %w", err)
	}
	rep, made, err := p.planLocal(ctx, p.All[at], number, cmd)
	if err != nil {
		return nil, err
	}
	if err := p.apply(ctx, made); err != nil {
		return nil, err
	}
	p.UnlockPlanning(ctx)
	planning.Unlock()
	told = &CommandResult{Answer: rep.Said, Refused: rep.Refused}
	err = p.sendCommandActions(ctx, p.All[at], plan.Of[change.Notice](made), login(), told)
	if told.Left > 0 && rep.Unsent != "" {
		told.Answer = rep.Unsent
	}
	return told, err
}

// beginCommand begins a command that writes to the database. One that was moved is refused: no pass
// would see it.
func (p *Pass) beginCommand(ctx context.Context) error {
	fleet, err := p.begin(ctx, p.Machine)
	return cmp.Or(err, fleet.Moved())
}

// UnreadError says that no pass has read the repository that a command is about.
type UnreadError struct{ Repo string }

func (e *UnreadError) Error() string {
	return "no pass has read " + e.Repo + " yet; run one: gh mergexo tick"
}

// lockForCommand takes tick.lock and waits a little for it. or is an alternative for the error's
// text.
func (p *Pass) lockForCommand(ctx context.Context, waiting func(), or string) (folder.FileLock, error) {
	l, ok, err := p.Dirs.LockPlanning(ctx, 0, p.Now())
	if ok || err != nil {
		return l, err
	}
	waiting()
	l, ok, err = p.Dirs.LockPlanning(ctx, commandWait, p.Now())
	if err == nil && !ok {
		err = fmt.Errorf("a pass has been planning for %s and nothing was done; try again%s", commandWait, or)
	}
	return l, err
}

// planLocal decides what a command does, as the plan does for one in a comment.
func (p *Pass) planLocal(ctx context.Context, rem *env.Repo, number int, cmd work.Command) (rep plan.Reply, made plan.Plan, err error) {
	var v known.Snapshot
	var item known.Item
	by := work.Account{Login: "the operator"}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		if v, item, err = p.loader.ForCommand(ctx, tx, rem, number); err != nil || item.ID == 0 {
			return err
		}
		accounts, err := tx.ListAccounts(ctx, work.RoleOperator)
		if known := accounts[rem.Name.Host]; len(known) > 0 {
			by.ID, by.Login = known[len(known)-1].ID, cmp.Or(known[len(known)-1].Login, by.Login)
		}
		return err
	})
	if err != nil {
		return rep, made, fmt.Errorf("read %s: %w", work.Ref(rem.Name, number), err)
	}
	_, v.Halted = p.Halted(ctx)
	v.Terminal = fmt.Sprintf("%s#%d", p.Config.Called(rem.Name), item.Named(number))
	rep, made = plan.ForCommand(v, item, p.localEvent(rem, item.ID, number, cmd, by), cmd)
	return rep, made, nil
}

// localEvent returns the event that records a command without a comment.
func (p *Pass) localEvent(rem *env.Repo, item int64, number int, cmd work.Command, by work.Account) work.Event {
	now := p.Now()
	body := cmd.String()
	source, hash := "local-"+strconv.FormatInt(now.UnixNano(), 10), work.ContentHash(body)
	return work.Event{
		RepoID: rem.Row.ID, ItemID: item, Number: number, Kind: work.EventCommand, Source: source, Hash: hash,
		Key: work.EventKey(number, work.EventCommand, source, hash), Author: by, Body: body, State: work.SaidLocally,
		CreatedAt: now, UpdatedAt: now, SeenAt: now,
	}
}

// logIn asks GitHub which account sends what a command asks for. A pause of everything asks nothing.
func (p *Pass) logIn(ctx context.Context, rem *env.Repo) error {
	if h, halted := p.Halted(ctx); halted {
		return &folder.HaltedError{Halt: h}
	}
	who, _, _, err := rem.GitHub.Viewer(ctx, "")
	switch {
	case github.IsStatus(err, 403):
		return p.ReadOwnAccount(ctx, rem)
	case err != nil:
		return err
	}
	return p.AcceptAccount(ctx, rem.Name.Host, who)
}

// changedAccount reports whether an account is refused because passes work as another one.
func changedAccount(err error) bool {
	stop, is := errors.AsType[*work.BlockedError](err)
	return is && (stop.Reason.Kind == work.WhyAccountChanged || stop.Reason.Kind == work.WhyAccountNoToken)
}

// sendCommandActions sends the command's actions, if GitHub accepted the login, and reports what is left. It is no error
// if GitHub cannot be reached: the next pass sends them.
func (p *Pass) sendCommandActions(ctx context.Context, rem *env.Repo, notices []change.Notice, login error, told *CommandResult) error {
	if login == nil {
		rem.Ready = true
		p.notices.SendNotices(ctx, rem, env.NewReport(p.Now()))
	} else {
		_, told.Halted = errors.AsType[*folder.HaltedError](login)
		told.Why = env.ReasonOf(p.Causes(rem, login))
	}
	ctx = context.WithoutCancel(ctx)
	before := *told
	return p.Store.View(ctx, func(tx *store.Tx) error {
		*told = before
		for _, a := range notices {
			now, known, err := tx.GetAction(ctx, a.Token)
			if err != nil {
				return err
			}
			if now.State.Settled() {
				told.Answer = work.WithResult(told.Answer, now)
			}
			switch {
			case known && !now.State.Settled():
				told.Left++
				told.Why = cmp.Or(told.Why, now.LastError)
			case now.State == work.ActionVoid && now.ItemID == 0: // no item has the number, and GitHub does not show it
				told.Answer, told.Refused = work.Ref(rem.Name, now.Number)+" does not exist, or you may not see it.", true
			}
		}
		return nil
	})
}
