//go:build unix

package story

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
)

// becomeMachine makes the world that of another machine: a state folder of its own, with mirrors and agent
// sessions of its own, and a config that names the folder. GitHub, gh's login, the agent and the
// database on the server are everybody's.
func (w *world) becomeMachine(name string) error {
	w.state = filepath.Join(w.work, "state-"+name)
	if !slices.Contains(w.states, w.state) {
		w.states = append(w.states, w.state)
	}
	w.config.path = filepath.Join(w.work, name+".toml")
	w.config.set("runtime", "state_dir", w.state)
	w.config.set("runtime", "machine", name)
	return w.config.write()
}

// cmdMachine has all that follows happen on a machine.
func cmdMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: machine NAME")
	}
	w := worldOf(ts)
	if w.server == "" {
		ts.Fatalf("machines share a database on a server: begin the story with [!postgres] skip")
	}
	ts.Check(w.becomeMachine(args[0]))
	for name, value := range w.environ() {
		ts.Setenv(name, value)
	}
}

// cmdEndSessions has the server end the sessions of all passes, or those that killed passes left: the server
// sees that a process is gone a moment later, and until then another pass leaves its work alone.
func cmdEndSessions(ts *testscript.TestScript, neg bool, args []string) {
	left := slices.Equal(args, []string{"left"})
	if neg || len(args) != 0 && !left {
		ts.Fatalf("usage: end-sessions [left]")
	}
	ended, err := query(worldOf(ts).server, `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
		WHERE application_name = 'gh mergexo pass' AND datname = current_database()`)
	ts.Check(err)
	if len(ended) == 0 && !left {
		ts.Fatalf("no pass has a session")
	}
}

// strangersName is what the session of a stranger is called on the server.
const strangersName = "somebody else"

func cmdStranger(ts *testscript.TestScript, neg bool, args []string) {
	leaves := slices.Equal(args, []string{"leaves"})
	if neg || len(args) != 0 && !leaves {
		ts.Fatalf("usage: stranger [leaves]")
	}
	server := worldOf(ts).server
	if leaves {
		ended, err := query(server, `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
			WHERE application_name = '`+strangersName+`' AND datname = current_database()`)
		ts.Check(err)
		if len(ended) != 1 {
			ts.Fatalf("%d strangers left", len(ended))
		}
		return
	}
	config, err := pgx.ParseConfig(server)
	ts.Check(err)
	config.RuntimeParams["application_name"] = strangersName
	conn, err := pgx.ConnectConfig(context.Background(), config)
	ts.Check(err)
	ts.Defer(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(context.Background(), `SELECT pg_advisory_lock(1)`)
	ts.Check(err)
}
