package work

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Short abbreviates a commit's oid.
func Short(oid string) string {
	if len(oid) > 7 {
		return oid[:7]
	}
	return oid
}

// Count formats a number with its noun: "1 comment", "2 comments".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// JoinNames joins names: "a, b and c".
func JoinNames(names []string) string {
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	}
	var s strings.Builder
	s.WriteString(names[0])
	for _, n := range names[1 : len(names)-1] {
		s.WriteString(", " + n)
	}
	return s.String() + " and " + names[len(names)-1]
}

// Sentence adds a full stop to a text that does not end with punctuation.
func Sentence(s string) string {
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')' {
		return s + "."
	}
	return s
}

// Upper returns a text with its first letter in upper case.
func Upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// UTC formats a time as comments on GitHub show it.
func UTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// SizeText formats a number of bytes exactly, for people.
func SizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	unit := 0
	for n >= 1<<10 && n%(1<<10) == 0 && unit < len(units)-1 {
		n, unit = n>>10, unit+1
	}
	return fmt.Sprintf("%d %s", n, units[unit])
}

// IntervalText formats an interval: whole hours, whole minutes, or as Go does.
func IntervalText(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// Authors names who wrote the events, each once: "ann, bob" or "ann and 3 others".
func Authors(events []Event) string {
	var names []string
	for _, e := range events {
		if !slices.Contains(names, e.Author.Login) {
			names = append(names, e.Author.Login)
		}
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s and %s", names[0], Count(len(names)-1, "other"))
	}
	return JoinNames(names)
}

// Nearest returns the candidate that a misspelt name most likely means; empty: none is close.
func Nearest(name string, candidates []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with a neighbour to turn a
// into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// lockFiles are the names of the files in which package managers record exact versions, sorted.
var lockFiles = []string{
	".terraform.lock.hcl", "Cargo.lock", "Cartfile.resolved", "Chart.lock", "Gemfile.lock", "Gopkg.lock", "MODULE.bazel.lock", "Package.resolved", "Pipfile.lock", "Podfile.lock",
	"buildscript-gradle.lockfile", "bun.lock", "bun.lockb", "cabal.project.freeze", "composer.lock", "conan.lock", "conda-lock.yml", "deno.lock", "dub.selections.json", "flake.lock",
	"gems.locked", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "paket.lock", "pdm.lock", "pixi.lock",
	"pnpm-lock.yaml", "poetry.lock", "pubspec.lock", "pylock.toml", "rebar.lock", "renv.lock", "shard.lock", "stack.yaml.lock", "uv.lock", "yarn.lock",
}

// IsLockFile reports whether a path, with slashes, is the lock file of a known package manager.
func IsLockFile(name string) bool {
	_, found := slices.BinarySearch(lockFiles, path.Base(name))
	return found
}

// unquoted matches what a shell reads as one word without quotes.
var unquoted = lazy.Regexp(`^[A-Za-z0-9_@%+=:,./-]+$`)

// CommandLine returns a command as typed into a shell: each argument is one word.
func CommandLine(argv []string) string {
	words := make([]string, 0, len(argv))
	for _, arg := range argv {
		if !unquoted().MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
