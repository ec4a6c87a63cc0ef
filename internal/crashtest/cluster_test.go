//go:build unix

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// cluster is a PostgreSQL server that one world has for itself, so that it can be killed.
type cluster struct {
	dir     string // its data, and its socket
	running *exec.Cmd
	end     io.Closer // its end ends the server
}

// Who may do what on it: the program is no superuser.
const (
	superuser   = "mergexo"
	programUser = "fleet"
)

// serverPrograms is the folder of PostgreSQL's programs; empty: there are none.
func serverPrograms() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = []string{path}
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// notRoot has a command run as another user where we are root, as whom no server runs.
func notRoot(c *exec.Cmd) error {
	who, err := serverUser()
	if err == nil && who != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	}
	return err
}

func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, gidErr)
}

// ran runs one of PostgreSQL's programs.
func ran(program string, args ...string) error {
	c := exec.Command(filepath.Join(serverPrograms(), program), args...)
	c.Dir = "/"
	if err := notRoot(c); err != nil {
		return err
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

func newFolder() (string, error) {
	dir, err := os.MkdirTemp(fast(), "mxpg")
	if err != nil {
		return "", err
	}
	who, err := serverUser()
	if err == nil && who != nil {
		err = os.Chown(dir, int(who.Uid), int(who.Gid))
	}
	return dir, err
}

// newCluster makes a server and starts it. What is committed is in the hands of the system, so that
// it survives an end of the server.
func newCluster() (*cluster, error) {
	dir, err := newFolder()
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	if err := ran("initdb", "-D", c.data(), "-U", superuser, "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync", "--wal-segsize=1"); err != nil {
		return nil, err
	}
	if err := c.configure(`
listen_addresses = ''
fsync = off
full_page_writes = off
wal_level = replica
max_wal_senders = 4
min_wal_size = 8MB
max_wal_size = 64MB
max_connections = 100
shared_buffers = 16MB
autovacuum = off
`); err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	return c, c.run("postgres", `CREATE ROLE `+programUser+` LOGIN`)
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *cluster) configure(more string) error {
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(more + "unix_socket_directories = '" + c.dir + "'\n")
	return errors.Join(err, f.Close())
}

// url returns the URL by which a user of the server connects to a database.
func (c *cluster) url(database, user string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", user, database, c.dir)
}

// start starts the server and waits until it answers. It ends when this process does, however that
// ends: a shell waits for the end of a pipe.
func (c *cluster) start() error {
	const watched = `exec 3<&0; "$0" "$@" </dev/null >>"$2/log" 2>&1 3<&- & server=$!
(cat <&3 >/dev/null; kill -QUIT $server 2>/dev/null) & wait $server`
	c.running = exec.Command("/bin/sh", "-c", watched, filepath.Join(serverPrograms(), "postgres"), "-D", c.data())
	c.running.Dir = "/"
	err := notRoot(c.running)
	if err != nil {
		return err
	}
	if c.end, err = c.running.StdinPipe(); err != nil {
		return err
	}
	if err := c.running.Start(); err != nil {
		return err
	}
	for range 3000 {
		if err = c.run("postgres", `SELECT 1`); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(c.data(), "log"))
	return fmt.Errorf("the server does not answer: %w\n%s", err, log)
}

// kill ends the server at once. What was under way is rolled back when it starts again.
func (c *cluster) kill() error {
	if c.running == nil {
		return nil
	}
	err := c.end.Close()
	_ = c.running.Wait() // the end of a killed one
	c.running = nil
	return err
}

// remove ends the server for good.
func (c *cluster) remove() error { return errors.Join(c.kill(), os.RemoveAll(c.dir)) }

// replica starts a server that follows this one by way of a proxy, which can be frozen.
func (c *cluster) replica() (*cluster, *testpg.Proxy, error) {
	way, err := testpg.OpenProxy(c.url("postgres", superuser))
	if err != nil {
		return nil, nil, err
	}
	dir, err := newFolder()
	if err != nil {
		return nil, way, err
	}
	r := &cluster{dir: dir}
	if err := ran("pg_basebackup", "-D", r.data(), "-d", "host="+c.dir+" user="+superuser, "-c", "fast", "-X", "stream", "--no-sync"); err != nil {
		return r, way, err
	}
	host, port, _ := strings.Cut(way.Address(), ":")
	err = r.configure(fmt.Sprintf("primary_conninfo = 'host=%s port=%s user=%s sslmode=disable'\n", host, port, superuser))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.data(), "standby.signal"), nil, 0o644)
	}
	if err == nil {
		err = r.start()
	}
	return r, way, err
}

// promote ends the following.
func (c *cluster) promote() error { return ran("pg_ctl", "-D", c.data(), "-w", "promote") }

// run runs a statement as the superuser.
func (c *cluster) run(database, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(database, superuser))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// ask returns what a query finds, as one text.
func (c *cluster) ask(database, query string) (found string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(database, superuser))
	if err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, query).Scan(&found)
	return found, errors.Join(err, conn.Close(ctx))
}
