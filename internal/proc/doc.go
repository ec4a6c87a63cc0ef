// Package proc starts other programs and makes sure that they end. Only it imports os/exec.
//
// Every child gets its own session: it has no terminal to ask on, and its group can be signalled as
// a whole. A child that exceeds a limit is asked to end with the caller's signal, then killed with
// all recorded descendants. A grandchild that keeps the pipes open cannot block the caller.
package proc
