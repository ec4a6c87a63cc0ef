package command

import (
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Of is the command that begins a flow.
func Of(flow work.Flow) Verb {
	switch flow {
	case work.FlowBugfix:
		return VerbBugfix
	case work.FlowSmallJob:
		return VerbSmallJob
	case work.FlowDesign, work.FlowImplementation, work.FlowReview:
	}
	return VerbDesign
}
