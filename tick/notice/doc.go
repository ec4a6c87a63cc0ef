// Package notice shows on GitHub where work items stand: the labels, the one
// comment about a stop, and the planned actions that belong to no turn.
package notice
