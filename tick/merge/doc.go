// Package merge merges pull requests of ours beside the turns of a pass: it looks once
// more, stores what is meant, asks GitHub, looks what came of that, and compares what
// landed with what was approved. Nothing is sent that the pass's plan did not choose.
package merge
