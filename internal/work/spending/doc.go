// Package spending sums what turns used, compares it with budgets, and describes it. It is pure.
package spending
