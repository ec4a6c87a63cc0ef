package batch

// People knows what people may do.
type People struct{ *Batch }
