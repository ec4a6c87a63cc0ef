// Package known has what is known of a repository and its work items when a pass plans: the types
// that tick/snapshot reads from the database and tick/plan decides by. It is pure.
package known
