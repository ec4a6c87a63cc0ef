// Package proc starts other programs and sees to it that they end. It is the
// only importer of os/exec.
//
// Every child gets a session of its own, so it has no terminal to ask on and
// its group can be signalled as one. A child that outlives its limits is asked
// to end with the signal that its caller names, then killed together with all
// descendants that were seen; a grandchild that keeps the pipes open cannot
// hold the caller.
package proc
