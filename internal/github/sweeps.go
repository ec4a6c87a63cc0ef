package github

import "github.com/mergexo/gh-mergexo/internal/github/sweep"

// Pull requests, as their room reads them.
type (
	Sweeps        = sweep.Sweeps
	Sweep         = sweep.Sweep
	Identity      = sweep.Identity
	Pull          = sweep.Pull
	PullLight     = sweep.PullLight
	PullDetail    = sweep.PullDetail
	Review        = sweep.Review
	ReviewComment = sweep.ReviewComment
	Thread        = sweep.Thread
	Check         = sweep.Check
)

// The most pull requests of one Sweep and of one Details.
const (
	MaxSweep   = sweep.MaxSweep
	MaxDetails = sweep.MaxDetails
)

// What GitHub says of a head and its base.
const (
	Mergeable        = sweep.Mergeable
	Conflicting      = sweep.Conflicting
	UnknownMergeable = sweep.UnknownMergeable
)

// Others, Red and the others tell what the checks of a head come to.
var Others, Red, HalfRed, RedChecks, RedSince, Patient = sweep.Others, sweep.Red, sweep.HalfRed, sweep.RedChecks, sweep.RedSince, sweep.Patient
