//go:build unix

package story

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdKeepDatabase keeps the database as it is, as a backup does.
func cmdKeepDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: keep-database")
	}
	w := worldOf(ts)
	tables, err := query(w.server, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
	ts.Check(err)
	all := []string{`DROP SCHEMA IF EXISTS kept CASCADE`, `CREATE SCHEMA kept`}
	for _, t := range tables {
		all = append(all, fmt.Sprintf(`CREATE TABLE kept.k_%s AS TABLE public.%s`, t[0], t[0])) // of another name: two schemas with our tables are refused
	}
	ts.Check(runAll(w.server, all))
}

// cmdSetBackDatabase sets the database back to what was kept, as a restored backup does, or a replica that
// had not received the last transactions. New rows get the ids of those that are lost.
func cmdSetBackDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: set-back-database")
	}
	w := worldOf(ts)
	tables, err := query(w.server, `SELECT tablename, coalesce(pg_get_serial_sequence('public.' || tablename, a.attname), '')
		FROM pg_tables LEFT JOIN pg_attribute a ON a.attrelid = to_regclass('public.' || tablename) AND a.attidentity <> '' WHERE schemaname = 'public'`)
	ts.Check(err)
	all := []string{`BEGIN`, `SET LOCAL session_replication_role = replica`} // checks no references, which come in any order
	for _, t := range tables {
		all = append(all, `DELETE FROM public.`+t[0], fmt.Sprintf(`INSERT INTO public.%s OVERRIDING SYSTEM VALUE SELECT * FROM kept.k_%s`, t[0], t[0]))
		if t[1] != "" {
			all = append(all, fmt.Sprintf(`SELECT setval('%s', coalesce(max(id), 0) + 1, false) FROM public.%s`, t[1], t[0]))
		}
	}
	ts.Check(runAll(w.server, append(all, `COMMIT`)))
}

// runAll runs statements on a server in one connection.
func runAll(url string, statements []string) error {
	_, err := query(url+simply, strings.Join(statements, "; "))
	return err
}

// simply has pgx send a text with several statements.
const simply = "&default_query_exec_mode=simple_protocol"
