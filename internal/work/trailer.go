package work

import "strings"

// The trailers of our commits.
const (
	TrailerTurn    = "Mergexo-Turn"
	TrailerHandled = "Mergexo-Handled"
	TrailerReview  = "Mergexo-Review" // the review that a commit answers: its reviewer, and its number on GitHub
)

// turnDigits is how much of a turn's key a commit names: 64 bits tell all turns apart.
const turnDigits = 16

// ShortTurn is how a commit names its turn.
func ShortTurn(key string) string { return key[:min(len(key), turnDigits)] }

// TrailersOf reads the trailers of a commit's message: how the key of the turn that
// made it begins, empty when none did, and the events that it was made for.
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
