// Package plan decides what one pass does: from a Snapshot of one repository it
// makes a Plan. It is pure: it reads nothing, writes nothing and asks nobody the
// time, and imports internal/work and its rooms alone.
package plan
