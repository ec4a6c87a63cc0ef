package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// follow shows the board again and again, until somebody ends it.
func (s *statusCmd) follow(ctx context.Context, cfg *config.Config) error {
	machine := machineNotes(ctx, cfg) // it starts programs: once is enough
	if !s.Output().TTY {
		return s.followLines(ctx, cfg, machine)
	}
	page := terminal.NewPage(s.Env.Bare)
	defer page.Close()
	return s.repeat(ctx, cfg, func(v view) error {
		return page.Draw(func(out terminal.Output) error {
			at := fmt.Sprintf("every %s, Ctrl-C ends it; %s", s.every, s.Now().Local().Format("15:04:05 MST"))
			fmt.Fprintf(out.W, "%s\n\n", out.Dim(at))
			if v.err != nil {
				_, err := fmt.Fprintln(out.W, v.err)
				return err
			}
			return s.print(out, v.board, v.query, v.seen, machine)
		})
	})
}

// followLines prints for a program the lines of items: all at first, and then each that
// has changed.
func (s *statusCmd) followLines(ctx context.Context, cfg *config.Config, machine []string) error {
	out, told, trouble := s.Output(), map[string]string{}, ""
	for _, line := range machine {
		fmt.Fprintln(s.Env.Stderr, line)
	}
	all := s.all
	s.all = true // what ends while somebody watches is a change
	return s.repeat(ctx, cfg, func(v view) error {
		if v.err != nil {
			if trouble != v.err.Error() {
				trouble = v.err.Error()
				fmt.Fprintln(s.Env.Stderr, trouble)
			}
			return nil
		}
		if !v.seen {
			return nil
		}
		defer func() { all, trouble = true, "" }()
		return v.board.PrintChanges(out, told, all)
	})
}

// view is what was seen at one moment.
type view struct {
	board status.Board
	query status.Query
	seen  bool  // a pass was made
	err   error // it could not be read: a pass may be changing its form, or somebody puts it away
}

// repeat reads the board and shows it, as often as was asked.
func (s *statusCmd) repeat(ctx context.Context, cfg *config.Config, show func(view) error) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		var v view
		if v.query, v.err = s.query(cfg); v.err == nil {
			v.board, v.seen, v.err = load(ctx, v.query)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := show(v); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
