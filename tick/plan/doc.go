// Package plan decides what one pass does: it makes a Plan from a Snapshot of one repository. It is
// pure: no reads, no writes, no clock; it imports only internal/work and its packages.
package plan
