// Package sorted puts lists of structs in order. Package slices compiles its algorithms once for each type of
// element, some 20 kB each time; this one orders positions, which are of one type.
package sorted

import (
	"cmp"
	"iter"
	"slices"
)

// By puts a list in order. Equal elements keep theirs.
func By[T any](list []T, compare func(a, b T) int) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(list[i], list[j]), i-j) })
	before := slices.Clone(list)
	for i, from := range order {
		list[i] = before[from]
	}
}

// Values collects values in order.
func Values[T any](values iter.Seq[T], compare func(a, b T) int) []T {
	list := slices.Collect(values)
	By(list, compare)
	return list
}
