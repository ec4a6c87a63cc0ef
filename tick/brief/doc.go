// Package brief gathers what an agent is told about its turn.
package brief
