package work

// DependencyState is what was last seen of an issue that an item waits for.
type DependencyState string

// The states of a dependency. One that was never looked at has none.
const (
	DependencyOpen    DependencyState = "open"
	DependencyClosed  DependencyState = "closed"
	DependencyRefused DependencyState = "refused" // GitHub does not let us see it, and says so
	DependencyMissing DependencyState = "missing" // there is no such issue, or we may not see it
)
