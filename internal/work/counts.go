package work

import (
	"time"
)

// PassCount is the number of passes with an outcome.
type PassCount struct {
	Outcome PassOutcome
	Count   int
}

// RequestCount is the number of requests to a host with a status.
type RequestCount struct {
	Host   string
	API    string // rest, graphql
	Status string // HTTP status in digits, or NoAnswer
	Count  int
}

// NoAnswer is the status of a request without an answer.
const NoAnswer = "none"

// RateLimit is the state of a host's rate limit, as last reported.
type RateLimit struct {
	Host      string
	Resource  string // the value of x-ratelimit-resource
	Remaining int
	Most      int
	ResetAt   time.Time // GitHub's clock
	At        time.Time // when it was reported
}

// ItemCount is the number of a repository's work items in a state.
type ItemCount struct {
	RepoID int64
	State  State
	Count  int
}
