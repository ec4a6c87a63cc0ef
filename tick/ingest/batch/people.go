package batch

func NewPeople(b *Batch) *People { return &People{b} }
