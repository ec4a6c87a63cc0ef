package files

import (
	"errors"
	"io"
	"os"
)

// OpenOwn opens a file of ours, such as a log or a lock. It follows no link that somebody put in its
// place.
func OpenOwn(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|OpenSafely, 0o600)
}

// ReadOwn reads a file of ours and follows no link.
func ReadOwn(path string) ([]byte, error) {
	f, err := OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

// WriteOwn writes a file of ours in place and follows no link.
func WriteOwn(path string, b []byte) error {
	f, err := OpenOwn(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// EmptyOwn empties a file of ours and follows no link.
func EmptyOwn(path string) error {
	f, err := OpenOwn(path, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	return f.Close()
}
