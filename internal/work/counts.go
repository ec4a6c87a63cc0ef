// Package counts is what is counted of passes beside their work: how they ended, what they
// asked of GitHub, and how many work items stand where.
package work

import (
	"time"
)

// Passes is how many passes came to an outcome.
type PassCount struct {
	Outcome PassOutcome
	Count   int
}

// Requests is how many requests to a host had an answer.
type RequestCount struct {
	Host   string
	API    string // rest, graphql
	Status string // HTTP's, in digits; NoAnswer
	Count  int
}

// NoAnswer is the status of a request to which no answer came.
const NoAnswer = "none"

// RateLimit is what a host said last of one of its limits.
type RateLimit struct {
	Host      string
	Resource  string // as x-ratelimit-resource names it
	Remaining int
	Most      int
	ResetAt   time.Time // GitHub's clock
	At        time.Time // when it said so
}

// ItemCount is how many work items of a repository are in a state.
type ItemCount struct {
	RepoID int64
	State  State
	Count  int
}
