//go:build unix

package story

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// An operator types what the page about several machines shows, on two of them and with an empty database, and
// then returns to one. No work is lost, and nothing is done twice.
func TestDocsRunOnSeveralMachines(t *testing.T) {
	if !testpg.Set() {
		t.Skip("machines share a database on a server: run it by script/postgres")
	}
	ctx := context.WithoutCancel(t.Context())
	url, drop, err := testpg.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(ctx); err != nil {
			t.Error(err)
		}
	})
	page := pages(t)["docs/fleet.md"]
	typed := func(heading string) string {
		t.Helper()
		_, section, found := strings.Cut(page, "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		story := strings.Builder{}
		for _, block := range fence.FindAllStringSubmatch(section, -1) {
			for line := range strings.Lines(block[2]) {
				line = strings.TrimSpace(line)
				if !ours.MatchString(line) {
					continue // what installs something, and files that this machine does not have
				}
				line = regexp.MustCompile(`'postgres://[^']*'`).ReplaceAllString(line, "'"+url+"'")
				fmt.Fprintf(&story, "exec sh -c '%s'\n", strings.ReplaceAll(inStory(line), "'", "''"))
				if strings.Contains(line, "move --to") { // then the page says what to write into the config
					to := url
					if !strings.Contains(line, "postgres://") {
						to = ""
					}
					fmt.Fprintf(&story, "config runtime database '%s'\n", to)
				}
			}
		}
		if !found || story.Len() == 0 {
			t.Fatalf("the page has no commands below %q", heading)
		}
		return story.String()
	}
	dir := t.TempDir()
	writeStory(t, dir, "several machines", `config runtime machine build1
`+typed("The first machine")+`stdout '^build1\t'
! stdout '^build2\t'
config runtime machine build2
config runtime state_dir $WORK/two
`+typed("Each further machine")+`stdout '^build1\t'
exec gh-mergexo tick
exec gh-mergexo machines
stdout '^build2\t'
config runtime machine build1
config runtime state_dir $STATE
exec gh-mergexo machines forget build2
exec rm $STATE/state.db
`+typed("Back to one machine")+`exists $STATE/state.db
exec gh-mergexo resume --all
exec gh-mergexo tick
exec gh-mergexo show 'octo/app#1'
stdout 'bugfix_start'
hub pulls
stdout -count=1 'Crash on start'
`)
	p := params(t)
	p.Dir, p.WorkdirRoot, p.UpdateScripts = dir, testhome.Memory(t), false
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		if err := setup(e); err != nil {
			return err
		}
		w := e.Values[worldKey{}].(*world)
		w.config.set("runtime", "database", "") // the story begins with a file
		return w.config.write()
	}
	testscript.Run(t, p)
}
