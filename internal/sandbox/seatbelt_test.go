//go:build unix

package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The profile for macOS, written from its documentation and not run there.
func TestSeatbeltProfile(t *testing.T) {
	w := elsewhere(t) // temporary folders are shared there
	w.box.Readable = []string{filepath.Join(w.home, ".profile")}
	argv, writable, err := Tool{Kind: work.SandboxMac, path: "/usr/bin/sandbox-exec", secrets: systemSecrets}.Wrap(w.box, []string{"/bin/agent", "-x"}, w.job)
	if err != nil {
		t.Fatal(err)
	}
	if argv[0] != "/usr/bin/sandbox-exec" || argv[1] != "-p" || !slices.Equal(argv[3:], []string{"/bin/agent", "-x"}) {
		t.Fatalf("argv = %q", argv)
	}
	text := argv[2]
	at := -1
	for _, want := range []string{ // in this order: the last matching rule wins
		"(version 1)\n(allow default)\n(deny file-write*)\n",
		`(deny network-outbound (remote unix-socket))`,
		`(deny file-read* (subpath "/Users"))`,
		`(deny file-read* (subpath "/Volumes"))`,
		`(deny file-read* (subpath "/private/var"))`,
		`(allow file-read* (subpath "/private/var/select"))`,
		`(allow file-read-metadata (literal "` + newLayout(Box{}, "").real(w.home) + `"))`,
		`(allow file-read* file-write* (subpath "` + newLayout(Box{}, "").real(w.home) + `/.codex"))`,
		`(allow file-read* (literal "` + newLayout(Box{}, "").real(w.home) + `/.profile"))`,
		`(allow file-read* (subpath "` + newLayout(Box{}, "").real(w.state) + `/agents"))`,
		`(allow file-read* file-write* (subpath "` + newLayout(Box{}, "").real(w.dir) + `"))`,
		`(allow file-read* (subpath "` + newLayout(Box{}, "").real(w.state) + `/repos/o/r.git/objects"))`,
	} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("%s: at %d, after %d in:\n%s", want, i, at, text)
		}
		at = i
	}
	for line := range strings.SplitSeq(text, "\n") { // no rule opens the home or a folder that contains it
		if strings.HasPrefix(line, "(allow file-read* ") && strings.HasSuffix(line, `(subpath "`+newLayout(Box{}, "").real(w.home)+`"))`) {
			t.Error(line)
		}
	}
	if strings.Count(text, "(") != strings.Count(text, ")") {
		t.Error("unbalanced")
	}
	if len(writable) > 0 {
		t.Errorf("the home is closed, and %q are told to be writable", writable)
	}
}
