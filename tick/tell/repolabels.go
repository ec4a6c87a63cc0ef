package tell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// warnMissingLabels adds a warning if GitHub does not let us create labels, so that the operator
// does. It appears once, because the action is not tried again.
func (p *Notices) warnMissingLabels(rep *env.Report, r *env.Repo, a work.Action, err error) {
	if a.Kind != work.ActionRepoLabels || !mustDrop(a, err) {
		return
	}
	if refused, ok := errors.AsType[*transport.Error](err); ok {
		err = refused // without the wrapping, as the text names the operation
	}
	names := strings.Split(a.Target, ",")
	why := fmt.Sprintf("the labels %s cannot be made: %v; make those that are missing yourself: gh label create %s --repo %s, and so on",
		strings.Join(names, ", "), err, names[0], p.Config.Called(r.Name))
	rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Warnings = append(x.Warnings, why) })
}
