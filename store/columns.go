package store

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// newestColumns names the newest schema and all its columns. A database whose columns are others was
// migrated by a text of a migration that was edited later: its first use of a column would fail.
//
//go:embed migrations/columns.txt
var newestColumns string

// differences returns how the columns of a database differ from those of its version, if that is the newest.
// Tables that are not ours may be there, too.
func differences(version int64, columns string) string {
	first, want, _ := strings.Cut(newestColumns, "\n")
	if first != fmt.Sprint("schema ", version) {
		return ""
	}
	wanted, found := strings.Fields(want), strings.Fields(columns)
	has := map[string]bool{}
	for _, c := range found {
		has[c] = true
	}
	knows, ours := map[string]bool{}, map[string]bool{}
	var all []string
	for _, c := range wanted {
		table, _, _ := strings.Cut(c, ".")
		knows[c], ours[table] = true, true
		if !has[c] {
			all = append(all, c+" is missing")
		}
	}
	for _, c := range found {
		if table, _, _ := strings.Cut(c, "."); ours[table] && !knows[c] {
			all = append(all, c+" is unknown")
		}
	}
	slices.Sort(all)
	const most = 3
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}
