// Package lipgloss is what go-gh takes of lipgloss: the width of a text. The whole of it brings ten modules.
package lipgloss

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many columns of a terminal the widest line of a text takes.
func Width(s string) (widest int) {
	for line := range strings.SplitSeq(s, "\n") {
		widest = max(widest, ansi.StringWidth(line))
	}
	return widest
}
