package work

import "time"

// Stamp is a time in a sentence. It is UTC, as sentences go to GitHub, into JSON
// and logs too; the command line shows it to people as their own time.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
