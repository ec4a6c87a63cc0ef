// Package env is what every part of a pass works with: the config, the store,
// the clock, the log; the repositories with what reaches them; a turn under way
// with its slot (Lease); folders and locks; and the report of what was done.
package env
