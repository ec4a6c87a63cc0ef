package work

import (
	"fmt"
	"slices"
)

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
