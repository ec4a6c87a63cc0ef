// Package rewritten decides what people must do about a branch of ours that somebody rewrote, and
// what their commands do. It is pure.
package rewritten
