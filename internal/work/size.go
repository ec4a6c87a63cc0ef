package work

import "fmt"

// SizeText formats a number of bytes exactly, for people.
func SizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	unit := 0
	for n >= 1<<10 && n%(1<<10) == 0 && unit < len(units)-1 {
		n, unit = n>>10, unit+1
	}
	return fmt.Sprintf("%d %s", n, units[unit])
}
