// Package work holds the nouns of gh mergexo and the rules that need nothing
// but their arguments: flows, states, keys, tokens, markers, kinds of failure.
//
// It is the leaf of the import graph: it imports the standard library only,
// reads no clock and touches nothing outside.
package work
