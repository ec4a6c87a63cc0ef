package env

type VerdictKind string

const (
	VerdictDone        VerdictKind = "done"
	VerdictInterrupted VerdictKind = "interrupted"
	VerdictWait        VerdictKind = "waiting"
	VerdictRetry       VerdictKind = "retrying"
	VerdictBlocked     VerdictKind = "blocked"
	VerdictSuperseded  VerdictKind = "superseded"
	VerdictCancelled   VerdictKind = "cancelled"
)
