package status

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/logs"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// oneTurn shows one turn, or a part of it.
func (s *showCmd) oneTurn(ctx context.Context, cfg *config.Config, story Story) error {
	turn, err := story.turn(s.turn, s.has)
	if err != nil {
		return err
	}
	switch {
	case s.prompt:
		return s.printPrompt(turn)
	case s.diff:
		return s.printDiff(ctx, cfg, story, turn)
	case s.log:
		return s.printLog(ctx, cfg, turn)
	case s.whole:
		return s.printTranscript(ctx, cfg, turn)
	}
	return story.printTurn(s.Output(), turn)
}

// printTranscript prints what the turn's agent was told, did and answered.
func (s *showCmd) printTranscript(ctx context.Context, cfg *config.Config, turn Turn) error {
	out := s.Output()
	heading := func(said string) { fmt.Fprintf(out.W, "%s\n", out.Bold("=== "+said)) }
	heading(fmt.Sprintf("%s was told", cmp.Or(turn.Agent, "the agent")))
	if err := s.printPrompt(turn); err != nil {
		return err
	}
	heading("and did")
	if err := s.printLog(ctx, cfg, turn); err != nil {
		return err
	}
	heading("and answered")
	return s.printText(indented(turn.answer)+"\n", nil)
}

// printLog prints the log lines of a turn that this machine has.
func (s *showCmd) printLog(ctx context.Context, cfg *config.Config, turn Turn) error {
	if turn.machine != "" && turn.Machine != cli.ThisMachine(cfg) {
		fmt.Fprintf(s.Env.Stderr, "this turn was worked on last on machine %s; the rest of its log is there\n", turn.machine)
	}
	return logs.OfTurn(ctx, s.App, cfg, turn.Key)
}

// has reports whether a turn has the requested part.
func (s *showCmd) has(turn Turn) bool {
	return (!s.diff || turn.Commit != "") && (!s.prompt && !s.whole || turn.asked())
}

// printPrompt prints the first prompt of the turn's agent.
func (s *showCmd) printPrompt(turn Turn) error {
	told := turn.prompt()
	if told == "" {
		return fmt.Errorf("turn %s has sent no prompt to an agent yet", work.Short(turn.Key))
	}
	return s.printText(told, nil)
}

// mostDiff limits the shown diff, in bytes.
const mostDiff = 16 << 20

// printDiff prints the turn's changes: its commit from the mirror.
func (s *showCmd) printDiff(ctx context.Context, cfg *config.Config, story Story, turn Turn) error {
	if turn.Commit == "" {
		return fmt.Errorf("turn %s (%s) has changed nothing%s", work.Short(turn.Key), turn.Kind.Words(), yet(turn))
	}
	m, err := s.Machine(cfg)
	if err != nil {
		return err
	}
	mirror, err := machine.ReadMirror(ctx, m, story.Repo)
	if err != nil {
		return err
	}
	if !mirror.Has(ctx, turn.Commit) {
		return fmt.Errorf("this machine does not have commit %s any more; see GitHub: %s", work.Short(turn.Commit), story.Item.address())
	}
	text, cut, err := git.DiffOfCommit(ctx, mirror, turn.Commit, mostDiff)
	if err != nil {
		return err
	}
	if err := s.printText(text, paintDiff); err != nil {
		return err
	}
	if cut {
		fmt.Fprintf(s.Env.Stderr, "only the first %d MiB are shown\n", mostDiff>>20)
	}
	return nil
}

func yet(turn Turn) string {
	if turn.EndedAt.IsZero() {
		return " yet"
	}
	return ""
}

// printText prints a text unchanged for a program, and escaped for a terminal.
func (s *showCmd) printText(text string, paint func(terminal.Output, string) string) error {
	out := s.Output()
	if !out.TTY {
		_, err := io.WriteString(out.Bare, text)
		return err
	}
	if paint != nil && out.Color {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(paint(out, strings.TrimSuffix(line, "\n")) + "\n")
		}
		text = b.String()
	}
	_, err := io.WriteString(out.W, text)
	return err
}

// paintDiff colours a line of a diff like git.
func paintDiff(out terminal.Output, line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return out.Bold(line)
	case strings.HasPrefix(line, "+"):
		return out.Paint("32", line)
	case strings.HasPrefix(line, "-"):
		return out.Paint("31", line)
	case strings.HasPrefix(line, "@@"):
		return out.Paint("36", line)
	}
	return line
}

// indented is an answer for people.
func indented(answer []byte) string {
	var b bytes.Buffer
	if len(answer) == 0 || json.Indent(&b, answer, "", "  ") != nil {
		return "nothing"
	}
	return b.String()
}
