// Package pulls takes in what became of pull requests: heads, checks, conflicts,
// reviews, rewritten branches and merged designs.
package pulls
