//go:build unix

package story

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// source is a checkout with the real launcher and a small program.
type source struct {
	t   *testing.T
	dir string
}

func newSource(t *testing.T) source {
	t.Helper()
	s := source{t, t.TempDir()}
	launcher, err := os.ReadFile(filepath.Join("..", "..", "gh-mergexo"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("gh-mergexo", string(launcher))
	if err := os.Chmod(filepath.Join(s.dir, "gh-mergexo"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("go.mod", "module github.com/mergexo/gh-mergexo\n\ngo 1.26.1\n")
	s.write("go.sum", "")
	for _, dir := range []string{"tick", "store", "actions", "prompts", "internal"} {
		s.write(dir+"/doc.go", "package "+dir+"\n")
	}
	s.program("one")
	return s
}

func (s source) write(name, text string) {
	s.t.Helper()
	if err := put(filepath.Join(s.dir, name), text); err != nil {
		s.t.Fatal(err)
	}
}

// program makes the source of a program that prints a word and its arguments.
// The build has to find it newer than what it built before.
func (s source) program(word string) {
	s.t.Helper()
	s.write("cmd/gh-mergexo/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\""+word+
		"\\n\"); for _, a := range os.Args[1:] { os.Stdout.WriteString(a + \"\\n\") } }\n")
}

// run starts the launcher by a name and gives what it printed.
func (s source) run(env []string, name string, args ...string) (stdout, stderr string, code int) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = "/", env
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.t.Error(err)
		return "", "", -1
	}
	return out.String(), problems.String(), c.ProcessState.ExitCode()
}

// want runs the launcher and compares.
func (s source) want(env []string, name, stdout, stderrPart string, code int, args ...string) {
	s.t.Helper()
	out, problems, got := s.run(env, name, args...)
	quiet := stderrPart == "" && problems != ""
	if out != stdout || quiet || !strings.Contains(problems, stderrPart) || got != code {
		s.t.Errorf("%s: %q, %q, code %d; want %q, %q, code %d", filepath.Base(name), out, problems, got, stdout, stderrPart, code)
	}
}

// building is what the launcher says on any standard error before it builds: a build takes minutes,
// also where no terminal shows that something happens.
const building = "gh mergexo: building; the first time takes minutes"

func TestLauncherBuildsWhatIsMissingOrNewer(t *testing.T) {
	testhome.OnlyLong(t)
	s := newSource(t)
	launcher := filepath.Join(s.dir, "gh-mergexo")
	s.want(os.Environ(), launcher, "one\na b\n--x\n", building, 0, "a b", "--x")
	built := s.builtAt()
	s.want(os.Environ(), launcher, "one\n", "", 0)
	s.write("internal/doc_test.go", "package internal\n")
	if err := os.Chtimes(filepath.Join(s.dir, "internal"), time.Time{}, built.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.want(os.Environ(), launcher, "one\n", "", 0)
	if !s.builtAt().Equal(built) {
		t.Error("it was built again although nothing is newer but a test")
	}

	s.program("two")
	s.want(os.Environ(), launcher, "two\n", building, 0)

	links := t.TempDir()
	for from, to := range map[string]string{"absolute": launcher, "relative": "absolute", "folder": s.dir} {
		if err := os.Symlink(to, filepath.Join(links, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"absolute", "relative", "folder/gh-mergexo"} {
		s.want(os.Environ(), filepath.Join(links, name), "two\n", "", 0)
	}

	s.write("cmd/gh-mergexo/main.go", "package main\n\nfunc main() { nonsense }\n")
	s.want(os.Environ(), launcher, "", "undefined: nonsense", 1)
}

// The demo is a program of its own, built when somebody asks for it.
func TestLauncherBuildsTheDemo(t *testing.T) {
	testhome.OnlyLong(t)
	s := newSource(t)
	s.write("cmd/gh-mergexo-demo/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"simulated \" + os.Args[1] + \"\\n\") }\n")
	s.want(os.Environ(), filepath.Join(s.dir, "gh-mergexo"), "simulated demo\n", building, 0, "demo")
	s.want(os.Environ(), filepath.Join(s.dir, "gh-mergexo"), "simulated demo\n", "", 0, "demo")
	s.want(os.Environ(), filepath.Join(s.dir, "gh-mergexo"), "one\nstatus\ndemo\n", building, 0, "status", "demo")
}

func (s source) builtAt() time.Time {
	s.t.Helper()
	info, err := os.Stat(filepath.Join(s.dir, "bin", "gh-mergexo"))
	if err != nil {
		s.t.Fatal(err)
	}
	return info.ModTime()
}

func TestLauncherTwoAtOnce(t *testing.T) {
	testhome.OnlyLong(t)
	s := newSource(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { s.want(os.Environ(), filepath.Join(s.dir, "gh-mergexo"), "one\n", building, 0) })
	}
	all.Wait()
	left, err := os.ReadDir(filepath.Join(s.dir, "bin"))
	if err != nil || len(left) != 1 {
		t.Errorf("bin holds %v, %v; want the binary only", left, err)
	}
}

// TestLauncherUnderCron: no HOME, no PATH to speak of, no terminal.
func TestLauncherUnderCron(t *testing.T) {
	testhome.OnlyLong(t)
	s := newSource(t)
	launcher := filepath.Join(s.dir, "gh-mergexo")
	tools := t.TempDir() // everything that the launcher may call, but Go
	for _, name := range []string{"sh", "find", "mkdir", "rm", "mv", "touch", "cp", "cat", "id", "readlink"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	// Go is not where it is usually installed, either.
	text, err := os.ReadFile(launcher)
	if err != nil {
		t.Fatal(err)
	}
	hidden := strings.ReplaceAll(string(text), "/bin/go", "/bin/no-go")
	if err := os.WriteFile(launcher, []byte(hidden), 0o755); err != nil {
		t.Fatal(err)
	}
	bare := []string{"PATH=" + tools}
	s.want(bare, launcher, "", "Go 1.26.1 or newer is needed to build it, and go is not on PATH. Get it from https://go.dev/dl", 1)

	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	caches := []string{"PATH=" + tools + ":" + filepath.Dir(goTool)}
	s.want(caches, launcher, "one\n", building, 0)

	s.program("two")
	s.want(bare, launcher, "one\n", "running the old binary. Go 1.26.1 or newer", 0)
}
