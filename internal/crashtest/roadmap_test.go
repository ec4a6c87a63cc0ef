//go:build unix

package crashtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A merged roadmap of three nodes becomes sub-issues, edges and labels, and is revised by a person's
// push once the first node's work has begun. People look at what is killed in between: a node has at
// most one issue, and none begins before its edges are set.

// roadmapPath is the document of issue 1.
const roadmapPath = "docs/roadmap/1-faster-reads.md"

// planned is the answer of the agent that plans a roadmap.
func planned(title string) map[string]any {
	node := func(id string, needs ...string) map[string]any {
		return map[string]any{
			"id": id, "title": "The " + id + " part", "flow": "small_job", "issue": nil, "needs": append([]string{}, needs...),
			"goal": "The " + id + " part is done.", "scope": "One file.", "acceptance": "- It works.", "tests": "By a table.",
		}
	}
	return map[string]any{"title": title, "goal": "All of it.", "nodes": []any{node("first"), node("second", "first"), node("third", "first", "second")}}
}

// revises changes the text of the first node, takes the second away, and has the third need a new
// fourth. The document of a merged roadmap is read again after half an hour.
func revises(w *world) error {
	doc, _ := w.repo.File("main", roadmapPath)
	front, sections, _ := strings.Cut(doc, "\n## second\n")
	second, third, found := strings.Cut(sections, "\n## third\n")
	if !found {
		return fmt.Errorf("a roadmap without its three sections:\n%s", doc)
	}
	front = strings.NewReplacer(
		"id: second", "id: fourth", "The second part", "The fourth part", "[first, second]", "[first, fourth]",
		"The first part is done.", "The first part is done, and fast.",
	).Replace(front)
	doc = front + "\n## fourth\n" + strings.ReplaceAll(second, "second", "fourth") + "\n## third\n" + third
	if _, err := w.repo.PushCommit("main", "ann", map[string]string{roadmapPath: doc}, "Plan a fourth part"); err != nil {
		return err
	}
	w.later.Add(31 * 60)
	return nil
}

// minutesPass has all be due again that is read every half hour, and the table of a roadmap, which is
// made at most every few minutes.
func minutesPass(w *world) error {
	w.later.Add(40 * 60)
	return nil
}

var (
	partTitles  = regexp.MustCompile(`^The (\w+) part$`)
	labelEvents = regexp.MustCompile(`\b(labelled[: ])\d+(?::[0-9a-f]{16})?`)
	nodeMarks   = regexp.MustCompile(`(?m)^ +\| <!-- mergexo-nodes:.*\n`) // they have numbers
	relations   = regexp.MustCompile(`(?m)^  (?:blocked by|sub-issues) .*`)
	twoParts    = regexp.MustCompile(`#<\w+> and #<\w+>`)
	tableRows   = regexp.MustCompile(`(?m)(?:^    \| \| #.*\n)+`)
)

// byTitle calls the parts of a roadmap by their titles: of two that are made side by side either may
// come first.
func (w *world) byTitle(text string) string {
	text = nodeMarks.ReplaceAllString(labelEvents.ReplaceAllString(text, "${1}…"), "")
	for _, is := range w.repo.Issues() {
		if part := partTitles.FindStringSubmatch(is.Title); part != nil {
			text = regexp.MustCompile(fmt.Sprintf(`(#|issue |event |item |agent/small/|work/|andled: ?|"issue":)%d\b`, is.Number)).ReplaceAllString(text, "$1<"+part[1]+">")
			text = regexp.MustCompile(fmt.Sprintf(`(?m)^(node .*) %d$`, is.Number)).ReplaceAllString(text, "$1 <"+part[1]+">")
		}
	}
	text = relations.ReplaceAllStringFunc(text, func(line string) string {
		words := strings.Fields(strings.ReplaceAll(line, ",", ""))
		slices.Sort(words)
		return strings.Join(words, " ")
	})
	return tableRows.ReplaceAllStringFunc(text, func(rows string) string {
		rows = twoParts.ReplaceAllStringFunc(rows, func(two string) string {
			words := strings.Split(two, " and ")
			slices.Sort(words)
			return strings.Join(words, " and ")
		})
		lines := slices.Collect(strings.Lines(rows))
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
}
