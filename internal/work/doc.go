// Package work has the nouns of gh mergexo and the rules that depend only on their arguments:
// flows, states, keys, tokens, markers, kinds of failure.
//
// It is the leaf of the import graph. It imports only the standard library, reads no clock and has
// no side effects.
package work
