package config

import (
	"fmt"
	"path/filepath"
)

// MissingError says that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	begin := fmt.Sprintf(`gh mergexo config --example > "%s"`, e.Path)
	if dir := filepath.Dir(e.Path); !isFolder(dir) {
		begin = fmt.Sprintf(`mkdir -p "%s" && `, dir) + begin
	}
	return fmt.Sprintf(`no config at %s; to begin with one: %s (without one there is "gh mergexo demo")`, e.Path, begin)
}
