//go:build unix

package story

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// checkStandings compares, for each open item, what status shows with what `/mergexo status` would
// answer now. A world without a readable config or database has nothing to compare.
func checkStandings(w *world) error {
	ctx := context.Background()
	text, err := os.ReadFile(w.configPath())
	if err != nil {
		return nil
	}
	cfg, err := config.Parse(w.configPath(), text, environ.Of(pairs(w.environ())), simHost)
	if err != nil {
		return nil
	}
	db, ok, err := store.OpenReadOnly(ctx, w.stateDB())
	if err != nil || !ok {
		return nil
	}
	defer db.Close()
	return db.View(ctx, func(tx *store.Tx) error {
		repos, err := tx.ListRepos(ctx)
		for _, r := range repos {
			if settings, named := cfg.Repo(r.Name); err == nil && named {
				err = standingsOf(ctx, tx, w, cfg, &env.Repo{Remote: env.Remote{Name: r.Name, Settings: settings}, Row: r})
			}
		}
		return err
	})
}

func standingsOf(ctx context.Context, tx *store.Tx, w *world, cfg *config.Config, r *env.Repo) error {
	now := w.clock.Now()
	day, err := snapshot.Day(ctx, tx, cfg.Runtime.Budgets, now)
	if err != nil {
		return err
	}
	board, err := snapshot.Board(ctx, tx, cfg, r.Row, day, now, false)
	if err != nil {
		return err
	}
	outlook := plan.For(board).Outlooks(board)
	loader := snapshot.New(&env.Env{Config: cfg, Now: func() time.Time { return now }, Day: day})
	for _, i := range board.Items {
		if !i.State.Open() || i.HasPull() && i.Pull.State != work.PullOpen {
			continue // it is over; the pass that has the command says so before the next one does
		}
		v, item, err := loader.ForCommand(ctx, tx, r, i.Number)
		if err != nil || item.ID != i.ID {
			return err
		}
		v.Free = board.Free
		shown := plan.StandingOf(i, outlook(i), plan.Around{Now: now, Repo: r.Row})
		if said := answerOf(v, item); said != textOf(v, item, shown) {
			return fmt.Errorf("#%d: /mergexo status answers\n%s\nand status shows\n%s", i.Number, said, textOf(v, item, shown))
		}
	}
	return nil
}

// answerOf returns the lines of the answer to `/mergexo status` that say how an item stands.
func answerOf(v known.Snapshot, item known.Item) string {
	e := work.Event{ItemID: item.ID, Number: item.Number, Kind: work.EventCommand, CreatedAt: v.Now, SeenAt: v.Now}
	said, _ := plan.ForCommand(v, item, e, work.Command{Verb: work.VerbStatus})
	var lines []string
	for line := range strings.Lines(said.Said) {
		for _, of := range []string{"- state: ", "- waits for: ", "- next: "} {
			if strings.HasPrefix(line, of) {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// textOf returns the same lines of a standing.
func textOf(v known.Snapshot, item known.Item, s plan.Standing) string {
	at := v.Place(item)
	clean := func(said string) string { return v.Policy.Clean(strings.Join(strings.Fields(said), " ")) }
	return fmt.Sprintf("- state: `%s` since %s\n- waits for: %s\n- next: %s", s.State, work.UTC(s.Since), strings.TrimRight(clean(s.Says(at, false)), "."), clean(s.Next(at)))
}

func pairs(vars map[string]string) (all []string) {
	for name, value := range vars {
		all = append(all, name+"="+value)
	}
	return all
}
