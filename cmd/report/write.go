package report

import (
	"errors"
	"os"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// write writes the report whole, in the place of an older one. A pipe or a device stays
// what it is, and takes the text.
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
