package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// giveRepository makes the checkout's own .git again, for the agent's use: it
// borrows the mirror's objects, stands on the branch, and has no remote. What
// becomes of it does not matter to us.
func (m *Mirror) giveRepository(ctx context.Context, r Restore) error {
	c := m.Git().Call("init", "--quiet", "--template=", "--initial-branch="+r.Branch, r.Dir)
	if _, err := c.Run(ctx); err != nil {
		return err
	}
	objects, err := filepath.Abs(m.Path("objects"))
	if err != nil {
		return err
	}
	repo := filepath.Join(r.Dir, ".git")
	content := map[string]string{
		"objects/info/alternates": filepath.ToSlash(objects) + "\n",
		"info/attributes":         mirror.RawAttributes,
		"refs/heads/" + r.Branch:  r.Commit + "\n",
	}
	if r.Base != "" {
		oid, ok, err := m.Head(ctx, r.Base)
		if err != nil {
			return err
		}
		if ok {
			content[mirror.Tracking+r.Base] = oid + "\n"
		}
	}
	if r.Merge != nil {
		content["MERGE_HEAD"] = r.Merge.Other + "\n"
		content["MERGE_MSG"] = "Merge " + r.Base + " into " + r.Branch + "\n"
		content["MERGE_MODE"] = ""
	}
	for name, text := range content {
		path := filepath.Join(repo, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the agent's repository: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("make the agent's repository: %w", err)
		}
	}
	if err := agentConfig(m.Git(), filepath.Join(repo, "config")); err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	index := filepath.Join(repo, "index")
	if err := files.Copy(r.Index, index, 0o644); err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	if r.Merge == nil || len(r.Merge.stages) == 0 {
		return nil
	}
	return m.unmerge(ctx, r, index)
}

// agentConfig adds to what init wrote: the agent may commit, as it likes, and
// ignores what we ignore.
func agentConfig(g *plumbing.Git, path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", quoteConfig(g.Options().Identity.Name), quoteConfig(g.Options().Identity.Email))
	b.WriteString("[commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	if file := g.OperatorPath("core.excludesfile"); file != "" {
		fmt.Fprintf(&b, "[core]\n\texcludesFile = %s\n", quoteConfig(file))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(b.String()); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func quoteConfig(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
