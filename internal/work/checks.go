package work

import (
	"slices"
	"strings"
)

// CheckNames returns the names in the body of an event about checks.
func CheckNames(e Event) []string {
	var names []string
	for line := range strings.Lines(e.Body) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// Findings returns the names of the red checks in events, sorted.
func Findings(events []Event) []string {
	var names []string
	for _, e := range events {
		if e.Kind == EventCheck {
			names = append(names, CheckNames(e)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
