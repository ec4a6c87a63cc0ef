package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func render(r Report, format string) (string, error) {
	if format == "markdown" {
		return r.Markdown(), nil
	}
	b, err := r.HTML()
	return string(b), err
}

// deliver writes the report to the requested file. Without one, a page is printed for a program and
// saved in the state folder for a person.
func (opt *options) deliver(a *cli.App, cfg *config.Config, format, text string) error {
	out := a.Output()
	file := opt.file
	if file == "" && format == "html" && out.TTY {
		file = filepath.Join(cfg.Runtime.StateDir, "report.html")
	}
	if file == "" || file == "-" || file == "/dev/stdout" {
		_, err := fmt.Fprint(out.Bare, text)
		return err
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if dir := filepath.Dir(file); opt.file != "" && !files.IsFolder(dir) { // as other programs do: a misspelt folder is not made
		return &cli.CodedError{Code: cli.CodeUsage, Do: "mkdir -p " + dir, Err: fmt.Errorf("there is no folder %s; make it first: mkdir -p %s", dir, dir)}
	}
	if err := write(file, text); err != nil {
		return unwritten(file, err)
	}
	_, err = fmt.Fprintln(a.Notes(out), "report: "+file)
	return err
}

// unwritten says why the file could not be written. The general words for a disk's trouble are
// about passes and the state folder.
func unwritten(file string, err error) error {
	for why, says := range map[error]string{syscall.ENOSPC: "the disk is full", syscall.EDQUOT: "the disk is full", syscall.EROFS: "the file system is read-only"} {
		if errors.Is(err, why) {
			return &work.MachineError{Err: fmt.Errorf("write the report: %s: %s", file, says), Do: "write it elsewhere: gh mergexo report -o FILE"}
		}
	}
	return fmt.Errorf("write the report: %w", err)
}

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
