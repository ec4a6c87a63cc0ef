package config

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// testFiles reads which paths are tests.
func testFiles(t *Table) *regexp.Regexp {
	written := t.text("test_file_regex", "")
	if written == "" {
		return nil
	}
	form, err := regexp.Compile(written)
	if err != nil {
		t.bad("test_file_regex", "%q is no regular expression: %s", written, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return form
}

func patternOf(form *regexp.Regexp) string {
	if form == nil {
		return ""
	}
	return form.String()
}

// checkTests checks the keys about checks and tests.
func (p *parser) checkTests(t *Table, r Repo) {
	switch r.Checks {
	case work.ChecksNever, work.ChecksFirst, work.ChecksComplete:
	default:
		t.bad("checks", `want "never", "first_failure" or "all_complete", got %q`, r.Checks)
	}
	argv := r.RequiredTests
	if len(argv) == 0 {
		return
	}
	program := environ.ExpandHome(argv[0], p.env.Home)
	switch {
	case strings.TrimSpace(program) == "":
		t.bad("required_tests", `its program is empty; write the program and its arguments, such as ["make", "test"]`)
	case strings.ContainsAny(program, " \t") && len(argv) == 1 && !filepath.IsAbs(program):
		t.bad("required_tests", `%q is one word; write program and arguments apart, such as ["make", "test"]`, argv[0])
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			t.bad("required_tests", "%q holds a NUL character", arg)
		}
	}
	argv[0] = program
}
