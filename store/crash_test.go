package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// childPath makes the test binary a process of its own on a database: one that
// writes until it is killed, or one that only has it open.
const (
	childPath = "STORE_TEST_CHILD"
	childHold = "STORE_TEST_HOLD"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		fmt.Println(writeForEver(context.Background(), path))
		os.Exit(1)
	}
	os.Exit(testhome.RunInMemory(m))
}

// writeForEver counts an action's sends, and says each count once it is stored.
func writeForEver(ctx context.Context, path string) error {
	d, err := Open(ctx, path, Options{Now: time.Now})
	if err != nil {
		return err
	}
	for hold := os.Getenv(childHold) != ""; ; {
		sends, err := d.sendIn(ctx, 1, time.Now())
		if err != nil {
			return err
		}
		fmt.Println(sends)
		if hold {
			_, err := io.Copy(io.Discard, os.Stdin)
			return errors.Join(err, d.Close())
		}
	}
}

// A pass that runs a turn has the deleted database open, and with it locks on
// the -shm that lies beside the new one.
func TestDeletedWhileAnotherProcessHasIt(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	addAction(t, d, work.Action{RepoID: addRepo(t, d).ID, Token: "a"})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childPath+"="+path, childHold+"=1")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "1\n" {
		t.Fatalf("child: %q, %v", said, err)
	}
	before, err := os.Stat(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	next := openAt(t, path)
	if after, err := os.Stat(path + "-shm"); err != nil || os.SameFile(before, after) {
		t.Errorf("two databases have one index of their WALs: %v", err)
	}
	r := addRepo(t, next)
	addItem(t, next, work.Item{RepoID: r.ID, Number: 1})
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it puts its WAL away, which must not be the new one
	addItem(t, next, work.Item{RepoID: r.ID, Number: 2})
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, path)
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
	equal(t, len(inTx(t, again, func(tx *Tx) ([]work.Item, error) { return tx.ListItems(t.Context(), r.ID) })), 2)
}

func TestKilledWriter(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	r := addRepo(t, d)
	equal(t, addAction(t, d, work.Action{RepoID: r.ID, Token: "a"}).ID, int64(1))
	if err := d.Close(); err != nil { // the child shall be the only one, so that its WAL stays
		t.Fatal(err)
	}
	said := killWriter(t, path, 50)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatalf("the killed writer left no WAL: %v", err)
	}

	reader, ok, err := OpenReadOnly(t.Context(), path)
	if err != nil || !ok {
		t.Fatalf("reader beside the WAL: %v, %v", ok, err)
	}
	defer reader.Close()
	var seen int
	err = reader.View(t.Context(), func(tx *Tx) error {
		a, _, err := tx.GetAction(t.Context(), "a")
		seen = a.Sends
		return err
	})
	if err != nil || seen < said || seen > said+1 {
		t.Errorf("reader sees %d sends, %v; %d were stored", seen, err, said)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := reader.Snapshot(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{copied, path} {
		d := openAt(t, p)
		if err := d.Check(t.Context()); err != nil {
			t.Error(err)
		}
		a := inTx(t, d, func(tx *Tx) (work.Action, error) {
			a, _, err := tx.GetAction(t.Context(), "a")
			return a, err
		})
		if a.Sends != seen || a.State != work.ActionSent {
			t.Errorf("%s: %d sends, %s; the reader saw %d", p, a.Sends, a.State, seen)
		}
	}
}

// killWriter kills a writer that has said at least n counts, and gives the
// last one that it said.
func killWriter(t *testing.T, path string, n int) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childPath+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	last := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("child: %s", lines.Text())
		}
		if last == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || last < n {
		t.Fatalf("child ended by itself after %d: %v", last, err)
	}
	return last
}

// What a power loss leaves: database and WAL as they are in the middle of a
// transaction, and no -shm.
func TestCopyInMidTransaction(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	r := addRepo(t, d)
	for i := range 100 {
		addAction(t, d, work.Action{RepoID: r.ID, Token: fmt.Sprint(i), Body: strings.Repeat("x", 4000)})
	}
	copied := filepath.Join(t.TempDir(), "state.db")
	update(t, d, func(tx *Tx) error {
		for i := range 500 { // more than the page cache of a small transaction
			if _, err := tx.AddAction(t.Context(), work.Action{RepoID: r.ID, Token: fmt.Sprint("late", i), Body: strings.Repeat("x", 8000)}); err != nil {
				return err
			}
		}
		copyFile(t, path, copied)
		copyFile(t, path+"-wal", copied+"-wal")
		return nil
	})
	after := openAt(t, copied)
	if err := after.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := inTx(t, after, func(tx *Tx) ([]work.Action, error) { return tx.ChooseNotices(t.Context(), r.ID, nil) })
	if len(got) != 100 {
		t.Errorf("%d actions survived, want the 100 that were committed", len(got))
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	d := newDB(t)
	boom := errors.New("boom")
	wantErr(t, d, boom, func(tx *Tx) error {
		_, err := tx.EnsureRepo(t.Context(), name)
		return errors.Join(err, boom)
	})
	func() {
		defer func() { _ = recover() }()
		_ = d.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.EnsureRepo(t.Context(), name)
			panic(err)
		})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Update(ctx, func(tx *Tx) error {
		defer cancel()
		_, err := tx.EnsureRepo(ctx, name)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled transaction: %v", err)
	}
	if err := d.Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a transaction after the end: %v", err)
	}
	if got := inTx(t, d, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// SQLite only says "interrupted", which would be counted as a failure.
func TestInterruptedQuerySaysWhy(t *testing.T) {
	d := newDB(t)
	for what, run := range map[string]func(context.Context, func(*Tx) error) error{"view": d.View, "update": d.Update} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := run(ctx, func(tx *Tx) error {
			_, err := listRows(ctx, tx, "count for ever", scanID,
				`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`)
			if err == nil {
				return nil
			}
			_, err = tx.ListRepos(t.Context()) // and what comes after it
			return err
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}

// Reads take no write lock and see one picture; reads cannot write.
func TestViewBesideAWriter(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	other, err := Open(t.Context(), path, Options{Now: clock}) // without RunTwice: its functions write by d
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	r := addRepo(t, d)
	err = other.View(t.Context(), func(view *Tx) error {
		before, err := view.ListItems(t.Context(), r.ID)
		if err != nil {
			return err
		}
		addItem(t, d, work.Item{RepoID: r.ID, Number: 1}) // would wait for ever if the reader held a lock
		after, err := view.ListItems(t.Context(), r.ID)
		equal(t, len(after), len(before))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	update(t, d, func(*Tx) error { // and no writer makes a reader wait
		return other.View(t.Context(), func(view *Tx) error {
			items, err := view.ListItems(t.Context(), r.ID)
			equal(t, len(items), 1)
			return err
		})
	})
	for what, write := range map[string]func(*Tx) error{
		"insert": func(tx *Tx) error { _, err := tx.AddItem(t.Context(), work.Item{RepoID: r.ID}); return err },
		"upsert": func(tx *Tx) error { _, err := tx.PutPull(t.Context(), work.PullRequest{RepoID: r.ID}); return err },
		"update": func(tx *Tx) error { return tx.Heartbeat(t.Context(), r.ID, t0) },
	} {
		if err := d.View(t.Context(), write); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s in a view: %v", what, err)
		}
	}
}

// Two passes on one file: every claim has one winner, no count is lost.
func TestTwoHandlesManyWriters(t *testing.T) {
	path := newPath(t)
	handles := []*DB{openAt(t, path), openAt(t, path)}
	r := addRepo(t, handles[0])
	a := addAction(t, handles[0], work.Action{RepoID: r.ID, Token: "a"})
	const items, tries = 10, 4
	for i := range items {
		addItem(t, handles[0], work.Item{RepoID: r.ID, Number: i + 1})
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		wins = map[int]int{}
	)
	for try := range tries {
		all.Go(func() {
			d := handles[try%2]
			for i := range items {
				err := d.Update(t.Context(), func(tx *Tx) error {
					_, err := tx.AddTurn(t.Context(), work.Turn{RepoID: r.ID, ItemID: int64(i + 1), Number: i + 1, Key: fmt.Sprint(try, "-", i), Step: work.StepClaimed})
					return err
				})
				switch {
				case err == nil:
					mu.Lock()
					wins[i]++
					mu.Unlock()
				case !errors.Is(err, ErrStale):
					t.Error(err)
				}
				if _, err := d.sendIn(t.Context(), a.ID, t0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range items {
		if wins[i] != 1 {
			t.Errorf("item %d was claimed %d times", i+1, wins[i])
		}
	}
	equal(t, getAction(t, handles[1], a.Token).Sends, items*tries)
	if err := handles[0].Check(t.Context()); err != nil {
		t.Error(err)
	}
}
