// Package turn runs one claimed turn to its end: restore, run the agent, push, apply, settle.
package turn
