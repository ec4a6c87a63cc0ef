package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// createAgentRepository recreates the checkout's own .git for the agent. It borrows the mirror's
// objects, has the branch checked out and no remote. We never read it again.
func createAgentRepository(ctx context.Context, m *Mirror, r Restore) error {
	objects, err := filepath.Abs(m.path("objects"))
	if err != nil {
		return err
	}
	repo := filepath.Join(r.Dir, ".git")
	config, err := m.agentConfig()
	if err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	content := map[string]string{
		"HEAD":                    "ref: refs/heads/" + r.Branch + "\n",
		"config":                  config,
		"objects/info/alternates": filepath.ToSlash(objects) + "\n",
		"info/attributes":         rawAttributes,
		"refs/heads/" + r.Branch:  r.Commit + "\n",
	}
	if r.Base != "" {
		oid, ok, err := m.Head(ctx, r.Base)
		if err != nil {
			return err
		}
		if ok {
			content[trackingRefs+r.Base] = oid + "\n"
		}
	}
	if r.Merge != nil {
		content["MERGE_HEAD"] = r.Merge.Other + "\n"
		content["MERGE_MSG"] = "Merge " + r.Base + " into " + r.Branch + "\n"
		content["MERGE_MODE"] = ""
	}
	for _, dir := range []string{"objects/pack", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(repo, filepath.FromSlash(dir)), 0o755); err != nil {
			return fmt.Errorf("make the agent's repository: %w", err)
		}
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
	index := filepath.Join(repo, "index")
	if err := files.Copy(r.Index, index, 0o644); err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	if r.Merge == nil || len(r.Merge.stages) == 0 {
		return nil
	}
	return markConflicts(ctx, m, r, index)
}

// agentConfig returns the configuration of the agent's repository. It copies the file system
// settings that git detected when it made the mirror, lets the agent commit, and ignores the same
// files as we do.
func (m *Mirror) agentConfig() (string, error) {
	made, err := os.ReadFile(m.path("config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without one git uses its defaults
		return "", err
	}
	var b strings.Builder
	b.WriteString("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n")
	for line := range strings.Lines(string(made)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains([]string{"filemode", "symlinks", "ignorecase", "precomposeunicode"}, strings.ToLower(key)) {
			b.WriteString(line)
		}
	}
	g := m.git
	if file := g.operatorPath("core.excludesfile"); file != "" {
		fmt.Fprintf(&b, "\texcludesFile = %s\n", quoteConfig(file))
	}
	fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", quoteConfig(local.Name), quoteConfig(local.Email))
	b.WriteString("[commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	return b.String(), nil
}

func quoteConfig(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
