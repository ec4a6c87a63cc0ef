// Helper stands in for git, for the agent and for a set-up of a killed pass. It
// decides nothing: it tells the rig, over the socket that lies beside it, what
// it was started as, and does what the rig answers. It is a program of its own
// because the test binary takes longer to start than git does.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// message is what the rig and the helper say to one another.
type message struct {
	Tool   string   `json:"tool,omitempty"` // git, agent, acp or setup
	Args   []string `json:"args,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Input  []byte   `json:"input,omitempty"`
	Do     string   `json:"do,omitempty"` // become, run, lose, fail, print, answer, die
	Path   string   `json:"path,omitempty"`
	Output string   `json:"output,omitempty"`
}

func main() {
	code, err := help()
	if err != nil {
		os.Stderr.WriteString("helper: " + err.Error() + "\n")
		code = 70
	}
	os.Exit(code)
}

func help() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	conn, err := net.Dial("unix", filepath.Join(filepath.Dir(self), "rig"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	m := message{Tool: filepath.Base(self), Args: os.Args[1:]}
	if m.Tool == "agent" {
		if m.Input, err = io.ReadAll(os.Stdin); err != nil {
			return 0, err
		}
	}
	if m.Dir, err = os.Getwd(); err != nil {
		return 0, err
	}
	said, heard := json.NewEncoder(conn), json.NewDecoder(conn)
	if m.Tool == "acp" {
		return 0, speak(m, said, heard)
	}
	if err := said.Encode(m); err != nil {
		return 0, err
	}
	var order message
	if err := heard.Decode(&order); err != nil {
		return 0, err
	}
	switch order.Do {
	case "become":
		return 0, syscall.Exec(order.Path, append([]string{"git"}, os.Args[1:]...), os.Environ())
	case "run": // and tell the rig when it is over, before anybody else learns of it
		code, err := run(order.Path, os.Stdout, os.Stderr)
		if err != nil {
			return 0, err
		}
		if err := said.Encode(message{}); err != nil {
			return 0, err
		}
		_ = heard.Decode(&order) // the rig closes
		return code, nil
	case "lose", "fail": // the connection breaks, after or before it was of use
		if order.Do == "lose" {
			if _, err := run(order.Path, nil, nil); err != nil {
				return 0, err
			}
		}
		os.Stderr.WriteString("fatal: the remote end hung up unexpectedly\n")
		return 128, nil
	case "print":
		_, err := os.Stdout.WriteString(order.Output)
		return 0, err
	}
	return 137, nil
}

func run(path string, stdout, stderr io.Writer) (int, error) {
	c := exec.Command(path, os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, stdout, stderr
	err := c.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.ExitCode(), nil
	}
	return 0, err
}
