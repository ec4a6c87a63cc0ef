package work

import "strings"

// The trailers of our commits.
const (
	TrailerTurn    = "Mergexo-Turn"
	TrailerHandled = "Mergexo-Handled"
	TrailerReview  = "Mergexo-Review" // the review that a commit answers: its reviewer and GitHub's id
)

// turnDigits is the length of a turn's key in a commit: 64 bits are unique.
const turnDigits = 16

// ShortTurn returns the form of a turn's key in commits.
func ShortTurn(key string) string { return key[:min(len(key), turnDigits)] }

// TrailersOf parses the trailers of a commit's message: the beginning of the key of the turn that
// made it (empty: none did), and the events that it handles.
func TrailersOf(message string) (turn string, handled []string) {
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, TrailerTurn+": "); ok {
			turn = v
		}
		if v, ok := strings.CutPrefix(line, TrailerHandled+": "); ok {
			handled = append(handled, v)
		}
	}
	return turn, handled
}
