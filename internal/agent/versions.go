package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Releases are the known versions of a program. Other versions are used too, but status shows them.
type Releases struct {
	Least  string   // older ones lack something that a turn needs
	Worked []string // all tests of the adapter passed with these, oldest first; empty: unknown. Others up to the last one's minor version count as tried
}

// versionTime limits how long a program may take to print its version.
const versionTime = 5 * time.Second

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`) })

// Version asks a program for its version, in a folder of its own and in the sandbox if the spec has
// one. It is empty if the adapter has no known releases or the program does not print one.
func Version(ctx context.Context, s Spec, dir string) string {
	if len(s.Adapter.Releases.Worked) == 0 {
		return ""
	}
	version, err := Start(ctx, s, dir)
	if err != nil {
		return ""
	}
	return version
}

// Start starts a program as a turn does, only to print its version. A program without known releases
// might do its work instead: then true is started where the program would be.
func Start(ctx context.Context, s Spec, dir string) (version string, err error) {
	s = s.redacting()
	command := s.CommandLine()
	path, err := s.ProgramPath(command[0])
	if err != nil {
		return "", err
	}
	known := len(s.Adapter.Releases.Worked) > 0
	line, err := s.wrapped(slices.Concat([]string{path}, command[1:], []string{"--version"}), Request{Dir: dir}, work.RunsTests) // tests see no login
	if err == nil && !known {
		if path, err = proc.LookPath("true", PathOf(s.Environ)); err != nil {
			return "", nil //nolint:nilerr // nothing harmless can be started
		}
		line, err = s.wrapped([]string{path}, Request{Dir: dir}, work.RunsTests)
	}
	if err != nil {
		return "", err
	}
	res, err := proc.Run(ctx, proc.Cmd{
		Path: line[0], Args: line[1:], Dir: dir, Env: append(slices.Clone(s.Environ), s.Adapter.Env...),
		Wall: versionTime, MaxOutput: 64 << 10, DieWithParent: true,
	})
	switch {
	case err != nil:
		return "", err
	case res.TimedOut != proc.NoLimit:
		return "", fmt.Errorf("%s --version did not end within %s", command[0], versionTime)
	case !known && res.Code == 0:
		return "", nil
	}
	return s.readVersion(path, res)
}

// readVersion returns the version that a program printed. One that failed, or printed none, is not the agent's.
func (s Spec) readVersion(program string, res proc.Result) (string, error) {
	version := versionNumber().FindString(string(res.Stdout))
	if res.Code != 0 || version == "" {
		return "", s.notStarted(program, res)
	}
	return version, nil
}

// Drift describes in one line that an agent's version is too old, with the command that updates it,
// or that it is untested. Empty: no remark.
func Drift(s Spec, version string) string {
	said := s.Adapter.Releases.drift(version, s.Adapter.Install)
	if said == "" {
		return ""
	}
	return fmt.Sprintf("agent %q: %s", s.Name, said)
}

// CheckVersion starts the program where the agent works, only to print its version, and refuses one
// that lacks something that a turn needs. env is the adapter's part of the environment.
func (s Spec) CheckVersion(ctx context.Context, r Request, env []string) error {
	command := s.CommandLine()
	program, err := s.ProgramPath(command[0])
	if err != nil {
		return err
	}
	argv := slices.Concat([]string{program}, command[1:], []string{"--version"})
	res, err := s.Launch(ctx, Within(r), Launch{Argv: argv, Env: env, MaxOutput: CheckOutput})
	if err != nil {
		return s.Checked(res, err)
	}
	version, err := s.readVersion(program, res)
	if err == nil && TooOld(s, version) {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentBroken, Who: s.Name, Text: version, Advice: s.update()}}
	}
	return err
}

// notStarted is the error of a program that did not do it when it was only to print its version.
func (s Spec) notStarted(program string, res proc.Result) error {
	if s.missingInside(res) {
		return s.notInside(s.CommandLine()[0], res)
	}
	if name := proc.Interpreter(program); res.Code == codeNotFound && name != "" {
		if _, err := proc.LookPath(name, PathOf(s.Environ)); err != nil {
			return &work.BlockedError{Reason: work.Reason{Kind: work.WhyNotOnPath, Who: s.Name, Name: name, Local: "The program is " + program}}
		}
	}
	said := fmt.Sprintf("`%s --version` ended with exit code %d", program, res.Code)
	if res.Code == 0 {
		said = fmt.Sprintf("`%s --version` printed no version", program)
	}
	if words := lastWords(s.Redact(strings.ToValidUTF8(cmp.Or(strings.TrimSpace(string(res.Stderr)), string(res.Stdout)), "\uFFFD"))); words != "" {
		said += ": " + words
	}
	if last := LastLine(string(res.Stderr)); strings.HasPrefix(last, "bwrap: ") || strings.HasPrefix(last, "sandbox-exec: ") {
		return s.unable(said, nil)
	}
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentBroken, Who: s.Name, Advice: s.reinstall(), Local: said}}
}

// reinstall says what to do about a program that is there and does not start. npm leaves out the
// install scripts of a package if it is configured to, and with them the program itself.
func (s Spec) reinstall() string {
	how := "correct command of [agents." + s.Name + "]"
	switch install := s.Adapter.Install; {
	case strings.HasPrefix(install, "npm "):
		how = "run `" + install + " --ignore-scripts=false` to install it again, with its install scripts"
	case install != "":
		how = "run `" + install + "` to install it again"
	}
	if s.Wrap != nil {
		how += "; if it starts outside of the sandbox, add the folder that it lacks to readable of [runtime]"
	}
	return how
}

// update says how to get a version that is new enough.
func (s Spec) update() string {
	return fmt.Sprintf("run `%s@latest` to get %s or later", s.Adapter.Install, s.Adapter.Releases.Least)
}

// TooOld reports a version that lacks something that a turn needs.
func TooOld(s Spec, version string) bool {
	r := s.Adapter.Releases
	return version != "" && r.Least != "" && older(version, r.Least)
}

// drift returns the remark about a version outside the range of the tested ones; empty: there is none, or the
// version is not known.
// Within a minor version nothing changes that a turn would notice.
func (r Releases) drift(version, install string) string {
	switch {
	case len(r.Worked) == 0 || version == "":
		return ""
	case older(version, r.Least):
		return fmt.Sprintf("version %s of its program is too old; run `%s@latest` to get %s or later", version, install, r.Least)
	}
	if slices.Compare(minor(version), minor(r.Worked[len(r.Worked)-1])) <= 0 {
		return ""
	}
	return fmt.Sprintf("version %s of its program is newer than those tested with gh mergexo; %s", version, r.tried())
}

// WithDrift adds the remark about the program's version to an unexplained failure: that may be the
// reason.
func (s Spec) WithDrift(ctx context.Context, r Request, err error) error {
	failed, ok := errors.AsType[*FailedError](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	version := Version(ctx, s, r.Dir)
	s.removeRunFolders(r, work.RunsTests)
	if version != "" {
		failed.Drift = s.Adapter.Releases.drift(version, s.Adapter.Install)
	}
	return err
}

func (r Releases) tried() string {
	return fmt.Sprintf("%s are known to work", strings.Join(r.Worked, " and "))
}

// older compares versions by their numbers. A suffix like "-alpha.1" marks an unfinished version,
// which is older.
func older(a, b string) bool {
	numbersA, restA := splitVersion(a)
	numbersB, restB := splitVersion(b)
	if c := slices.Compare(numbersA, numbersB); c != 0 {
		return c < 0
	}
	return restA != "" && restB == "" && cmp.Compare(restA[0], '-') == 0
}

// minor returns the numbers of a version without the last one.
func minor(version string) []int {
	numbers, _ := splitVersion(version)
	return numbers[:max(0, min(len(numbers), 2))]
}

func splitVersion(v string) (numbers []int, rest string) {
	end := strings.IndexFunc(v, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(v)
	}
	for part := range strings.SplitSeq(strings.Trim(v[:end], "."), ".") {
		n, _ := strconv.Atoi(part) // a version's part is a number, or counts as 0
		numbers = append(numbers, n)
	}
	return numbers, v[end:]
}
