package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func accountFields(a *work.Account) []any { return []any{&a.ID, &a.Login, &a.Bot} }

// AddAccount records an account under which gh mergexo writes on a host, and its role. The
// operator's role takes precedence over others. An unchanged account is not written.
func (t *Tx) AddAccount(ctx context.Context, host string, a work.Account, role work.AccountRole) error {
	return t.write(ctx, "add account "+a.Login,
		`INSERT INTO accounts (host, id, login, bot, role) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (host, id) DO UPDATE SET login = excluded.login, bot = excluded.bot, 
		 role = CASE excluded.role WHEN 'operator' THEN 'operator' ELSE accounts.role END
		 WHERE accounts.login <> excluded.login OR accounts.bot <> excluded.bot OR accounts.role <> excluded.role AND excluded.role = 'operator'`, append([]any{host}, append(accountFields(&a), role)...)...)
}

// ListAccounts returns the accounts that gh mergexo has used in a role, by host. The one that gh was
// logged in with when this machine asked last comes last: a pass needs it before GitHub names it.
func (t *Tx) ListAccounts(ctx context.Context, role work.AccountRole) (map[string][]work.Account, error) {
	byHost := map[string][]work.Account{}
	scan := func(row scanner) (a work.Account, err error) {
		var host string
		err = row.Scan(append([]any{&host}, accountFields(&a)...)...)
		byHost[host] = append(byHost[host], a)
		return a, err
	}
	_, err := listRows(ctx, t, "list accounts", scan, `SELECT a.host, a.id, a.login, a.bot FROM accounts a
		LEFT JOIN clocks c ON c.machine = ? AND c.host = a.host WHERE a.role = ? ORDER BY a.host, CASE a.id WHEN c.account THEN 1 ELSE 0 END, a.id`, t.machine, role)
	return byHost, err
}

// levelAllowed marks the row that says which account a login of the config belongs to. It is not an
// answer of GitHub's.
const levelAllowed = "allowed"

// PinAllowed returns the account that a login of the config stands for in a repository. It is the
// first account that was seen with the login; if none was, it becomes who. An account that is
// already pinned to another login, because it was renamed, is returned unchanged.
func (t *Tx) PinAllowed(ctx context.Context, repoID int64, who work.Account, at time.Time) (int64, error) {
	pinned, ok, err := t.PinnedAccount(ctx, repoID, who.Login)
	if ok || err != nil {
		return pinned, err
	}
	err = t.write(ctx, "pin the account of "+who.Login,
		`INSERT INTO permissions (repo_id, account_id, login, level, seen_at) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (repo_id, account_id) DO UPDATE SET login = excluded.login, level = excluded.level, seen_at = excluded.seen_at WHERE permissions.level <> excluded.level`,
		repoID, who.ID, who.Login, levelAllowed, t.stamp(at))
	return who.ID, err
}

// PinnedAccount returns the account that a login of the config stands for in a repository. It
// returns false if no account was seen with it.
func (t *Tx) PinnedAccount(ctx context.Context, repoID int64, login string) (int64, bool, error) {
	return findRow(ctx, t, "look for the account of "+login, scanID,
		`SELECT account_id FROM permissions WHERE repo_id = ? AND level = ? AND lower(login) = lower(?)`, repoID, levelAllowed, login)
}

// GetPermission returns an account's stored permission in a repository and when it was read.
func (t *Tx) GetPermission(ctx context.Context, repoID, accountID int64) (level string, at time.Time, ok bool, err error) {
	scan := func(row scanner) (string, error) { return level, row.Scan(&level, timeOf(&at)) }
	_, ok, err = findRow(ctx, t, fmt.Sprintf("get permission of account %d", accountID), scan,
		`SELECT level, seen_at FROM permissions WHERE repo_id = ? AND account_id = ? AND level <> ?`, repoID, accountID, levelAllowed)
	return level, at, ok, err
}

// PutPermission stores an account's permission in a repository. It keeps the row of an account that
// is pinned to a login.
func (t *Tx) PutPermission(ctx context.Context, repoID, accountID int64, login, level string, at time.Time) error {
	return t.write(ctx, "put permission of "+login,
		`INSERT INTO permissions (repo_id, account_id, login, level, seen_at) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (repo_id, account_id) DO UPDATE SET login = excluded.login, level = excluded.level, seen_at = excluded.seen_at WHERE permissions.level <> ?`,
		repoID, accountID, login, level, t.stamp(at), levelAllowed)
}

// ListWriters returns the logins of people whom GitHub last reported with write permission in a
// repository, without our accounts: those that it has had for longest, at most n.
func (t *Tx) ListWriters(ctx context.Context, repoID int64, n int) ([]string, error) {
	return listRows(ctx, t, fmt.Sprintf("list who may write to repository %d", repoID), scanString,
		`SELECT login FROM permissions p WHERE repo_id = ? AND level IN ('admin', 'maintain', 'write')
		 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = p.account_id) ORDER BY account_id LIMIT ?`, repoID, n)
}
