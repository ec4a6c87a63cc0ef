package machine

import (
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Entry is a line of sandbox show.
type Entry struct {
	Path string `json:"path"` // the path on this machine
	How  string `json:"how"`  // read, write, hidden, link or private
	Why  string `json:"why"`  // which rule or key lets it in
}

// Advice is the remedy for a protection that hides nothing.
func (m *Machine) Advice(p sandbox.Protection, a config.Agent) string {
	if p.Hides() {
		return ""
	}
	return "; " + remedy(m.cfg.Sandbox(a))
}

// LetIn lists what an agent's turn can see in a checkout of the repository.
func (m *Machine) LetIn(p sandbox.Protection, repo work.Repo, a config.Agent) []Entry {
	program := programOf(m.env, a)
	path := a.Adapter
	if found, err := agent.Program(program); err == nil {
		path = found
	}
	job := work.Job{Dir: filepath.Join(m.dirs.CheckoutParent(repo), "worker-0"), For: work.RunsAgent}
	var views []Entry
	for _, e := range m.box(repo, a).Plan(p.Kind, path, job) {
		if !e.Alias() {
			views = append(views, Entry{e.Path, string(e.How), e.Why})
		}
	}
	return views
}
