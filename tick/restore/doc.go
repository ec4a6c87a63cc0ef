// Package restore prepares a turn's checkout: its base, its branch, its head,
// and what an earlier attempt left.
package restore
