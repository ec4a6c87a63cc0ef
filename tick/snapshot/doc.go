// Package snapshot reads from the database what the plan of one repository may depend on. The pass,
// a dry run, a command and status use it.
package snapshot
