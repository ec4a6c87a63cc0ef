package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Typed returns a text of ours with its commands as they have to be typed here: with the --config that was given,
// because without it they speak of another installation. A command for another machine stands behind "there: ".
// Texts are completed where they leave: Output.Ours, JSON.Write and Telling. What is completed stays as it is, also
// if the config's path looks like a command.
func (a *App) Typed(text string) string {
	if a.ConfigPath == "" || !strings.Contains(text, ours) {
		return text
	}
	here := ours + "--config " + shellWord(a.ConfigPath) + " "
	known := regexp.QuoteMeta(here)
	if strings.Contains(a.ConfigPath, ours) {
		known += "|" + regexp.QuoteMeta(a.ConfigPath)
	}
	advised := regexp.MustCompile(known + `|(?:there: |/)?\b` + ours + `(?:` + strings.Join(a.Commands, "|") + `)\b`)
	return advised.ReplaceAllStringFunc(text, func(found string) string {
		command, is := strings.CutPrefix(found, ours)
		if !is || found == here || found == a.ConfigPath {
			return found
		}
		return here + command
	})
}

// ours begins each command of this program.
const ours = "gh mergexo "

// plainPath matches what a shell reads as it stands.
var plainPath = lazy.Regexp(`^[\w@%+=:,./-]+$`)

// shellWord quotes a word for a shell where it has to be.
func shellWord(s string) string {
	if plainPath().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Telling returns a writer to w of texts of ours, with their commands as in Typed.
func (a *App) Telling(w io.Writer) io.Writer { return telling{a, w} }

type telling struct {
	a  *App
	to io.Writer
}

func (t telling) Write(b []byte) (int, error) {
	if _, err := fmt.Fprint(t.to, t.a.Typed(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
