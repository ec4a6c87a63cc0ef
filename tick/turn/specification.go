package turn

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

// maxSpecFiles limits the files of a specification that are read.
const maxSpecFiles = 30

// specify adds the repository's files that describe the work: the design document, and
// specification, plan and tasks below .specify. They are read from the base, as the branch may have
// changed them to fit its code.
func (p *briefs) specify(ctx context.Context, l *env.Lease, c *prompts.Context) error {
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

// specFiles returns the specification files. If some are in a folder with the issue's number, only
// those: the others are of other work.
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

// numbered reports whether a folder's name starts with the issue's number, such as 013-login.
func numbered(dir string, issue int) bool {
	digits, _, _ := strings.Cut(dir, "-")
	n, err := strconv.Atoi(digits)
	return err == nil && n == issue
}

// An implementation gets its design's non-goals and acceptance criteria as lists, found by their
// headings. The design prompt asks for certain headings; people use others, with numbers, in bold
// or underlined.

// Names of these sections, in the form that document.Plain returns.
var (
	nonGoals = []string{"nongoals", "nongoal", "outofscope", "notinscope"}
	criteria = []string{"acceptancecriteria", "acceptancecriterion", "acceptance"}
)
