package batch

import "github.com/mergexo/gh-mergexo/internal/work"

func (h *Batch) Add(c Candidate) { c.Event = work.AsCommand(c.Event); h.Events = append(h.Events, c) }
