// Package sprig is what go-gh's templates take of sprig: five functions. The whole of it brings twelve modules.
package sprig

import (
	"regexp"
	"strings"
	"text/template"
)

// TxtFuncMap returns the functions, with sprig's order of arguments.
func TxtFuncMap() template.FuncMap {
	return template.FuncMap{
		"contains":  func(part, s string) bool { return strings.Contains(s, part) },
		"hasPrefix": func(part, s string) bool { return strings.HasPrefix(s, part) },
		"hasSuffix": func(part, s string) bool { return strings.HasSuffix(s, part) },
		"replace":   func(before, after, s string) string { return strings.ReplaceAll(s, before, after) },
		"regexMatch": func(expr, s string) bool {
			is, err := regexp.MatchString(expr, s)
			return err == nil && is
		},
	}
}
