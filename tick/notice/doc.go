// Package notice shows the state of work items on GitHub: labels, one comment per stop, and the
// planned actions that belong to no turn.
package notice
