package config

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// tests reads what decides about checks and tests.
func (p *parser) tests(t *document.Table, r *Repo) {
	r.Checks = work.ChecksPolicy(t.Text("checks", string(work.ChecksComplete)))
	switch r.Checks {
	case work.ChecksNever, work.ChecksFirst, work.ChecksComplete:
	default:
		t.Bad("checks", `want "never", "first_failure" or "all_complete", got %q`, r.Checks)
	}
	r.RequiredTests = t.Texts("required_tests")
	r.TestTimeout = t.Duration("test_timeout", 15*time.Minute, time.Second)
	if len(r.RequiredTests) > 0 {
		p.checkTests(t, r.RequiredTests)
	}
	written := t.Text("test_file_regex", "")
	if written == "" {
		return
	}
	var err error
	if r.TestFiles, err = regexp.Compile(written); err != nil {
		t.Bad("test_file_regex", "%q is no regular expression: %s", written, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

func (p *parser) checkTests(t *document.Table, argv []string) {
	program := environ.ExpandHome(argv[0], p.env.Home)
	switch {
	case strings.TrimSpace(program) == "":
		t.Bad("required_tests", `its program is empty; write the program and its arguments, such as ["make", "test"]`)
	case strings.ContainsAny(program, " \t") && len(argv) == 1 && !filepath.IsAbs(program):
		t.Bad("required_tests", `%q is one word; write program and arguments apart, such as ["make", "test"]`, argv[0])
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			t.Bad("required_tests", "%q holds a NUL character", arg)
		}
	}
	argv[0] = program
}
