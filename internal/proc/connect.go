package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// connect opens the pipes and starts the program.
func (p *process) connect() error {
	var input io.WriteCloser
	if len(p.Stdin) > 0 || p.Dialog != nil {
		var err error
		if input, err = p.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	outR, outW, err := p.openOutput()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	p.pipes = []io.Closer{outR, errR}
	if p.file != nil {
		p.pipes[0] = p.file
	}
	if err = p.addPipe(); err == nil {
		err = p.startChild()
	}
	for _, f := range p.cmd.ExtraFiles {
		_ = f.Close()
	}
	_ = outW.Close()
	_ = errW.Close()
	if err != nil {
		p.closePipes()
		return err
	}
	if input != nil {
		go func() {
			_, _ = io.Copy(input, p.input()) // the program need not read all of it
			_ = input.Close()
		}()
	}
	p.readAll(outR, errR)
	return nil
}

// addPipe gives the program a pipe that holds Cmd.Pipe.
func (p *process) addPipe() error {
	if len(p.Pipe) == 0 {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	_, err = w.Write(p.Pipe)
	p.cmd.ExtraFiles = []*os.File{r}
	return errors.Join(err, w.Close())
}

// input returns what is written to standard input.
func (p *process) input() io.Reader {
	if p.Dialog != nil {
		return p.Dialog
	}
	return bytes.NewReader(p.Stdin)
}

// openOutput returns the reading and the writing end of standard output.
func (p *process) openOutput() (from, to *os.File, err error) {
	if p.OutputFile {
		if p.file, to, err = newOutputFile(); err == nil {
			return p.file.from, to, nil
		}
	}
	return os.Pipe() // also if there is no space for a file: most answers fit into a pipe
}

// readAll starts to read the program's output.
func (p *process) readAll(outR, errR io.Reader) {
	said, logged := p.signOfLife, p.signOfLife
	if p.Counts != nil {
		lines := &lineCounter{counts: p.Counts, sign: p.signOfLife}
		said, logged = lines.add, func([]byte) {}
	}
	var wg sync.WaitGroup
	if p.file != nil {
		wg.Go(func() { p.file.follow(p.exited, p.stdout, said) })
	} else {
		wg.Go(func() { read(outR, p.stdout, said) })
	}
	wg.Go(func() { read(errR, p.stderr, logged) })
	go func() { wg.Wait(); close(p.drained) }()
}

func (p *process) signOfLife([]byte) {
	select {
	case p.active <- struct{}{}:
	default:
	}
}

func read(from io.Reader, to *capture, said func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			to.add(buf[:n])
			said(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (p *process) closePipes() {
	for _, c := range p.pipes {
		_ = c.Close()
	}
}
