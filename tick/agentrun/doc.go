// Package agentrun runs the agent of one turn: within its budgets and limits,
// until it answers what can be used and the required tests pass.
package agentrun
