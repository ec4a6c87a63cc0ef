// Package tell tells people what happened. On GitHub it shows the state of work items: labels, one
// comment for each stop, and the planned actions that belong to no turn. Outside GitHub it sends
// messages, and at the end of a pass it writes metrics.
package tell
