// Package nearest finds the name that a misspelt one most likely meant.
package nearest
