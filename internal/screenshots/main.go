// Screenshots draws what the README shows, of what the program and a simulated GitHub say:
//
//	screenshots terminal TITLE <output.ansi >picture.svg
//	screenshots pull FOLDER >picture.svg
//
// The folder holds answers of GitHub's API: pull.json, comments.json, reviews.json and
// lines.json. script/screenshots calls it.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: screenshots terminal TITLE | pull FOLDER")
	}
	picture := ""
	switch args[0] {
	case "terminal":
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		picture = terminal(args[1], string(text))
	case "pull":
		p, err := readPull(args[1])
		if err != nil {
			return err
		}
		picture = p.picture()
	default:
		return fmt.Errorf("nothing draws %q", args[0])
	}
	_, err := io.WriteString(out, picture)
	return err
}
