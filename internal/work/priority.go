package work

// DefaultPriority is the priority of an issue without a priority label.
const DefaultPriority = 3
