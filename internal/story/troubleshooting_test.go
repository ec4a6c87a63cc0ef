//go:build unix

package story

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Whoever has a code finds it: every reason, every check of doctor and every error is on the page, each in one place of
// its part.
func TestTroubleshootingHasEveryCode(t *testing.T) {
	text := pages(t)["docs/troubleshooting.md"]
	var known []string
	for _, k := range cli.ErrorKinds() {
		known = append(known, string(k.Code))
	}
	for _, k := range explain.Kinds() {
		known = append(known, string(k))
	}
	for _, c := range doctor.Codes() {
		known = append(known, string(c.Code))
	}
	named := codes(text)
	for _, code := range known {
		if !slices.Contains(named, code) {
			t.Errorf("docs/troubleshooting.md does not have %s", code)
		}
	}
	if len(known) < 150 {
		t.Errorf("%d codes were looked for, which cannot be all", len(known))
	}
}
