package brief

import (
	"encoding/json"
	"reflect"

	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// UpToDate reports whether a stored prompt speaks of this unfinished work, or of
// none where there is none, and of these surroundings: the operator may have
// named another agent since, which gives its answer in another form.
func UpToDate(stored []byte, partial *prompts.Partial, now prompts.Surroundings) bool {
	var req env.Request
	if err := json.Unmarshal(stored, &req); err != nil {
		return true // whoever reads it next says what is wrong
	}
	if !reflect.DeepEqual(req.Context.Surroundings, prompts.Prepare(prompts.Context{Surroundings: now}).Surroundings) {
		return false
	}
	if partial == nil || req.Context.Partial == nil {
		return partial == req.Context.Partial
	}
	return partial.Commit == req.Context.Partial.Commit
}
