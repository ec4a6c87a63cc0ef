// Package comments takes in what people wrote: comments, reviews, commands, and
// when people took an item over.
package comments
