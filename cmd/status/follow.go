package status

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// follow shows the board repeatedly until it is interrupted. An unreadable database is shown as such: a
// pass may be migrating it.
func (s *statusCmd) follow(ctx context.Context, cfg *config.Config) error {
	machine := s.machineNotes(ctx, cfg) // it starts programs: once is enough
	page := terminal.NewPage(s.Env.Bare)
	defer page.Close()
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		var b Board
		seen := false
		q, unread := s.query(cfg)
		if unread == nil {
			b, seen, unread = loadBoard(ctx, q)
			s.complete(ctx, cfg, b.Items)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := page.Draw(func(out terminal.Output) error {
			at := fmt.Sprintf("every %s, Ctrl-C ends it; %s", s.every, s.Now().Local().Format("15:04:05 MST"))
			fmt.Fprintf(out.W, "%s\n\n", out.Dim(at))
			if unread != nil {
				_, err := fmt.Fprintln(out.W, unread)
				return err
			}
			return s.print(out, b, q, seen, s.remarks(ctx, cfg, b, machine))
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
