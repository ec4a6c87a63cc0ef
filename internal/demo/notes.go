package demo

import (
	"fmt"
	"os"
	"path/filepath"
)

// storyNotes say how to look around in what the story left.
func storyNotes(d *demo) string {
	return fmt.Sprintf(`# What gh mergexo demo left here

The simulated GitHub is gone; what it and gh mergexo kept is all here:

    config.toml   the configuration of the passes
    state/        the state folder: state.db, logs/, repos/ (mirrors), checkouts/
    github/       the repository as it was on GitHub
    gh/, home/    gh's configuration and the home folder of the passes
    agent.log     a line for each run of the agent
    program/      the program as it is on main

Look around:

    %[1]s status --all --config %[2]s/config.toml
    %[1]s show %[4]d --config %[2]s/config.toml    # the bug, its comments, the pass that was killed
    %[1]s show %[5]d --config %[2]s/config.toml    # an implementation: its design, its review, its merge
    %[1]s show --graph %[6]d --config %[2]s/config.toml # the roadmap: its issues, their pull requests
    git --git-dir %[3]s log --graph --oneline --all
    git --git-dir %[3]s show main:greet.sh
    sqlite3 %[2]s/state/state.db "select kind, step, runs, reason from turns"
    sqlite3 %[2]s/state/state.db "select kind, state, sends, result_url from actions order by id"

Every commit of a pass names the turn that made it:

    git --git-dir %[3]s log --format='%%h %%s%%n%%(trailers:key=Mergexo-Turn)' main
`, d.self, d.dir, d.repo.GitDir(), bugIssue, d.pulls[designIssue], d.roadmap)
}

// leave says in the kept folder how to look around.
func leave(d *demo, notes string) error {
	if err := os.WriteFile(filepath.Join(d.dir, "NOTES.md"), []byte(notes), 0o644); err != nil {
		return fmt.Errorf("write the notes: %w", err)
	}
	return nil
}

// sayKept prints the path of the demo's folder, which stays.
func sayKept(d *demo) {
	d.say("\nAll of it is in %s; NOTES.md there says how to look around.", d.dir)
	d.sayNext()
}

// sayNext prints what to type after the demo.
func (d *demo) sayNext() {
	d.say("\nNext:\n")
	d.columns([][]string{{"gh extension install .", "in a clone, once gh is logged in: then gh mergexo is this program"}, {"gh mergexo demo --serve", "try gh and gh mergexo by hand on a simulated GitHub"}, {"gh mergexo init", "set up a repository of yours, in a checkout of it"}})
}
