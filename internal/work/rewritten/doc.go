// Package rewritten says what people have to do about a branch of ours that somebody
// rewrote, and what their word for it comes to. Pure rules.
package rewritten
