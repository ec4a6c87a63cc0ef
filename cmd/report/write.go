package report

import (
	"errors"
	"os"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// write replaces the file atomically. A pipe or a device is not replaced but written to.
func write(file, text string) error {
	info, err := os.Stat(file)
	if err != nil || info.Mode().IsRegular() {
		return files.Replace(file, text)
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
