package work

// DefaultPriority is that of an issue without a priority label.
const DefaultPriority = 3
