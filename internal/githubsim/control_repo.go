package githubsim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// AddRepo makes a public repository with a first commit of files on main; with nil files it is
// empty. A missing owner is made as well.
func (h *Hub) AddRepo(fullName string, files map[string]string) (*Repo, error) {
	defer h.enter()()
	r, err := h.makeRepo(fullName, "main")
	if err != nil {
		return nil, err
	}
	if files != nil {
		if _, err := r.push(r.owner, r.defaultBranch, "", files, "Initial commit"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (h *Hub) makeRepo(fullName, branch string) (*Repo, error) {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(name, "/\\") {
		return nil, fmt.Errorf("make a repository: %q is not owner/name", fullName)
	}
	if r := h.repo(fullName); r != nil && strings.EqualFold(r.fullName(), fullName) {
		return nil, fmt.Errorf("make a repository: there is a %s already", fullName)
	}
	who := h.user(owner)
	if who == nil {
		who = h.makeUser(owner, "User")
		h.byToken["token-"+owner] = who
	}
	id, node := h.newID(kindRepo)
	dir := filepath.Join(h.dir, fmt.Sprintf("%s-%s-%d.git", owner, name, id))
	g, err := initGit(dir, branch)
	if err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	r := &Repo{
		hub: h, id: id, nodeID: node, place: int64(len(h.repos)), made: map[kind]int64{}, owner: who, name: name, defaultBranch: branch, created: h.now(), updated: h.now(), pushed: h.now(),
		perms: map[int64]string{}, checkRuns: map[string][]*checkRun{}, checkSuites: map[string][]*checkSuite{}, statuses: map[string][]*status{},
		mergeSettings: mergeSettings{protected: map[string]Rules{}}, git: g,
	}
	h.repos = append(h.repos, r)
	h.byName[strings.ToLower(fullName)] = r
	h.nodes[node] = r
	return r, nil
}

// AddFork makes a fork of the repository for another owner, with all its branches.
func (r *Repo) AddFork(owner string) (*Repo, error) {
	defer r.hub.enter()()
	f, err := r.hub.makeRepo(owner+"/"+r.name, r.defaultBranch)
	if err != nil {
		return nil, err
	}
	f.fork = r
	if _, err := f.git.run("fetch", "--quiet", r.git.dir, "+refs/heads/*:refs/heads/*"); err != nil {
		return nil, fmt.Errorf("fork %s: %w", r.fullName(), err)
	}
	f.git.invalidate()
	f.notice()
	return f, nil
}

// DeleteRepo deletes the repository. Pull requests that came from it have no head repository any
// more.
func (r *Repo) DeleteRepo() {
	defer r.hub.enter()()
	h := r.hub
	for _, o := range h.repos {
		for _, p := range o.pulls() {
			if p.headRepo == r {
				p.freeze()
				p.headRepo = nil
			}
		}
	}
	h.repos = without(h.repos, r)
	for name, o := range h.byName {
		if o == r {
			delete(h.byName, name)
		}
	}
	delete(h.nodes, r.nodeID)
}

// FullName is the repository's present owner/name.
func (r *Repo) FullName() string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.fullName()
}

// ID is the repository's database id.
func (r *Repo) ID() int64 { return r.id }

// NodeID is the repository's global id, which it keeps when it is renamed.
func (r *Repo) NodeID() string { return r.nodeID }

// GitDir is the path of the bare repository: what clients clone from and push to.
func (r *Repo) GitDir() string { return r.git.dir }

// SetPermission gives a user admin, maintain, write, triage or read; none takes it away.
func (r *Repo) SetPermission(login, level string) error {
	defer r.hub.enter()()
	u := r.hub.user(login)
	if u == nil {
		return unknownUser(login)
	}
	switch level {
	case "none":
		delete(r.perms, u.id)
	case "admin", "maintain", "write", "triage", "read":
		r.perms[u.id] = level
	default:
		return fmt.Errorf("set permission: there is no level %q", level)
	}
	return nil
}

// SetPrivate hides the repository from those without a permission, or shows it.
func (r *Repo) SetPrivate(private bool) {
	defer r.hub.enter()()
	r.private = private
}

// SetArchived archives the repository, or takes it out of the archive.
func (r *Repo) SetArchived(archived bool) {
	defer r.hub.enter()()
	r.archived = archived
	r.updated = r.hub.now()
}

// HideNode has GraphQL refuse the repository by its id, as GitHub does for a token that an
// organization does not let in, and says why; empty: it gives it again.
func (r *Repo) HideNode(why string) {
	defer r.hub.enter()()
	r.hidden = why
}

// Rename renames or transfers the repository to another owner/name; the old name redirects.
func (r *Repo) Rename(fullName string) error {
	defer r.hub.enter()()
	return r.hub.rename(r, fullName)
}

func (h *Hub) rename(r *Repo, fullName string) error {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok || name == "" {
		return fmt.Errorf("rename: %q is not owner/name", fullName)
	}
	if o := h.repo(fullName); o != nil && o != r {
		return fmt.Errorf("rename: there is a %s already", fullName)
	}
	who := h.user(owner)
	if who == nil {
		who = h.makeUser(owner, "User")
	}
	r.owner, r.name, r.updated = who, name, h.now()
	h.byName[strings.ToLower(fullName)] = r
	return nil
}

// RefusePushes makes pushes to a branch fail with a message of the remote's; "*" stands for
// anything. What GitHub says: "error: GH006: Protected branch update failed for refs/heads/main.",
// "Permission to o/r.git denied to me.".
func (r *Repo) RefusePushes(branch, message string) error {
	check := fmt.Sprintf("case \"$ref\" in refs/heads/%s) printf '%%s\\n' %s >&2; exit 1;; esac\n", branch, quoteShell(message))
	return r.addHook(check)
}

// RefuseWorkflows makes pushes that touch .github/workflows fail as they do with a token without
// the workflow scope.
func (r *Repo) RefuseWorkflows() error {
	const message = "refusing to allow a Personal Access Token to create or update workflow `.github/workflows` without `workflow` scope"
	check := "if [ -n \"$(git rev-list \"$new\" --not --all -- .github/workflows)\" ]; then printf '%s\\n' " + quoteShell(message) + " >&2; exit 1; fi\n"
	return r.addHook(check)
}

// AllowPushes takes all refusals of pushes back.
func (r *Repo) AllowPushes() error {
	if err := os.RemoveAll(filepath.Join(r.git.dir, "hooks")); err != nil {
		return fmt.Errorf("remove hooks: %w", err)
	}
	return nil
}

// addHook adds a check to the pre-receive hook.
func (r *Repo) addHook(check string) error {
	dir := filepath.Join(r.git.dir, "hooks")
	path := filepath.Join(dir, "pre-receive")
	const head, tail = "#!/bin/sh\nwhile read -r old new ref; do\n", "done\n"
	text, err := os.ReadFile(path)
	body := strings.TrimSuffix(strings.TrimPrefix(string(text), head), tail)
	if err == nil || os.IsNotExist(err) {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(head+body+check+tail), 0o755)
	}
	if err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	return nil
}

func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
