// Package merge merges pull requests of ours beside the turns of a pass: it reads everything once
// more, stores the intent, asks GitHub, looks for the result, and compares the landed commit with
// the approved one. It sends only what the pass's plan chose.
package merge
