package brief

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// maxSpecFiles bounds how many files of a specification are read.
const maxSpecFiles = 30

// specify adds what is to be made, where the repository says it in files: the design
// document, and specification, plan and tasks below .specify, as the base has them. The
// branch may have changed them to fit what it does.
func (p *Briefs) specify(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	m := l.Repo.Git()
	base := c.Task.BaseSHA
	if !m.Has(ctx, base) {
		return nil
	}
	all, err := m.ListFiles(ctx, base)
	if err != nil {
		return fmt.Errorf("look for a specification: %w", err)
	}
	paths := specFiles(all, l.Item.Number)
	if doc := c.Task.Document; doc != "" && c.Handoff == nil && slices.Contains(all, doc) {
		paths = append([]string{doc}, paths...)
	}
	for _, path := range paths[:min(len(paths), maxSpecFiles)] {
		text, ok, err := m.ReadFile(ctx, base, path)
		if err != nil {
			return fmt.Errorf("read the specification: %w", err)
		}
		if ok {
			c.Specification = append(c.Specification, prompts.SpecFile{Path: path, Text: string(text)})
		}
	}
	return nil
}

// specFiles picks the files that specify something. Where some stand in a folder that
// bears the issue's number, the others are of other work.
func specFiles(all []string, issue int) []string {
	var found, own []string
	for _, name := range all {
		file := path.Base(name)
		if !strings.HasPrefix(name, ".specify/") || file != "spec.md" && file != "plan.md" && file != "tasks.md" {
			continue
		}
		found = append(found, name)
		if slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return numbered(dir, issue) }) {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		return own
	}
	return found
}

// numbered reports whether a folder's name begins with a number, as 013-login does.
func numbered(dir string, issue int) bool {
	digits, _, _ := strings.Cut(dir, "-")
	n, err := strconv.Atoi(digits)
	return err == nil && n == issue
}
