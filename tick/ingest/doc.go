// Package ingest reads from GitHub what is new in a repository and stores it in
// one transaction. Issues and what a lost database knew are taken in here;
// comments and pull requests in the rooms below.
package ingest
