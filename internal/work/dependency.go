package work

// DependencyState is the last known state of an issue that an item waits for.
type DependencyState string

// The states of a dependency. Empty: it was never read.
const (
	DependencyOpen    DependencyState = "open"
	DependencyClosed  DependencyState = "closed"
	DependencyRefused DependencyState = "refused" // GitHub reports that we may not see it
	DependencyMissing DependencyState = "missing" // it does not exist, or we may not see it
)
