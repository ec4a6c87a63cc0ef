package prompts

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Unproven says why a change is not pushed yet.
type Unproven struct {
	Failure string // a sentence without its full stop: how the required tests failed, or what is missing
	Output  string // the end of what the tests printed; may be empty
}

// RepairTests is the prompt after a change that did not prove itself. The
// output is what programs of the repository printed: data, in a fence with a
// nonce that is made of it.
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
	}{kind, adapter, public.OneLine(u.Failure), f.some("output of the tests", secrets.Redact(u.Output))})
}
