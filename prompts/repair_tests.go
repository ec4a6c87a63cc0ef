package prompts

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Unproven is why a change is not pushed yet.
type Unproven struct {
	Failure string // a sentence without its full stop: how the required tests failed, or what is missing
	Output  string // the end of the tests' output; may be empty
}

// RepairTests returns the prompt after a change that failed the required tests. Their output comes
// from programs of the repository: it is data, in a fence with a nonce derived from it.
func (p *Pack) RepairTests(kind work.Kind, adapter, turn string, u Unproven) (string, error) {
	u.Output = cutHead(public.Visible(u.Output), maxLog)
	nonce, err := nonceOf(Context{Task: Task{TurnKey: turn}, Previous: u.Output})
	if err != nil {
		return "", err
	}
	f := fencer{nonce: nonce}
	return p.execute(partTests, struct {
		Kind            work.Kind
		Adapter         string
		Failure, Output string
	}{kind, adapter, public.OneLine(u.Failure), f.optional("output of the tests", secrets.Redact(u.Output))})
}
