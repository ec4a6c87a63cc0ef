// Package batch holds what one ingest of one repository has read until that slice of it
// is stored, reads lists page by page, and knows what people may do.
package batch
