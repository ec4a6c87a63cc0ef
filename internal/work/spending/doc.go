// Package spending sums up what turns took, holds it against budgets, and words
// it. Pure rules.
package spending
