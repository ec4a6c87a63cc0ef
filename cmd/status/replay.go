package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// NewReplayCmd makes the command prompts replay.
func NewReplayCmd(a *cli.App) *cobra.Command {
	s := &showCmd{App: a}
	var agentName string
	c := &cobra.Command{
		Use:   "replay <owner/name#number>",
		Short: "Run the prompt of a turn again, and compare",
		Long: `Run the prompt of an earlier turn once more, with its agent or another one, in a new
session and a checkout of the turn's commit that is removed at the end. Print the
answer, and how the changes differ from those of the turn: lines with - are the
turn's, those with + the replay's. Nothing is sent to GitHub. The agent's provider is
asked and paid; no budget counts it. The repository's setup and tests do not run.`,
		Example: `  $ gh mergexo prompts replay octo/repo#12
  $ gh mergexo prompts replay octo/repo#12 --turn 1a2b3c4d --agent claude`,
		Args: cli.Args(cli.Words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error { return s.replay(c.Context(), given[0], agentName) },
	}
	c.Flags().StringVar(&s.turn, "turn", "", "The turn with this `key` (default: the last one that asked its agent)")
	c.Flags().StringVar(&agentName, "agent", "", "Ask this `agent` of the config (default: the turn's)")
	return c
}

func (s *showCmd) replay(ctx context.Context, name, agentName string) error {
	cfg, which, err := s.Item(name)
	if err != nil {
		return err
	}
	story, found, _, err := ReadItem(ctx, s.App, cfg, which)
	if err != nil {
		return err
	}
	if !found {
		return UnknownItem(story, which.Called(cfg))
	}
	turn, err := story.turn(s.turn, Turn.asked)
	if err != nil {
		return err
	}
	var asked env.Request
	called := fmt.Sprintf("turn %s (%s)", work.Short(turn.Key), turn.Kind.Words())
	switch err := json.Unmarshal(turn.request, &asked); {
	case !turn.asked():
		return fmt.Errorf("%s has sent no prompt to an agent yet", called)
	case err != nil:
		return fmt.Errorf("decode the stored prompt: %w", err)
	case asked.Prompt == "" || asked.Context.Conflict != nil:
		return fmt.Errorf("%s cannot be replayed: it merged its base, or reviewed in several runs", called)
	}
	if agentName == "" {
		agentName = turn.Agent
	}
	ag, err := cli.AgentNamed(cfg, agentName)
	if err != nil {
		return err
	}
	m, err := s.Machine(cfg)
	if err != nil {
		return err
	}
	place, remove := m.PlaceToStart()
	defer remove()
	shown := s.Progress()
	shown.Spinner(fmt.Sprintf("agent %q works on the prompt of %s", ag.Name, called))
	done, err := m.Replay(ctx, ag, place, machine.Replay{Repo: story.Repo, Kind: turn.Kind, Prompt: asked.Prompt, Context: asked.Context, Head: turn.head, Commit: turn.Commit})
	shown.Close()
	if err != nil {
		return machine.Plain(err)
	}
	return s.printReplay(turn, done)
}

// printReplay prints the answers, and how the changes differ.
func (s *showCmd) printReplay(turn Turn, done machine.Replayed) error {
	out := s.Output()
	parts := []string{out.Bold("The turn answered") + "\n" + indented(turn.answer), out.Bold("The replay answered") + "\n" + indented(done.Answer)}
	switch {
	case done.Refused != "":
		parts = append(parts, "A pass would refuse what the replay changed: "+done.Refused)
	case turn.Kind.Mode() == work.ModeRead: // it changes nothing
	case done.Diff == "":
		parts = append(parts, "Both made the same changes.")
	default:
		parts = append(parts, out.Bold("From the turn's changes to the replay's"))
	}
	if _, err := io.WriteString(out.W, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return err
	}
	if err := s.printText(done.Diff, paintDiff); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Notes(out), "It used %s + %s tokens, %s\n", terminal.Tokens(done.Usage.InputTokens), terminal.Tokens(done.Usage.OutputTokens), spending.Cost(done.Usage.CostUSD, 0))
	return err
}

// indented is an answer for people.
func indented(answer []byte) string {
	var b bytes.Buffer
	if len(answer) == 0 || json.Indent(&b, answer, "", "  ") != nil {
		return "nothing"
	}
	return b.String()
}
