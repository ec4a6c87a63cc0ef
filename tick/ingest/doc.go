// Package ingest reads from GitHub what is new in a repository and stores it slice by slice, each
// in one transaction.
//
// slices.go has the order of reads, walk.go reads one list, and issues.go, comments.go and pulls.go
// take in what the lists show. adopt.go finds again what a lost database knew.
package ingest
