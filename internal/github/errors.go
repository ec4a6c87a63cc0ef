package github

import (
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/labels"
	"github.com/mergexo/gh-mergexo/internal/github/merges"
	"github.com/mergexo/gh-mergexo/internal/github/pulse"
	"github.com/mergexo/gh-mergexo/internal/github/runs"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/github/trouble"
)

// What users of this package need of its rooms, under one name.
type (
	Options          = transport.Options
	Request          = transport.Request
	Limit            = transport.Limit
	PageRequest      = transport.PageRequest
	Page[T any]      = transport.Page[T]
	Error            = transport.Error
	MovedError       = transport.MovedError
	UnclearError     = transport.UnclearError
	UnreachableError = transport.UnreachableError
	BodyError        = transport.BodyError
	NotLoggedInError = transport.NotLoggedInError
	Trouble          = trouble.Trouble
	Checks           = runs.Checks
	CheckRun         = runs.CheckRun
	Annotation       = runs.Annotation
	WorkflowRun      = runs.WorkflowRun
	Status           = runs.Status
	Merges           = merges.Merges
	MergeOrder       = merges.Order
	Refusal          = merges.Refusal
	RefusalKind      = merges.RefusalKind
	Labels           = labels.Labels
	Pulses           = pulse.Pulses
	Pulse            = pulse.Pulse
	RepoPulse        = pulse.Repo
)

// MaxPulse is the most repositories of one Pulse.
const MaxPulse = pulse.Most

// The kinds of refusals.
const (
	HeadMoved    = merges.HeadMoved
	BaseModified = merges.BaseModified
	InProgress   = merges.InProgress
	CheckMissing = merges.CheckMissing
	ReviewNeeded = merges.ReviewNeeded
	RuleBroken   = merges.RuleBroken
	NotMergeable = merges.NotMergeable
	IsDraft      = merges.IsDraft
	MethodBarred = merges.MethodBarred
	AboutQueue   = merges.AboutQueue
	NothingNew   = merges.NothingNew
	NoPermission = merges.NoPermission
	OtherRefusal = merges.OtherRefusal
)

// RefusalOf tells why GitHub refused a merge, the queue or an update of a branch; false
// for what is no refusal.
func RefusalOf(err error) (Refusal, bool) { return merges.RefusalOf(err) }

// MaxDescription is how long a status' description may be, in characters.
const MaxDescription = runs.MaxDescription

// The codes of troubles that callers tell apart.
const (
	TroubleLogin       = trouble.Login // a login would end it
	TroubleForbidden   = trouble.Forbidden
	TroubleNotFound    = trouble.NotFound
	TroubleUnreachable = trouble.Unreachable
	TroubleServer      = trouble.Server
)

// Troubles finds what is wrong in an error, each cause once however many requests
// came to it. It is nil where the error is nothing that has a name here.
func Troubles(host string, err error) []Trouble { return trouble.Find(host, err) }

// Silent is about a host that did not answer at all.
func Silent(host string) Trouble { return trouble.Silent(host) }

// IsStatus reports whether err is GitHub's refusal with one of the statuses.
func IsStatus(err error, codes ...int) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Status)
}

// IsTaken reports whether GitHub refused to make what exists already. For pull
// requests it has no code of its own for that, only a sentence.
func IsTaken(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 422 && slices.ContainsFunc(e.Items, func(i transport.ErrorItem) bool {
		return i.Code == "already_exists" || strings.Contains(i.Message, "already exists")
	})
}
