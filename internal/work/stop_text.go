package work

// How the comment about a stop is worded where it is read back.
const (
	StoppedHere  = "gh mergexo stopped here: "
	StoppedSince = "\n\n- Since: "
	StoppedOften = "\n- Attempts: "
	StoppedNext  = "\n- Next step: "
)
