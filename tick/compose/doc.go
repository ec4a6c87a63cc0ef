// Package compose makes of an agent's answer what is done on GitHub.
package compose
