package config

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// DatabaseKey returns the key that names the PostgreSQL database; empty: the database is the SQLite file
// in the state folder.
func (r *Runtime) DatabaseKey() string {
	if r.Database != "" || r.unsure {
		return "runtime.database"
	}
	return ""
}

// databaseVariable returns the environment variable that holds the URL; empty: the config has it.
func (r *Runtime) databaseVariable() string {
	name, _ := strings.CutPrefix(r.Database, "$")
	if name == r.Database {
		return ""
	}
	return name
}

// DatabaseAt returns where the state database is: the path of the SQLite file, or the URL of a
// PostgreSQL database, which may have a password.
func (r *Runtime) DatabaseAt() (string, error) {
	name := r.databaseVariable()
	switch {
	case r.unsure:
		return "", &DatabaseError{"the config is invalid, and does not say for certain which database passes use", "correct the config: gh mergexo config names the line"}
	case r.Database == "":
		return filepath.Join(r.StateDir, "state.db"), nil
	case name == "":
		return r.Database, nil
	case r.databaseURL == "":
		return "", &DatabaseError{fmt.Sprintf("runtime.database names %s, which is not set in this environment: set it to the URL of the database", name), setWherePassesRun}
	}
	if why := databaseProblem(r.databaseURL); why != "" {
		return "", &DatabaseError{fmt.Sprintf("%s, which runtime.database names, %s", name, why), setWherePassesRun}
	}
	return r.databaseURL, nil
}

// Resolve reads the variable that Database names, and says why the database has no usable URL; empty:
// it has one.
func (r *Runtime) Resolve(env environ.Env) string {
	name := r.databaseVariable()
	if name == "" {
		if why := databaseProblem(r.Database); why != "" {
			return "the text " + why
		}
		return ""
	}
	value, _ := env.Lookup(name)
	r.databaseURL = strings.TrimSpace(value)
	switch why := databaseProblem(r.databaseURL); {
	case r.databaseURL == "":
		return name + " is not set in this environment: set it to the URL of the database"
	case why != "":
		return name + " " + why
	}
	return ""
}

// DatabaseURL returns the URL of the PostgreSQL database, as far as it is known, to have its password
// redacted.
func (r *Runtime) DatabaseURL() string { return cmp.Or(r.databaseURL, r.Database) }

// libpqNames are the variables that say to PostgreSQL's clients, and so to passes, where a database is and
// who they are.
var libpqNames = []string{
	"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGOPTIONS",
	"PGSSLCERT", "PGSSLKEY", "PGSSLPASSWORD", "PGSSLROOTCERT",
}

// Hidden returns the variables that may lead to the database. No program but ours sees them: who reaches
// the database decides what is pushed.
func (r *Runtime) Hidden() []string {
	if r.DatabaseKey() == "" {
		return nil
	}
	names := slices.Clone(libpqNames)
	if name := r.databaseVariable(); name != "" {
		names = append(names, name)
	}
	return names
}

// DatabaseError says that the config names no usable database.
type DatabaseError struct {
	text string
	Do   string // what fixes it
}

func (e *DatabaseError) Error() string { return e.text }

// setWherePassesRun fixes the variable of database.
const setWherePassesRun = "set the variable where passes run, and here"

// database checks the URL of the database, or the name of the variable that holds it. The config holds no
// password: people print it and pass it on.
func (p *parser) database(t place, r *Runtime) {
	name := r.databaseVariable()
	switch why := databaseProblem(r.Database); {
	case r.Database == "":
	case variableName().MatchString(name):
		value, _ := p.env.Lookup(name)
		r.databaseURL = strings.TrimSpace(value)
	case strings.HasPrefix(r.Database, "$"):
		t.bad("database", "want $ and the name of an environment variable that holds the URL") // not quoted: it may be the URL
	case why != "":
		t.bad("database", "%s", why)
	case HasPassword(r.Database):
		t.bad("database", `has a password; put the URL into an environment variable, and write its name: database = "$NAME"`)
	}
}

// databaseProblem says why a text is no URL of a database; empty: it is one. It does not repeat the
// text, which may have a password.
func databaseProblem(text string) string {
	const want = "want one like postgres://user@host:5432/name?sslmode=verify-full"
	scheme, _, found := strings.Cut(text, ":")
	switch {
	case filepath.IsAbs(text), strings.HasPrefix(text, "."), strings.HasPrefix(text, "~"), !found, strings.HasPrefix(scheme, "sqlite"), scheme == "file":
		return "is no URL of a PostgreSQL database; " + want + ", or leave the key out for the SQLite file state.db in state_dir"
	case scheme != "postgres" && scheme != "postgresql" || !strings.HasPrefix(text, scheme+"://"):
		return "is no URL of a PostgreSQL database; " + want
	}
	if _, err := url.Parse(text); err != nil {
		return "cannot be read; " + want + ", with special characters of the password percent-encoded"
	}
	return ""
}

// HasPassword reports whether the URL of a database has a password.
func HasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// machineName is what runtime.machine may be: it becomes a part of names of refs.
var machineName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
