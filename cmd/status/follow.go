package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// follow shows the board repeatedly until it is interrupted.
func (s *statusCmd) follow(ctx context.Context, cfg *config.Config) error {
	machine := s.machineNotes(ctx, cfg) // it starts programs: once is enough
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
			return s.print(out, v.board, v.query, v.seen, s.remarks(ctx, cfg, v.board, machine))
		})
	})
}

// followLines prints the lines of items for a program: all at first, and then each that changes.
func (s *statusCmd) followLines(ctx context.Context, cfg *config.Config, machine []string) error {
	out, told, trouble := s.Output(), map[string]string{}, ""
	for _, line := range machine {
		fmt.Fprintln(s.Env.Stderr, line)
	}
	all := s.all
	s.all = true // an item that ends between two readings is a change
	passes := ""
	return s.repeat(ctx, cfg, func(v view) error {
		if now := strings.Join(s.passNotes(ctx, cfg, v.board, nil), ""); now != passes {
			passes = now
			if now != "" {
				fmt.Fprintln(s.Env.Stderr, now)
			}
		}
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
		return v.board.printChanges(out, told, all)
	})
}

// view is the board at one moment.
type view struct {
	board Board
	query Query
	seen  bool  // a pass has run
	err   error // unreadable: a pass may be migrating the database, or somebody removes it
}

// repeat reads and shows the board at the requested interval.
func (s *statusCmd) repeat(ctx context.Context, cfg *config.Config, show func(view) error) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		var v view
		if v.query, v.err = s.query(cfg); v.err == nil {
			v.board, v.seen, v.err = loadBoard(ctx, v.query)
			s.nameLacks(ctx, cfg, v.board.Items)
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
