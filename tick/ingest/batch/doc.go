// Package batch holds what one ingest of one repository has read until all of it
// is stored, reads lists page by page, and knows what people may do.
package batch
