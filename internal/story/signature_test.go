//go:build unix

package story

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// checkSignatures looks at every text of ours on GitHub at a story's end: right above the markers one
// line says that a program wrote it. Stories that set another line check theirs.
func checkSignatures(w *world) error {
	if text, err := os.ReadFile(w.configPath()); err != nil || strings.Contains(string(text), "disclosure =") {
		return nil
	}
	var whose string
	var body []string
	for line := range strings.Lines(w.hub.Dump() + "\n") {
		if text, ok := strings.CutPrefix(line, "    |"); ok {
			body = append(body, strings.TrimSpace(text))
			continue
		}
		if strings.Contains(whose, " by operator") { // people paste markers, too
			if err := signed(body); err != nil {
				return err
			}
		}
		whose, body = line, nil
	}
	return nil
}

var (
	ownMarker = regexp.MustCompile(`^<!-- mergexo-[a-z]+:.* -->$`)
	ownEnd    = regexp.MustCompile(`^<!-- mergexo-action:[0-9a-f]{64} -->$`)
	ownLine   = regexp.MustCompile(`^<sub>(gh mergexo( · .+)?|Written by .+ through \[gh mergexo\].+)</sub>$`)
)

// signed checks one text. One without our marker is somebody else's, and so is one whose token a story
// made up.
func signed(body []string) error {
	if len(body) == 0 || !ownEnd.MatchString(body[len(body)-1]) || strings.Contains(body[len(body)-1], ":5e5e5e") {
		return nil
	}
	text := slices.DeleteFunc(slices.Clone(body), func(line string) bool { return line == "" || ownMarker.MatchString(line) })
	said := 0
	for _, line := range text {
		if ownLine.MatchString(line) {
			said++
		}
	}
	if said != 1 || !ownLine.MatchString(text[len(text)-1]) {
		return fmt.Errorf("a text of ours does not say at its end, once, that a program wrote it:\n%s", strings.Join(body, "\n"))
	}
	return nil
}
