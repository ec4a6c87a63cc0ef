// Package recheck looks once more, right before an agent is paid and before
// anything is written, whether what a turn was claimed for still holds.
package recheck
