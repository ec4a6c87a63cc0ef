package work

import (
	"fmt"
	"slices"
)

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
