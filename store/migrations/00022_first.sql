-- +goose Up
-- The first schema. Those with lower numbers were never released, and no migration
-- leads on from them.
--
-- A table whose key is no number is WITHOUT ROWID: its key needs no index beside it.
-- Times are unix milliseconds; 0 stands for "not yet". Lists are JSON text.
-- A column that refers to nothing is NULL where it is a foreign key. What may
-- be long comes last in its table: SQLite walks over it to reach what follows.

CREATE TABLE repositories (
    id                    INTEGER PRIMARY KEY,
    name_key              TEXT    NOT NULL UNIQUE, -- name in lower case: GitHub's names have no case; its node id is behind it where another has the name
    name                  TEXT    NOT NULL,
    current_name          TEXT    NOT NULL,
    node_id               TEXT    NOT NULL,
    github_id             INTEGER NOT NULL,
    default_branch        TEXT    NOT NULL,
    issues_since          INTEGER NOT NULL,
    comments_since        INTEGER NOT NULL,
    review_comments_since INTEGER NOT NULL,
    heartbeat_at          INTEGER NOT NULL,
    not_before            INTEGER NOT NULL,
    failures              INTEGER NOT NULL,
    last_error            TEXT    NOT NULL,
    confirmed_at          INTEGER NOT NULL, -- when GitHub last said which repository the config's name stands for
    -- Since when no name of the config stands for the repository: it was taken out, or
    -- another repository has its name. 0: one does.
    left_at               INTEGER NOT NULL,
    -- The path of the config that named the repository last, behind its machine where several
    -- have the database: another one does not take it out.
    named_by              TEXT    NOT NULL,
    machine               TEXT    NOT NULL DEFAULT '', -- that last planned something for it: it has the mirror and agents' sessions
    served_at             INTEGER NOT NULL DEFAULT 0,  -- when it did
    -- Each is replaced by the pass that takes over what it stands for, and compared by its
    -- writes: one that lost the work moves nothing any more. Random texts.
    planning_epoch        TEXT    NOT NULL DEFAULT '',
    notices_epoch         TEXT    NOT NULL DEFAULT '',
    merging_epoch         TEXT    NOT NULL DEFAULT '',
    -- What one query for many repositories showed of each, so that only those are read in
    -- which something changed.
    newest_issue          INTEGER NOT NULL DEFAULT 0, -- the newest change of an issue, when the repository was read in full; 0: it was not
    newest_pull           INTEGER NOT NULL DEFAULT 0, -- that of a pull request
    -- Whether it is merged into, once something else landed there than what was approved,
    -- or a person stopped it.
    merge_differs         INTEGER NOT NULL DEFAULT 0,  -- how many of the last merges, in a row, landed as something else
    merge_why             TEXT    NOT NULL DEFAULT '', -- why nothing is merged, as JSON; empty: something is
    merge_stopped_at      INTEGER NOT NULL DEFAULT 0,  -- since when nothing is
    merge_told            INTEGER NOT NULL DEFAULT 0,  -- whether a pass ended with it
    merge_resumed         INTEGER NOT NULL DEFAULT 0   -- merge_stopped_at of the stop that a person ended last: a state folder may still have it
) STRICT;

-- How far GitHub's lists are read. what says what a row is:
--   page: the validator of a page, by its address
--   first look: how far what a lost database knew was listed, by the name of the list
--   label: a label whose open issues were listed before
--   backlog: an issue or a pull request, n, that changed and that is not read yet: the
--     list's cursor is stored with it
-- repo_id 0 stands for the host itself, so there is no foreign key.
CREATE TABLE reading (
    what     TEXT    NOT NULL,
    repo_id  INTEGER NOT NULL,
    key      TEXT    NOT NULL,
    n        INTEGER NOT NULL,
    at       INTEGER NOT NULL, -- when the page was seen, or the number was tried; if it failed, when it is tried again
    etag     TEXT    NOT NULL,
    url      TEXT    NOT NULL, -- of the next page
    failures INTEGER NOT NULL, -- how often the number could not be read
    within   INTEGER NOT NULL, -- the time of a pass that did not suffice for it, in milliseconds
    since    INTEGER NOT NULL, -- what was said on the number since then is not read; 0: nothing
    why      TEXT    NOT NULL, -- why the number could not be read
    again    INTEGER NOT NULL, -- 1: the number was read once, when GitHub's lists and timelines did not agree
    PRIMARY KEY (what, repo_id, key, n)
) STRICT, WITHOUT ROWID;

-- Machines whose passes use this database. Each writes its own row, where that changes much
-- or is some minutes old.
CREATE TABLE machines (
    name         TEXT    NOT NULL PRIMARY KEY,
    installation TEXT    NOT NULL, -- its state folder
    host         TEXT    NOT NULL, -- its host name, for people
    version      TEXT    NOT NULL, -- of the program; empty: not a release
    began_at     INTEGER NOT NULL, -- when a pass last began there
    good_at      INTEGER NOT NULL, -- when one last ended that read a repository
    failures     INTEGER NOT NULL, -- how many failed in a row since
    why          TEXT    NOT NULL, -- why the last of these failed
    silent_after INTEGER NOT NULL, -- after how long without a pass something is wrong there, in milliseconds
    stopped      TEXT    NOT NULL DEFAULT '' -- how a person stopped its passes: paused, unscheduled; empty: nobody did
) STRICT, WITHOUT ROWID;

-- What holds for all machines together: one row, or none.
CREATE TABLE fleet (
    id        INTEGER PRIMARY KEY, -- 1
    paused_at INTEGER NOT NULL DEFAULT 0,  -- since when everything is paused; 0: it is not
    paused_by TEXT    NOT NULL DEFAULT '', -- who said so, by their name on that machine
    paused_on TEXT    NOT NULL DEFAULT '', -- the machine on which they said so
    why       TEXT    NOT NULL DEFAULT '', -- their reason
    moved_to  TEXT    NOT NULL DEFAULT ''  -- the database to which all rows were moved; it is used instead
) STRICT;
-- At most one row: from its random text the keys of the locks that machines share are made.
CREATE TABLE lock_key (
    id  INTEGER NOT NULL PRIMARY KEY,
    key TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions that hold locks in the shared database and are of no machine.
CREATE TABLE strangers (
    pid   INTEGER NOT NULL PRIMARY KEY, -- of the server's process
    role  TEXT    NOT NULL,
    since INTEGER NOT NULL              -- when a pass saw it first
) STRICT, WITHOUT ROWID;

-- Which programs may use a database of each schema. Each migration adds its row: so a program that
-- knows an older schema than the database has runs with it, if it knows one that is new enough. A
-- migration that only adds what has a default leaves in what the last release knows. One that removes
-- or changes something comes one release after the last program that uses it, and says so here.
CREATE TABLE schemas (
    number INTEGER NOT NULL PRIMARY KEY, -- of the migration
    oldest INTEGER NOT NULL              -- the schema that a program must know at least
) STRICT, WITHOUT ROWID;

INSERT INTO schemas (number, oldest) VALUES (22, 22);

-- How far the clock of a machine was ahead of a host's when the host answered last, in
-- milliseconds; less than 0: behind. And who gh was logged in as there.
CREATE TABLE clocks (
    machine TEXT    NOT NULL,
    host    TEXT    NOT NULL,
    ahead   INTEGER NOT NULL DEFAULT 0,
    account INTEGER NOT NULL DEFAULT 0, -- GitHub's id; 0: not known
    PRIMARY KEY (machine, host)
) STRICT, WITHOUT ROWID;

-- Limits of an account on a host: until when no pass asks for what counts against one that is
-- reached, and what was left of it when a pass read it last.
CREATE TABLE hosts (
    host       TEXT    NOT NULL,
    account    INTEGER NOT NULL,            -- GitHub's id; 0: not known
    resource   TEXT    NOT NULL,            -- as GitHub names it; *: everything
    not_before INTEGER NOT NULL DEFAULT 0,  -- 0: it was not reached
    reason     TEXT    NOT NULL DEFAULT '',
    remaining  INTEGER NOT NULL DEFAULT 0,
    most       INTEGER NOT NULL DEFAULT 0,
    reset_at   INTEGER NOT NULL DEFAULT 0,  -- GitHub's clock
    at         INTEGER NOT NULL DEFAULT 0,  -- when a pass read it last; 0: none did
    PRIMARY KEY (host, account, resource)
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
    host  TEXT    NOT NULL,
    id    INTEGER NOT NULL, -- GitHub's
    login TEXT    NOT NULL,
    bot   INTEGER NOT NULL,
    role  TEXT    NOT NULL, -- operator, review
    PRIMARY KEY (host, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE permissions (
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    account_id INTEGER NOT NULL,
    login      TEXT    NOT NULL,
    level      TEXT    NOT NULL,
    seen_at    INTEGER NOT NULL,
    PRIMARY KEY (repo_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE work_items (
    id               INTEGER PRIMARY KEY,
    repo_id          INTEGER NOT NULL REFERENCES repositories (id),
    number           INTEGER NOT NULL,
    flow             TEXT    NOT NULL,
    parent_id        INTEGER REFERENCES work_items (id),
    state            TEXT    NOT NULL,
    state_since      INTEGER NOT NULL,
    reason           TEXT    NOT NULL, -- why it is blocked or waits, as JSON; empty: it is and does not
    title            TEXT    NOT NULL,
    author_id        INTEGER NOT NULL,
    author_login     TEXT    NOT NULL,
    author_bot       INTEGER NOT NULL,
    url              TEXT    NOT NULL,
    priority         INTEGER NOT NULL,
    label            TEXT    NOT NULL,
    label_event      TEXT    NOT NULL,
    branch           TEXT    NOT NULL,
    document         TEXT    NOT NULL,
    touch_paths      TEXT    NOT NULL,
    -- What an implementation item knows of the design that it came from, and what
    -- it waits for.
    design_pull      INTEGER NOT NULL, -- number
    design_commit    TEXT    NOT NULL, -- its merge commit
    size             TEXT    NOT NULL, -- S, M, L
    depends_on       TEXT    NOT NULL,
    edited           TEXT    NOT NULL, -- what was changed about the issue after the label was set, by somebody whose word does not count; empty: nothing
    issue_closed     INTEGER NOT NULL, -- whether the issue was closed when it was last read
    -- Turns and runs after these count against the item's budgets; a person moves them on.
    allowance_from   INTEGER NOT NULL DEFAULT 0, -- turns.id
    allowance_run    INTEGER NOT NULL DEFAULT 0, -- runs.id
    -- What a start that stands still leaves to the turn that goes on, once people said
    -- more on the issue.
    resume_since         INTEGER NOT NULL DEFAULT 0,  -- 0: nothing
    resume_turn          TEXT    NOT NULL DEFAULT '', -- turn_key
    resume_commit        TEXT    NOT NULL DEFAULT '',
    run_start_comment_id INTEGER NOT NULL DEFAULT 0,  -- GitHub's
    comment_cursor       INTEGER NOT NULL DEFAULT 0,  -- GitHub's
    event_cursor         INTEGER NOT NULL DEFAULT 0,  -- events.id
    waiting_reason       TEXT    NOT NULL DEFAULT '', -- JSON
    -- What it waits for that no stop comment tells.
    wait             TEXT    NOT NULL DEFAULT '', -- JSON; empty: nothing
    wait_since       INTEGER NOT NULL DEFAULT 0,
    wait_look_at     INTEGER NOT NULL DEFAULT 0,  -- when it is decided about, even if nothing happened; 0: never
    wait_told_at     INTEGER NOT NULL DEFAULT 0,  -- when a comment and a notification about it were planned; 0: they were not
    -- The issues that GitHub lists as blocking this one.
    blockers_open    INTEGER NOT NULL DEFAULT 0,  -- when they were last read
    blockers_look_at INTEGER NOT NULL DEFAULT 0,  -- when they are read next; 0: never
    -- Why the repository's set-up failed for the last turn that it ran for.
    setup_failure    TEXT    NOT NULL DEFAULT '', -- empty: it did not
    setup_command    TEXT    NOT NULL DEFAULT '',
    setup_failed_at  INTEGER NOT NULL DEFAULT 0,
    parent_ref       TEXT    NOT NULL DEFAULT '', -- the issue whose sub-issue this issue is, as in dependencies; empty: it is none
    body             TEXT    NOT NULL,
    decision_summary TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL
) STRICT;

CREATE INDEX work_items_number ON work_items (repo_id, number);
CREATE INDEX work_items_look ON work_items (repo_id, wait_look_at) WHERE wait_look_at > 0;
CREATE INDEX work_items_blocked ON work_items (blockers_look_at, repo_id) WHERE blockers_look_at > 0;
CREATE INDEX work_items_told ON work_items (wait_told_at) WHERE wait_told_at > 0;
CREATE INDEX work_items_parent ON work_items (parent_ref) WHERE parent_ref <> '';
CREATE INDEX work_items_open ON work_items (repo_id)
    WHERE state NOT IN ('merged', 'completed', 'closed');

CREATE TABLE dependencies (
    item_id INTEGER NOT NULL REFERENCES work_items (id),
    ref     TEXT    NOT NULL, -- owner/name#12
    state   TEXT    NOT NULL, -- open, closed, missing
    seen_at INTEGER NOT NULL,
    listed  INTEGER NOT NULL DEFAULT 0, -- GitHub lists it as blocking; 0: the design names it
    PRIMARY KEY (item_id, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_ref ON dependencies (ref) WHERE listed = 1;

-- Roadmaps that were merged: one for each issue, kept by its first work item.
CREATE TABLE roadmaps (
    item_id    INTEGER PRIMARY KEY REFERENCES work_items (id),
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    state      TEXT    NOT NULL,
    since      INTEGER NOT NULL, -- of the state
    document   TEXT    NOT NULL, -- path
    hash       TEXT    NOT NULL, -- of the document that was applied last
    pull       INTEGER NOT NULL, -- number of the pull request that merged it; 0: not one of ours
    commit_oid TEXT    NOT NULL, -- at which it was read
    run        INTEGER NOT NULL, -- number of the pull request that began it
    revision   INTEGER NOT NULL, -- how many documents were applied
    look       INTEGER NOT NULL, -- how often something changed since the plan decided about it
    look_at    INTEGER NOT NULL, -- when GitHub is asked about it again
    why        TEXT    NOT NULL, -- why it is stopped, as JSON; empty: it is not
    goal       TEXT    NOT NULL, -- the document's text above its nodes
    table_at   INTEGER NOT NULL DEFAULT 0 -- when the comment with the table of issues is made again; 0: it is up to date
) STRICT;

CREATE INDEX roadmaps_live ON roadmaps (repo_id, state) WHERE state <> 'ended';
CREATE INDEX roadmaps_tables ON roadmaps (table_at) WHERE table_at > 0;

-- The nodes of the document that was applied last, those that it lacks by now, and their sub-issues.
CREATE TABLE roadmap_nodes (
    item_id   INTEGER NOT NULL REFERENCES roadmaps (item_id),
    node      TEXT    NOT NULL,
    position  INTEGER NOT NULL, -- in the document
    title     TEXT    NOT NULL,
    flow      TEXT    NOT NULL,
    needs     TEXT    NOT NULL, -- nodes
    hash      TEXT    NOT NULL, -- of title, flow and text
    step      TEXT    NOT NULL,
    number    INTEGER NOT NULL, -- of the sub-issue; 0: there is none yet
    applied   TEXT    NOT NULL, -- hash of what the sub-issue was given last
    edges     TEXT    NOT NULL, -- nodes that were set as blocking it
    body      TEXT    NOT NULL, -- text of the sub-issue
    PRIMARY KEY (item_id, node)
) STRICT, WITHOUT ROWID;

-- What GitHub lists below a roadmap's issue: people add to it, and take from it.
CREATE TABLE sub_issues (
    item_id  INTEGER NOT NULL REFERENCES roadmaps (item_id),
    ref      TEXT    NOT NULL, -- as in dependencies
    position INTEGER NOT NULL,
    state    TEXT    NOT NULL, -- as in dependencies
    title    TEXT    NOT NULL,
    PRIMARY KEY (item_id, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX sub_issues_ref ON sub_issues (ref);

-- Sub-issues of roadmaps that are ready, and on which nobody works.
CREATE TABLE idle_issues (
    item_id INTEGER NOT NULL REFERENCES roadmaps (item_id),
    ref     TEXT    NOT NULL, -- as in dependencies
    since   INTEGER NOT NULL,
    told_at INTEGER NOT NULL, -- when a comment told it; 0: none did
    PRIMARY KEY (item_id, ref)
) STRICT, WITHOUT ROWID;

-- Follow-ups that agents proposed; a person may have one opened as an issue.
CREATE TABLE proposals (
    item_id INTEGER NOT NULL REFERENCES work_items (id),
    number  INTEGER NOT NULL, -- from 1, for all items of an issue
    title   TEXT    NOT NULL,
    why     TEXT    NOT NULL,
    PRIMARY KEY (item_id, number)
) STRICT, WITHOUT ROWID;

-- Why a work item stands still, as GitHub shows it in one comment; kept once it
-- went on, to tell the same stop again from a new one.
CREATE TABLE stops (
    item_id  INTEGER PRIMARY KEY REFERENCES work_items (id),
    number   INTEGER NOT NULL, -- the issue or pull request where the comment stands
    token    TEXT    NOT NULL, -- of the comment's action
    reason   TEXT    NOT NULL, -- JSON
    attempts INTEGER NOT NULL, -- how often it came to this
    since    INTEGER NOT NULL,
    ended_at INTEGER NOT NULL, -- 0: it lasts
    taken_at INTEGER NOT NULL  -- since when people have the item, as the comment says; 0: it does not
) STRICT;

CREATE INDEX stops_live ON stops (since, taken_at) WHERE ended_at = 0 OR taken_at <> 0;

-- When people had taken an issue or a pull request over: what was said meanwhile
-- is not for the agents.
CREATE TABLE pauses (
    id       INTEGER PRIMARY KEY,
    repo_id  INTEGER NOT NULL REFERENCES repositories (id),
    number   INTEGER NOT NULL, -- of the issue or the pull request
    label_id INTEGER,          -- timeline id of the labelling; NULL: begun by a command
    began_at INTEGER NOT NULL, -- GitHub's clock
    ended_at INTEGER NOT NULL, -- GitHub's clock; 0: it lasts
    by_login TEXT    NOT NULL,
    UNIQUE (repo_id, number, label_id)
) STRICT;

CREATE INDEX pauses_open ON pauses (repo_id) WHERE ended_at = 0;

CREATE TABLE pull_requests (
    id            INTEGER PRIMARY KEY,
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    item_id       INTEGER REFERENCES work_items (id),
    number        INTEGER NOT NULL,
    node_id       TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    branch        TEXT    NOT NULL,
    head_oid      TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    mergeable     TEXT    NOT NULL,
    rollup        TEXT    NOT NULL,
    merge_commit  TEXT    NOT NULL,
    updated_at    INTEGER NOT NULL,
    fingerprint   TEXT    NOT NULL,
    details_at    INTEGER NOT NULL,
    whole_at      INTEGER NOT NULL DEFAULT 0, -- when they were read whole, if since then only newer reviews and threads were read
    created_at    INTEGER NOT NULL,
    files         TEXT    NOT NULL, -- what an open implementation changes: others that would touch the same files wait
    label_changes INTEGER NOT NULL, -- how often labels were set on it or taken from it, as far as its timeline was read
    -- A branch whose history somebody replaced waits until a person says to go on
    -- from what it is now. Neither column is part of the snapshot of GitHub.
    lost_oid      TEXT    NOT NULL, -- what the item's last turn made or worked from, and the branch lacks; empty: it has it
    accepted_oid  TEXT    NOT NULL, -- the head from which a person said to go on without it
    -- GitHub's own agents on it; see work.Beside.
    copilot_assigned    INTEGER NOT NULL DEFAULT 0,
    agent_merge         INTEGER NOT NULL DEFAULT 0,
    agent_merge_look_at INTEGER NOT NULL DEFAULT 0, -- 0: never
    agents_allowed      INTEGER NOT NULL DEFAULT 0, -- a person lets them work beside ours
    draft         INTEGER NOT NULL DEFAULT 0,
    author_id     INTEGER NOT NULL DEFAULT 0,  -- 0: not read yet, or the account is gone
    author_login  TEXT    NOT NULL DEFAULT '',
    author_bot    INTEGER NOT NULL DEFAULT 0,
    cross_repo    INTEGER NOT NULL DEFAULT 0,  -- from a fork
    head_repo     TEXT    NOT NULL DEFAULT '', -- empty: the fork is gone
    base_oid      TEXT    NOT NULL DEFAULT '',
    merge_base    TEXT    NOT NULL DEFAULT '', -- of head and base; several are joined by "-"; empty: not computed
    base_changed  INTEGER NOT NULL DEFAULT 0,  -- when the base was changed or force-pushed last; GitHub's clock
    head_since    INTEGER NOT NULL DEFAULT 0,  -- when this head was stored first; our clock
    checks_since  INTEGER NOT NULL DEFAULT 0,  -- since when checks of the head run; 0: none does
    -- What became of it, as GitHub says.
    ended_at      INTEGER NOT NULL DEFAULT 0,  -- GitHub's clock; 0: it is open, or nothing says when
    commits       INTEGER NOT NULL DEFAULT 0,
    human_commits INTEGER NOT NULL DEFAULT -1, -- those that are not ours; -1: not known
    end_read_at   INTEGER NOT NULL DEFAULT 0,  -- 0: its end was not read
    threads       TEXT    NOT NULL DEFAULT '[]', -- of its diff comments, as JSON
    UNIQUE (repo_id, number)
) STRICT;

CREATE INDEX pull_requests_item ON pull_requests (item_id);
CREATE INDEX pull_requests_open ON pull_requests (repo_id, number) WHERE state = 'open';
-- Those that are looked through for news, and those that may have been merged by us before
-- the database was lost.
CREATE INDEX pull_requests_created ON pull_requests (created_at);
CREATE INDEX pull_requests_merged ON pull_requests (repo_id, updated_at) WHERE state = 'merged';
-- Those that are looked at in each pass: they were not read, their branch was rewritten, or
-- checks of them run.
CREATE INDEX pull_requests_busy ON pull_requests (repo_id, updated_at)
    WHERE state = 'open' AND ((details_at = 0 OR fingerprint = '' OR lost_oid <> '') OR (rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN'));

CREATE TABLE turns (
    id            INTEGER PRIMARY KEY,
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    item_id       INTEGER NOT NULL REFERENCES work_items (id),
    number        INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    turn_key      TEXT    NOT NULL UNIQUE,
    step          TEXT    NOT NULL,
    slot          INTEGER NOT NULL,
    reason        TEXT    NOT NULL,
    blocked       INTEGER NOT NULL,
    branch        TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    head          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    sandbox       TEXT    NOT NULL, -- what stood between the agent and the operator's files; empty before it ran
    attempts      INTEGER NOT NULL,
    runs          INTEGER NOT NULL,
    commit_oid    TEXT    NOT NULL,
    session       TEXT    NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    unknown_tokens INTEGER NOT NULL DEFAULT 0, -- ended runs whose tokens are not known, or not all
    unknown_cost  INTEGER NOT NULL DEFAULT 0, -- the same of the cost
    event_keys    TEXT    NOT NULL,
    not_before    INTEGER NOT NULL,
    wait_reason   TEXT    NOT NULL,
    last_error    TEXT    NOT NULL,
    claimed_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL,
    reviewer      TEXT    NOT NULL DEFAULT '', -- whose review it makes, or whose demands it fixes
    tested        TEXT    NOT NULL DEFAULT '', -- the required tests that the commit passed; empty: none ran
    epoch         TEXT    NOT NULL DEFAULT '', -- replaced by each pass that takes the turn over, see repositories
    instead_of    TEXT    NOT NULL DEFAULT '', -- the agent in whose place agent works, because that one's provider is out; empty: none
    machine       TEXT    NOT NULL DEFAULT '', -- that holds it, or held it last
    request       BLOB,
    answer        BLOB
) STRICT;

-- One unfinished turn for one work item, and for one issue or pull request.
CREATE UNIQUE INDEX turns_unfinished_item ON turns (item_id)
    WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled');
CREATE UNIQUE INDEX turns_unfinished_number ON turns (repo_id, number)
    WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled');
CREATE INDEX turns_item ON turns (item_id);
CREATE INDEX turns_commit ON turns (repo_id, commit_oid) WHERE commit_oid <> '';
-- Which repository and kind was served last, without a look at all that is over.
CREATE INDEX turns_kind ON turns (repo_id, kind);

-- The commit of a turn whose answer is stored and whose push is not yet seen, so that each machine
-- of the database can push it. It is in no other machine's mirror.
CREATE TABLE bundles (
    turn_id    INTEGER PRIMARY KEY REFERENCES turns (id),
    commit_oid TEXT    NOT NULL,
    machine    TEXT    NOT NULL, -- whose mirror has the commit
    size       INTEGER NOT NULL, -- of content, in bytes
    content    BLOB              -- a git bundle; NULL: it is too large, and only that machine pushes the commit
) STRICT;

-- Every run of an agent, stored before it starts: one that ended with its pass was
-- made all the same.
CREATE TABLE runs (
    id            INTEGER PRIMARY KEY,
    turn_id       INTEGER NOT NULL REFERENCES turns (id),
    attempt       INTEGER NOT NULL, -- 1: it began an attempt, which budgets count as a turn; 0: it belongs to the one before, or nothing came of it
    agent         TEXT    NOT NULL,
    session       TEXT    NOT NULL, -- the provider's thread; empty: none, or not known yet
    began_at      INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL, -- 0: nobody saw its end
    input_tokens  INTEGER NOT NULL, -- these three as far as they were known last
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    tokens_known  INTEGER NOT NULL, -- 1: the tokens are those of the whole run; 0: it may have used more
    cost_known    INTEGER NOT NULL, -- the same of the cost
    -- What the provider has counted of the session since its beginning, for those that
    -- never tell what one run used; 0: nothing.
    counted_input_tokens  INTEGER NOT NULL DEFAULT 0,
    counted_output_tokens INTEGER NOT NULL DEFAULT 0,
    counted_cost_usd      REAL    NOT NULL DEFAULT 0.0,
    machine               TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX runs_turn ON runs (turn_id);
CREATE INDEX runs_began ON runs (began_at);
CREATE INDEX runs_open ON runs (turn_id) WHERE ended_at = 0;

CREATE TABLE events (
    id           INTEGER PRIMARY KEY,
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    item_id      INTEGER REFERENCES work_items (id),
    event_key    TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    content_hash TEXT    NOT NULL,
    author_id    INTEGER NOT NULL,
    author_login TEXT    NOT NULL,
    author_bot   INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    url          TEXT    NOT NULL,
    thread_top   INTEGER NOT NULL,
    path         TEXT    NOT NULL,
    line         INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    turn_id      INTEGER REFERENCES turns (id),
    processed_at INTEGER NOT NULL,
    outcome      TEXT    NOT NULL,
    review_id    INTEGER NOT NULL DEFAULT 0, -- GitHub's: the review that a diff comment belongs to
    node         TEXT    NOT NULL DEFAULT '', -- GitHub's id of a comment or a review
    body         TEXT    NOT NULL,
    diff_hunk    TEXT    NOT NULL,
    UNIQUE (repo_id, event_key)
) STRICT;

-- What is pending stays quick however many events were processed before, and the few facts
-- among it however many comments wait.
CREATE INDEX events_pending ON events (repo_id, kind, item_id) WHERE processed_at = 0;
CREATE INDEX events_outcome ON events (repo_id, outcome, processed_at) WHERE processed_at > 0;
CREATE INDEX events_item ON events (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX events_turn ON events (turn_id) WHERE turn_id IS NOT NULL;
-- The versions of one comment are found without a walk over every comment of its issue
-- or pull request. What asks for those of one number is served by it as well.
CREATE INDEX events_source ON events (repo_id, number, kind, source);
-- Of each work item the first comments that wait, without a walk over all of them.
CREATE INDEX events_said ON events (repo_id, item_id, created_at)
    WHERE processed_at = 0 AND turn_id IS NULL AND kind IN ('review', 'issue', 'summary', 'source');

CREATE TABLE actions (
    id           INTEGER PRIMARY KEY,
    repo_id      INTEGER NOT NULL REFERENCES repositories (id),
    turn_id      INTEGER REFERENCES turns (id),
    item_id      INTEGER REFERENCES work_items (id),
    position     INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    need         TEXT    NOT NULL,
    token        TEXT    NOT NULL UNIQUE,
    state        TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    target       TEXT    NOT NULL,
    on_kind      TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    base         TEXT    NOT NULL,
    head         TEXT    NOT NULL,
    why          TEXT    NOT NULL,
    sends        INTEGER NOT NULL,
    result_id    TEXT    NOT NULL,
    result_url   TEXT    NOT NULL,
    planned_at   INTEGER NOT NULL,
    sent_at      INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    last_error   TEXT    NOT NULL,
    ending       TEXT    NOT NULL DEFAULT '', -- of a void one: work.Ending
    settled_at   INTEGER NOT NULL,
    -- Of actions whose content is replaced by a newer one.
    renewals     INTEGER NOT NULL,
    made         INTEGER NOT NULL,            -- how many of its sends may have made something new
    seen_content TEXT    NOT NULL DEFAULT '', -- labels: what was last seen to be so; empty: unknown
    -- What shows a state on GitHub and was given up is tried again later, with growing
    -- waits: how often it was given up, and in not_before when it is tried again.
    dropped      INTEGER NOT NULL DEFAULT 0,
    extra        TEXT    NOT NULL DEFAULT '', -- review: its comments, as JSON
    body         TEXT    NOT NULL
) STRICT;

CREATE INDEX actions_turn ON actions (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX actions_item ON actions (item_id) WHERE item_id IS NOT NULL;
CREATE INDEX actions_notices ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent');
CREATE INDEX actions_sent ON actions (sent_at) WHERE sent_at > 0;
CREATE INDEX actions_unshown ON actions (repo_id, not_before) WHERE state = 'dropped' AND not_before > 0;
-- What merges, and which branches were updated, without a walk over all notices that wait
-- or were sent lately: a burst of comments leaves thousands of both.
CREATE INDEX actions_merging ON actions (repo_id, planned_at)
    WHERE turn_id IS NULL AND state IN ('planned', 'sent') AND kind IN ('merge', 'enqueue', 'dequeue', 'update_branch', 'delete_branch');
CREATE INDEX actions_updates ON actions (repo_id, sent_at) WHERE kind = 'update_branch' AND state = 'applied';

CREATE TABLE agent_sessions (
    item_id    INTEGER NOT NULL REFERENCES work_items (id),
    agent      TEXT    NOT NULL,
    role       TEXT    NOT NULL, -- a reviewer's name; empty: the author
    session    TEXT    NOT NULL,
    slot       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    machine    TEXT    NOT NULL, -- the provider has the session there only
    PRIMARY KEY (item_id, agent, role)
) STRICT, WITHOUT ROWID;

-- Agents whose last runs wait: for their provider, where another agent may take over, or on one machine
-- for a person, who logs the agent's program in, for example.
CREATE TABLE outages (
    agent    TEXT    NOT NULL, -- its name in the config
    machine  TEXT    NOT NULL, -- where a person has to act; empty: the provider is out, for all machines
    since    INTEGER NOT NULL, -- when the first of these runs ended
    tried_at INTEGER NOT NULL, -- when the last one ended
    until    INTEGER NOT NULL, -- until when that one waits
    why      TEXT    NOT NULL, -- what a person has to act on, as JSON; empty: the provider is out
    passes   INTEGER NOT NULL, -- in how many passes it was so
    setup    TEXT    NOT NULL, -- a hash of the agent's login and settings then: another one is tried at once
    PRIMARY KEY (agent, machine)
) STRICT, WITHOUT ROWID;

-- What happened, for people and programs.
CREATE TABLE history (
    id      INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repositories (id),
    item_id INTEGER REFERENCES work_items (id),
    number  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    key     TEXT,             -- of what reviews log: each thing once; NULL: any other line
    what    TEXT    NOT NULL,
    detail  TEXT    NOT NULL, -- of what reviews log: JSON
    UNIQUE (repo_id, key)
) STRICT;

CREATE INDEX history_item ON history (item_id, at);

-- What reviewers say of pull requests, and what follows from it.

-- Where the reviews and the merge of a pull request stand. What the config says of them is
-- in no row.
CREATE TABLE pull_reviews (
    pull_id    INTEGER PRIMARY KEY REFERENCES pull_requests (id),
    repo_id    INTEGER NOT NULL REFERENCES repositories (id),
    state      TEXT    NOT NULL DEFAULT '', -- empty: nothing is reviewed
    since      INTEGER NOT NULL DEFAULT 0,  -- of the state
    head       TEXT    NOT NULL DEFAULT '', -- when it was decided
    reviewer   TEXT    NOT NULL DEFAULT '', -- who is asked, or whose demands are fixed
    epoch      INTEGER NOT NULL DEFAULT 0,  -- how often a person had it begin again
    cycle      INTEGER NOT NULL DEFAULT 0,  -- how many fixes were pushed in this epoch
    why        TEXT    NOT NULL DEFAULT '', -- why it is stopped, as JSON; empty: it is not
    merge_type TEXT    NOT NULL DEFAULT '', -- forced, approved, auto; empty: it is not merged
    -- The turn that failed for good in this epoch, by the key of its event.
    failed_key TEXT    NOT NULL DEFAULT '',
    failed_why TEXT    NOT NULL DEFAULT '', -- JSON
    retries    INTEGER NOT NULL DEFAULT 0,
    last_error TEXT    NOT NULL DEFAULT '',
    label_head TEXT    NOT NULL DEFAULT '', -- of somebody else's pull request: the head that whoever set the label had in view
    held_at    INTEGER NOT NULL DEFAULT 0,  -- GitHub's clock; 0: nobody holds it
    held_by    TEXT    NOT NULL DEFAULT '',
    held_labelled INTEGER NOT NULL DEFAULT 0, -- its label was on the pull request; without it, the hold is over
    -- An idle pass decides nothing again: only where something changed since, or the config.
    look       INTEGER NOT NULL DEFAULT 0,  -- how often something changed since it was decided last
    policy     TEXT    NOT NULL DEFAULT '', -- what the config said then
    -- Why a head is not merged, as was seen when it was tried. It lasts until a person lifts it,
    -- or for as long as the head does.
    trouble_head TEXT    NOT NULL DEFAULT '',
    trouble_why  TEXT    NOT NULL DEFAULT '', -- JSON; empty: there is none
    -- GitHub's merge box of it, and what rules its base has.
    box_at       INTEGER NOT NULL DEFAULT 0,  -- since when it reads so; our clock
    box_read_at  INTEGER NOT NULL DEFAULT 0,  -- when it was read last, where that counts: a pass reads only so many
    box          TEXT    NOT NULL DEFAULT ''  -- JSON; empty: it was not read
) STRICT;

-- Those to be decided, and those to be merged.
CREATE INDEX pull_reviews_busy ON pull_reviews (repo_id, look, state) WHERE look > 0 OR state IN ('approved', 'checking_approval');
CREATE INDEX pull_reviews_policy ON pull_reviews (repo_id, policy) WHERE state NOT IN ('merged', 'closed');

-- What a reviewer said of a head. Turns are kept for a shorter time, so that turn_id
-- refers to none.
CREATE TABLE reviews (
    id         INTEGER PRIMARY KEY,
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    review_id  INTEGER NOT NULL, -- GitHub's; 0: a command gave it
    comment_id INTEGER NOT NULL, -- GitHub's, of the command; 0: a review gave it
    reviewer   TEXT    NOT NULL, -- empty: a person who is no reviewer
    human      INTEGER NOT NULL,
    head       TEXT    NOT NULL,
    merge_base TEXT    NOT NULL DEFAULT '', -- of the head and its base then: what it is about are the commits in between
    kept_from  TEXT    NOT NULL, -- the head that was looked at, where only the base was merged in since
    epoch      INTEGER NOT NULL,
    cycle      INTEGER NOT NULL,
    decision   TEXT    NOT NULL,
    validity   TEXT    NOT NULL,
    by_id      INTEGER NOT NULL,
    by_login   TEXT    NOT NULL,
    by_bot     INTEGER NOT NULL,
    turn_id    INTEGER NOT NULL, -- turns.id; 0: a person's, or found again after a loss
    called_in  TEXT    NOT NULL,
    highest    TEXT    NOT NULL, -- severity
    findings   INTEGER NOT NULL, -- how many
    unread     TEXT    NOT NULL DEFAULT '', -- paths that the reviewer was not shown whole
    at         INTEGER NOT NULL, -- GitHub's clock
    url        TEXT    NOT NULL,
    body       TEXT    NOT NULL
) STRICT;

CREATE INDEX reviews_pull ON reviews (pull_id, at);
CREATE UNIQUE INDEX reviews_source ON reviews (pull_id, review_id, comment_id, head) WHERE review_id <> 0 OR comment_id <> 0;
-- The last wall: no agent reviews the same commits twice.
CREATE UNIQUE INDEX reviews_once ON reviews (pull_id, reviewer, head, merge_base) WHERE human = 0 AND kept_from = '';

CREATE TABLE findings (
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    id          TEXT    NOT NULL, -- the beginning of its token
    verdict_id  INTEGER REFERENCES reviews (id),
    reviewer    TEXT    NOT NULL,
    head        TEXT    NOT NULL,
    cycle       INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    line        INTEGER NOT NULL, -- 0: the file as a whole
    severity    TEXT    NOT NULL,
    confidence  TEXT    NOT NULL,
    comment_id  INTEGER NOT NULL, -- GitHub's; 0: it stands in the review's own text
    thread_node TEXT    NOT NULL,
    resolved_by INTEGER REFERENCES reviews (id), -- in which its reviewer says that it is done
    position    INTEGER NOT NULL, -- among the findings of the pull request
    body        TEXT    NOT NULL,
    answer      TEXT    NOT NULL, -- the author's
    PRIMARY KEY (pull_id, id)
) STRICT;

-- Turns that were to do what a reviewer asked for.
CREATE TABLE fixes (
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    review_id  INTEGER NOT NULL, -- GitHub's
    epoch      INTEGER NOT NULL,
    cycle      INTEGER NOT NULL,
    reviewer   TEXT    NOT NULL,
    turn_id    INTEGER NOT NULL, -- as in reviews
    head       TEXT    NOT NULL, -- that was reviewed
    commit_oid TEXT    NOT NULL, -- that was pushed
    outcome    TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (pull_id, review_id, epoch, cycle)
) STRICT, WITHOUT ROWID;

-- Reviewers whom others called in, and people who were asked for a review, once for each
-- head.
CREATE TABLE review_calls (
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    reviewer    TEXT    NOT NULL,
    head        TEXT    NOT NULL, -- empty: called in, whatever the head is
    by_reviewer TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    position    INTEGER NOT NULL, -- among the calls of the pull request
    PRIMARY KEY (pull_id, reviewer, head)
) STRICT, WITHOUT ROWID;

-- What is merged without a person: what people said, what was sent and what landed.

-- People's words that a head may be merged.
CREATE TABLE merge_words (
    pull_id    INTEGER NOT NULL REFERENCES pull_requests (id),
    head       TEXT    NOT NULL,
    merge_base TEXT    NOT NULL DEFAULT '',
    comment_id INTEGER NOT NULL, -- GitHub's; below 0: given on the command line
    by_id      INTEGER NOT NULL,
    by_login   TEXT    NOT NULL,
    by_bot     INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    at         INTEGER NOT NULL, -- GitHub's clock
    PRIMARY KEY (pull_id, head, comment_id)
) STRICT, WITHOUT ROWID;

-- Every merge of ours, stored before it is asked for: one for each head.
CREATE TABLE merges (
    id          INTEGER PRIMARY KEY,
    repo_id     INTEGER NOT NULL REFERENCES repositories (id),
    pull_id     INTEGER NOT NULL REFERENCES pull_requests (id),
    item_id     INTEGER REFERENCES work_items (id),
    number      INTEGER NOT NULL, -- of the pull request
    head        TEXT    NOT NULL,
    base        TEXT    NOT NULL, -- branch
    base_oid    TEXT    NOT NULL, -- its head when the merge was meant
    tree        TEXT    NOT NULL, -- that was to come of it; empty: a queue decides on which base
    method      TEXT    NOT NULL,
    stage       TEXT    NOT NULL,
    commit_oid  TEXT    NOT NULL, -- that landed
    parent_oid  TEXT    NOT NULL, -- on which it landed
    landed_tree TEXT    NOT NULL,
    at          INTEGER NOT NULL, -- when it was meant last
    landed_at   INTEGER NOT NULL, -- 0: not yet
    differs     TEXT    NOT NULL, -- in what it is not what was meant; empty: in nothing
    UNIQUE (pull_id, head)
) STRICT;

CREATE INDEX merges_at ON merges (repo_id, at);
CREATE INDEX merges_unsettled ON merges (repo_id) WHERE stage IN ('intended', 'queued', 'half');

-- What is kept of runs, turns, verdicts and answers once their rows are pruned, and failures,
-- which are counted as they happen. Nothing is in both: what is added here is deleted there
-- in the same transaction.
CREATE TABLE totals (
    what          TEXT    NOT NULL, -- run, turn, verdict, failure, turn_time, answer_time
    day           INTEGER NOT NULL, -- since 1970, UTC
    repo_id       INTEGER NOT NULL REFERENCES repositories (id),
    item_id       INTEGER NOT NULL, -- work_items.id; 0: not kept apart
    kind          TEXT    NOT NULL, -- of a turn; of a failure's reason
    agent         TEXT    NOT NULL,
    reviewer      TEXT    NOT NULL, -- empty: none; of verdicts: people
    machine       TEXT    NOT NULL DEFAULT '', -- where a run was, a turn ended or a failure happened; empty: not kept apart
    outcome       TEXT    NOT NULL, -- the step in which a turn ended; a verdict's decision
    most          INTEGER NOT NULL, -- of times: the bucket's upper bound in seconds; 0: there is none
    n             INTEGER NOT NULL,
    attempts      INTEGER NOT NULL, -- of runs, as the six that follow
    unknown_tokens INTEGER NOT NULL, -- runs whose tokens are not known, or not all
    unknown_cost  INTEGER NOT NULL, -- the same of the cost
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd      REAL    NOT NULL,
    findings      INTEGER NOT NULL, -- of verdicts
    ms            INTEGER NOT NULL, -- of times: their sum
    PRIMARY KEY (what, day, repo_id, item_id, kind, agent, reviewer, machine, outcome, most)
) STRICT, WITHOUT ROWID;
CREATE INDEX totals_item ON totals (item_id) WHERE what = 'run' AND item_id > 0;

-- Requests to GitHub by their answers; and, with an empty host, passes by their outcomes.
-- Both are counted where metrics are written, by each machine for itself.
CREATE TABLE counters (
    machine TEXT    NOT NULL,
    host    TEXT    NOT NULL,
    api     TEXT    NOT NULL, -- rest, graphql
    outcome TEXT    NOT NULL, -- of a request the status; none: it got no answer
    n       INTEGER NOT NULL,
    ms      INTEGER NOT NULL, -- of passes: how long they took together
    PRIMARY KEY (machine, host, api, outcome)
) STRICT, WITHOUT ROWID;

-- What the operator is told outside of GitHub: each once for each target.
CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY,
    target     TEXT    NOT NULL, -- of [[notify]]
    key        TEXT    NOT NULL, -- what it is about
    what       TEXT    NOT NULL,
    repo_id    INTEGER REFERENCES repositories (id), -- NULL: the pass itself
    item_id    INTEGER, -- work_items (id), without a reference: a new item would have all that was told looked through
    number     INTEGER NOT NULL,
    at         INTEGER NOT NULL, -- when it happened
    state      TEXT    NOT NULL, -- planned, sent, done, failed, unclear, dropped
    sent_at    INTEGER NOT NULL,
    settled_at INTEGER NOT NULL,
    last_error TEXT    NOT NULL,
    machine    TEXT    NOT NULL DEFAULT '', -- about whose passes it is; empty: about no machine's
    body       TEXT    NOT NULL, -- JSON
    UNIQUE (target, key)
) STRICT;

CREATE INDEX notifications_planned ON notifications (at) WHERE state IN ('planned', 'sent');
-- What was told of a machine last, without a walk over all that was ever told of it.
CREATE INDEX notifications_passes ON notifications (target, machine, at, id) WHERE what IN ('pass_failing', 'pass_recovered');
CREATE INDEX notifications_silences ON notifications (target, machine, at, id) WHERE what IN ('machine_silent', 'machine_back');

-- Since when each target is told what: what began before is no news to it.
CREATE TABLE notify_targets (
    target TEXT    NOT NULL,
    what   TEXT    NOT NULL,
    config TEXT    NOT NULL, -- the path of the config that names it
    since  INTEGER NOT NULL,
    PRIMARY KEY (target, what)
) STRICT, WITHOUT ROWID;
