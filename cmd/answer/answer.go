// Package answer is the tool by which an agent gives its answer: an MCP server over standard input
// and output, started by the agent's own program in the agent's sandbox.
package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/about"
	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/prompts"
)

// NewCmd makes the command that serves the tool.
func NewCmd(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    "answer-tool <folder>",
		Short:  "The tool by which agents answer, an MCP server",
		Hidden: true,
		Args:   cli.Args(cli.Words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error {
			s, err := server(given[0], about.Version(a.Env.Version))
			if err != nil {
				return err
			}
			return Serve(c.Context(), s, a.Env.Stdin, a.Env.Bare)
		},
	}
}

// server makes the server of a turn, whose task is in the folder that gets the answer.
func server(dir, version string) (*mcp.Server, error) {
	task, err := agent.ReadTask(dir)
	if err != nil {
		return nil, err
	}
	var about prompts.Context
	if err := json.Unmarshal(task.Context, &about); err != nil {
		return nil, fmt.Errorf("read the task: %w", err)
	}
	schema := prompts.Schema(task.Kind, about)
	if schema == nil {
		return nil, fmt.Errorf("there is no answer of kind %q", task.Kind)
	}
	asked := prompts.AskedOf(task.Kind, about)
	no := false
	s := mcp.NewServer(&mcp.Implementation{Name: agent.ServerName, Version: version}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	s.AddTool(&mcp.Tool{
		Name: agent.ToolName, InputSchema: schema,
		Description: "Gives your answer to the task. Call it when everything else is done. It refuses an answer that cannot be used and says why; call it again then, with the whole answer. The last accepted call counts.",
		// It changes nothing that the agent works with, so no program has to ask a person.
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}, func(_ context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := call.Params.Arguments
		_, wrong := prompts.Decode(task.Kind, raw, asked)
		if len(wrong) == 0 {
			wrong = prompts.Leaks(nil, raw) // secrets that only the pass knows are looked for there
		}
		if len(wrong) > 0 {
			return says("Refused:\n- "+strings.Join(prompts.Quotable(wrong), "\n- ")+"\nCall the tool again with the whole answer.", true), nil
		}
		if err := agent.LeaveAnswer(dir, raw); err != nil {
			return says("Your answer is valid, but could not be kept. Give it as your final message.", true), nil //nolint:nilerr // the model is told, and has another way
		}
		return says("Accepted. Nothing else is needed: end now.", false), nil
	})
	return s, nil
}

func says(text string, refused bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: refused, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// Serve serves until the program closes the input.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: open{out}})
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// open is an output that the server leaves open.
type open struct{ io.Writer }

func (open) Close() error { return nil }
