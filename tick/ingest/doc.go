// Package ingest reads from GitHub what is new in a repository and stores it, slice by
// slice, each in one transaction. Issues are taken in here; comments, pull requests and
// what a lost database knew in the rooms below.
package ingest
