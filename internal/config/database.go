package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// DatabaseKey returns the key that names the PostgreSQL database; empty: the database is the SQLite file
// in the state folder.
func (r *Runtime) DatabaseKey() string {
	switch {
	case r.Database != "":
		return "runtime.database"
	case r.DatabaseEnv != "":
		return "runtime.database_env"
	}
	return ""
}

// DatabaseAt returns where the state database is: the path of the SQLite file, or the URL of a
// PostgreSQL database, which may have a password.
func (r *Runtime) DatabaseAt() (string, error) {
	switch {
	case r.Database != "":
		return r.Database, nil
	case r.DatabaseEnv == "":
		return filepath.Join(r.StateDir, "state.db"), nil
	case r.databaseURL == "":
		return "", &DatabaseError{fmt.Sprintf("runtime.database_env names %s, which is not set in this environment: set it to the URL of the database", r.DatabaseEnv)}
	}
	if why := databaseProblem(r.databaseURL); why != "" {
		return "", &DatabaseError{fmt.Sprintf("%s, which runtime.database_env names, %s", r.DatabaseEnv, why)}
	}
	return r.databaseURL, nil
}

// DatabaseURL returns the URL of the PostgreSQL database, as far as it is known, to have its password
// redacted.
func (r *Runtime) DatabaseURL() string { return r.Database + r.databaseURL }

// DatabaseError says that the config names no usable database.
type DatabaseError struct{ text string }

func (e *DatabaseError) Error() string { return e.text }

// database reads the URL of the database. The config holds no password: people print it and pass it on.
func (p *parser) database(t *Table) string {
	at := t.text("database", "")
	if why := databaseProblem(at); at != "" && why != "" {
		t.bad("database", "%s", why)
	} else if HasPassword(at) {
		t.bad("database", `has a password; put the URL into an environment variable, and write its name: database_env = "NAME"`)
	}
	return at
}

// databaseEnv reads the name of the variable that holds the URL, and its value.
func (p *parser) databaseEnv(t *Table, r *Runtime) {
	r.DatabaseEnv = t.text("database_env", "")
	switch {
	case r.DatabaseEnv == "":
	case !variableName().MatchString(r.DatabaseEnv):
		t.bad("database_env", "want the name of an environment variable that holds the URL") // not quoted: it may be the URL
	case r.Database != "":
		t.bad("database_env", "write either database or database_env")
	default:
		value, _ := p.env.Lookup(r.DatabaseEnv)
		r.databaseURL = strings.TrimSpace(value)
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

func (p *parser) machine(t *Table) string {
	name := t.text("machine", "")
	if name != "" && !machineName().MatchString(name) {
		t.bad("machine", "%q is no name; want letters, digits, - and _, at most 63", name)
	}
	return name
}
