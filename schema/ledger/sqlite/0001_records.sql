-- Epsilog ledger, format 1: constant facts once, every event a record in a hashed tree. Applied to an empty file.
-- After the first release this file is never edited: a change is a new table in the next numbered file.
--
-- Times are milliseconds since 1970 in UTC, 0 where there is none; identifiers are bytes; amounts are grid units
-- of their measure, at most 2^61. What one row says, no other repeats. That rows follow from each other is seen
-- to by who writes and by the audit; triggers stand where anybody with a shell could undo history by mistake.
--
-- A CHECK bounds numbers and lengths and says what follows from a word that is known. None lists the words that a
-- column may hold (outcome, reservation, kind, cause, type): a reader knows them, and an unknown one is a fault.

CREATE TABLE meta(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  ledger_id BLOB NOT NULL CHECK (length(ledger_id) = 16),
  created_at INTEGER NOT NULL CHECK (created_at > 0),
  last_time INTEGER NOT NULL CHECK (last_time >= created_at),
  decisions INTEGER NOT NULL CHECK (decisions >= 0),
  policy_versions INTEGER NOT NULL CHECK (policy_versions >= 1),
  limit_changes INTEGER NOT NULL CHECK (limit_changes >= 0),
  clock_events INTEGER NOT NULL CHECK (clock_events >= 0),
  accounts INTEGER NOT NULL CHECK (accounts >= 0),
  limit_removals INTEGER NOT NULL CHECK (limit_removals >= 0),
  relocations INTEGER NOT NULL CHECK (relocations >= 0),
  events INTEGER NOT NULL CHECK (events >= 0),
  names INTEGER NOT NULL CHECK (names >= 0),
  builds INTEGER NOT NULL CHECK (builds >= 0),
  plans INTEGER NOT NULL CHECK (plans >= 0),
  credential_events INTEGER NOT NULL CHECK (credential_events >= 0),
  key_events INTEGER NOT NULL CHECK (key_events >= 0),
  recoveries INTEGER NOT NULL CHECK (recoveries >= 0),
  seal_events INTEGER NOT NULL CHECK (seal_events >= 0),
  features INTEGER NOT NULL CHECK (features >= 0),
  -- Lines of the log; and how many of them a replica is known to hold durably, one group behind.
  log_size INTEGER NOT NULL CHECK (log_size >= 1),
  replica_size INTEGER NOT NULL CHECK (replica_size BETWEEN 0 AND log_size),
  -- 1: made from lines, and never written to.
  read_only INTEGER NOT NULL CHECK (read_only IN (0, 1)),
  wall_clock INTEGER NOT NULL CHECK (wall_clock >= 0),
  boot_id TEXT NOT NULL,
  boot_offset INTEGER NOT NULL,
  held_at INTEGER NOT NULL CHECK (held_at >= 0)
) STRICT;

CREATE TABLE policy_version(
  version INTEGER PRIMARY KEY CHECK (version >= 1),
  yaml TEXT NOT NULL,
  implies TEXT NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  base_dir TEXT NOT NULL,
  applied_at INTEGER NOT NULL CHECK (applied_at > 0),
  applied_by TEXT NOT NULL CHECK (applied_by <> ''),
  why TEXT NOT NULL,
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  event INTEGER NOT NULL CHECK (event >= 1)
) STRICT;

CREATE TABLE account(
  id INTEGER PRIMARY KEY CHECK (id >= 1),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  scope TEXT NOT NULL,
  measure TEXT NOT NULL CHECK (measure <> ''),
  "limit" INTEGER NOT NULL CHECK ("limit" BETWEEN 0 AND 2305843009213693952),
  spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND 2305843009213693952),
  reserved INTEGER NOT NULL CHECK (reserved BETWEEN 0 AND 2305843009213693952),
  -- Of id, dataset, scope, measure, limit, spent and reserved (docs/ledger_format.md).
  checksum INTEGER NOT NULL,
  opened_at INTEGER NOT NULL CHECK (opened_at > 0),
  UNIQUE (dataset, scope, measure),
  CHECK (spent <= "limit"),
  CHECK (reserved <= "limit" - spent)
) STRICT;
-- The reservations that end with their period.
CREATE INDEX account_reserved_in_period ON account(scope) WHERE reserved > 0 AND scope GLOB 'period:*';

-- Principals and datasets, as decisions have them.
CREATE TABLE name(
  number INTEGER PRIMARY KEY CHECK (number >= 1),
  name TEXT NOT NULL UNIQUE CHECK (name <> '')
) STRICT;
-- A name is looked for in two indexes, so that damage of one gives nobody a second number.
CREATE INDEX name_again ON name(name, number);

-- Programs that recorded decisions.
CREATE TABLE build(
  number INTEGER PRIMARY KEY CHECK (number >= 1),
  version TEXT NOT NULL,
  revision TEXT NOT NULL,
  UNIQUE (version, revision)
) STRICT;

-- A question under a policy version and how it is answered; release '' where it was not.
CREATE TABLE plan(
  number INTEGER PRIMARY KEY CHECK (number >= 1),
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  question TEXT NOT NULL CHECK (question <> ''),
  release TEXT NOT NULL,
  first_at INTEGER NOT NULL CHECK (first_at > 0)
) STRICT;

-- outcome: 1 granted, 2 refused, 3 reserved, 4 pending, 5 approved, 6 rejected, 7 data accessed, 8 voided,
-- 9 forfeited. reservation: 0 none, 1 plain, 2 against a data token. parent: seq, 0 for none. via: empty for
-- "claimed". data_token_sha256: of the data token that it issued, else empty. data_token: its 32 bytes, empty where
-- this file does not hold them, because the row was made of a line, which has the hash alone.
CREATE TABLE decision(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  line_index INTEGER NOT NULL CHECK (line_index >= 1),
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  time INTEGER NOT NULL CHECK (time > 0),
  principal INTEGER NOT NULL,
  via TEXT NOT NULL,
  key TEXT NOT NULL,
  parent INTEGER NOT NULL CHECK (parent BETWEEN 0 AND seq - 1),
  deadline INTEGER NOT NULL,
  outcome INTEGER NOT NULL CHECK (outcome >= 1),
  reasons TEXT NOT NULL,
  rules INTEGER NOT NULL CHECK (rules >= 1),
  build INTEGER NOT NULL CHECK (build >= 1),
  policy_version INTEGER NOT NULL,
  decided_under INTEGER NOT NULL CHECK (decided_under >= 1),
  dataset INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  purpose TEXT NOT NULL,
  reservation INTEGER NOT NULL CHECK (reservation >= 0),
  conflicting_key TEXT NOT NULL,
  verb TEXT NOT NULL,
  why TEXT NOT NULL,
  component_values TEXT NOT NULL,
  "values" TEXT NOT NULL,
  data_token BLOB NOT NULL CHECK (length(data_token) IN (0, 32)),
  data_token_sha256 BLOB NOT NULL CHECK (length(data_token_sha256) IN (0, 32)),
  CHECK (data_token_sha256 <> x'' OR data_token = x''),
  CHECK (deadline = 0 OR deadline > time),
  CHECK (reasons = '' OR "values" = ''),
  CHECK (outcome <> 1 OR ("values" <> '' AND deadline = 0)),
  CHECK (outcome <> 2 OR (reasons <> '' AND deadline = 0)),
  CHECK (outcome <> 3 OR (reasons = '' AND deadline > 0)),
  CHECK (outcome <> 4 OR (reasons = '' AND deadline > 0 AND parent = 0))
) STRICT;

CREATE UNIQUE INDEX decision_by_key ON decision(principal, key) WHERE key <> '';
-- A key is looked for in two orders, so that damage of one index does not make it free.
CREATE INDEX decision_by_key_first ON decision(key, principal) WHERE key <> '';
CREATE INDEX decision_by_dataset ON decision(dataset);
-- What an asker was charged lately: by answers at once, and by what became of reservations.
CREATE INDEX decision_charged ON decision(dataset, principal, time, plan, outcome, parent)
  WHERE outcome = 1 AND parent = 0;
CREATE INDEX decision_settled ON decision(dataset, time, parent, outcome) WHERE outcome IN (1, 9) AND parent > 0;
CREATE INDEX decision_by_parent ON decision(parent) WHERE parent > 0;
-- Whatever becomes of a reserved or pending decision, becomes of it once.
CREATE UNIQUE INDEX decision_resolves ON decision(parent) WHERE parent > 0 AND outcome NOT IN (5, 7);
CREATE UNIQUE INDEX decision_votes_once ON decision(parent, principal) WHERE outcome IN (5, 6);
CREATE UNIQUE INDEX decision_issues_one_token ON decision(parent) WHERE outcome = 7;

-- What a decision did to the accounts it touched, and how they stood then. position: among those that the
-- decision shows, from 1; 0 for one it does not show.
CREATE TABLE movement(
  seq INTEGER NOT NULL REFERENCES decision(seq),
  account INTEGER NOT NULL REFERENCES account(id),
  position INTEGER NOT NULL CHECK (position >= 0),
  spent_change INTEGER NOT NULL CHECK (spent_change BETWEEN 0 AND 2305843009213693952),
  reserved_change INTEGER NOT NULL
    CHECK (reserved_change BETWEEN -2305843009213693952 AND 2305843009213693952),
  spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND 2305843009213693952),
  reserved INTEGER NOT NULL CHECK (reserved BETWEEN 0 AND 2305843009213693952),
  "limit" INTEGER NOT NULL CHECK ("limit" BETWEEN 0 AND 2305843009213693952),
  PRIMARY KEY (seq, account)
) STRICT, WITHOUT ROWID;

-- Derived from decision: what is reserved or pending and not resolved. It exists to be found by deadline.
CREATE TABLE open_decision(
  seq INTEGER PRIMARY KEY REFERENCES decision(seq),
  deadline INTEGER NOT NULL CHECK (deadline > 0)
) STRICT;
CREATE INDEX open_decision_by_deadline ON open_decision(deadline);

CREATE TABLE limit_change(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  account INTEGER NOT NULL REFERENCES account(id),
  old_limit INTEGER NOT NULL CHECK (old_limit BETWEEN 0 AND 2305843009213693952),
  new_limit INTEGER NOT NULL CHECK (new_limit BETWEEN 0 AND 2305843009213693952),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL,
  CHECK (old_limit <> new_limit)
) STRICT;

-- A policy version that declares a limit no more: the account stays, and limits nothing from then on.
CREATE TABLE limit_removal(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  account INTEGER NOT NULL REFERENCES account(id),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

CREATE TABLE clock_event(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  type TEXT NOT NULL CHECK (type <> ''),
  ledger_time INTEGER NOT NULL CHECK (ledger_time > 0),
  wall_clock INTEGER NOT NULL,
  by TEXT NOT NULL,
  event INTEGER NOT NULL CHECK (event >= 1)
) STRICT;

-- Where the source of a dataset is found from then on, whatever its policy says. Programs refuse an empty path:
-- a later feature stores several paths elsewhere (docs/record_format.md, "Features").
CREATE TABLE relocation(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  event INTEGER NOT NULL CHECK (event >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  path TEXT NOT NULL,
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- Who may call himself whom.
CREATE TABLE credential_event(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
  credential TEXT NOT NULL CHECK (credential <> ''),
  type TEXT NOT NULL,
  principal TEXT NOT NULL,
  value TEXT NOT NULL,
  until INTEGER NOT NULL CHECK (until >= 0),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- The keys that sign checkpoints.
CREATE TABLE key_event(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  retired INTEGER NOT NULL CHECK (retired IN (0, 1)),
  verifier_key TEXT NOT NULL CHECK (verifier_key <> ''),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- What was done after something broke: lines put back, and lines that stand nowhere any more. Where somebody
-- accepted that lines are missing: how many L.lock remembered, and how many were found.
CREATE TABLE recovery(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  cause TEXT NOT NULL CHECK (cause <> ''),
  restored_lines INTEGER NOT NULL CHECK (restored_lines >= 0),
  dropped_lines INTEGER NOT NULL CHECK (dropped_lines >= 0),
  remembered_lines INTEGER NOT NULL CHECK (remembered_lines >= 0),
  found_lines INTEGER NOT NULL CHECK (found_lines >= 0),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- Seals, after which nothing is written here, and their ends, with which the ledger goes on elsewhere.
CREATE TABLE seal_event(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  unsealed INTEGER NOT NULL CHECK (unsealed IN (0, 1)),
  at INTEGER NOT NULL CHECK (at > 0),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL CHECK (unsealed = 1 OR why <> '')
) STRICT;

-- What a program has to know to read and write this file. One that does not know a name stops.
CREATE TABLE feature(
  number INTEGER PRIMARY KEY CHECK (number >= 1),
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  at INTEGER NOT NULL CHECK (at > 0)
) STRICT;

-- Replicas that the policy names no more, and whose file does not say so yet. About this file, not history.
CREATE TABLE stale_replica(
  path TEXT PRIMARY KEY CHECK (path <> ''),
  synced INTEGER NOT NULL CHECK (synced IN (0, 1)),
  known_size INTEGER NOT NULL CHECK (known_size >= 0),
  size INTEGER NOT NULL CHECK (size >= known_size)
) STRICT;

-- Which row is which line, and the leaf of its hash. kind: 0 ledger, 1 policy, 2 place of a policy,
-- 3 relocation, 4 account, 5 limit change, 6 limit removal, 7 plan, 8 decision, 9 clock event, 10 credential,
-- 11 key, 12 recovery, 13 seal, 14 feature. row: the number in its table.
CREATE TABLE log(
  line_index INTEGER PRIMARY KEY CHECK (line_index >= 0),
  kind INTEGER NOT NULL CHECK (kind >= 0),
  row INTEGER NOT NULL,
  blind BLOB NOT NULL CHECK (length(blind) = 16),
  leaf BLOB NOT NULL CHECK (length(leaf) = 32)
) STRICT;

-- The lines of policy versions and plans, which decisions refer to by their number.
CREATE UNIQUE INDEX log_fact ON log(kind, row) WHERE kind IN (1, 7);

-- Of the tree above the leaves, the full nodes of levels 8, 16, ...
CREATE TABLE node(
  level INTEGER NOT NULL CHECK (level > 0 AND level % 8 = 0),
  number INTEGER NOT NULL CHECK (number >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot change'); END;
CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot be deleted'); END;
CREATE TRIGGER movement_no_update BEFORE UPDATE ON movement
BEGIN SELECT RAISE(ABORT, 'movement is history: it cannot change'); END;
CREATE TRIGGER movement_no_delete BEFORE DELETE ON movement
BEGIN SELECT RAISE(ABORT, 'movement is history: it cannot be deleted'); END;
CREATE TRIGGER plan_no_update BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'plan is history: it cannot change'); END;
CREATE TRIGGER policy_version_no_update BEFORE UPDATE ON policy_version
BEGIN SELECT RAISE(ABORT, 'policy_version is history: it cannot change'); END;
CREATE TRIGGER log_no_update BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'log is history: it cannot change'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'log is history: it cannot be deleted'); END;

CREATE TRIGGER account_identity BEFORE UPDATE OF id, dataset, scope, measure, opened_at ON account
BEGIN SELECT RAISE(ABORT, 'an account keeps its identity'); END;
CREATE TRIGGER account_spent_grows BEFORE UPDATE OF spent ON account
WHEN NEW.spent < OLD.spent
BEGIN SELECT RAISE(ABORT, 'what is spent is never given back'); END;
CREATE TRIGGER meta_only_forward BEFORE UPDATE ON meta
WHEN NEW.ledger_id <> OLD.ledger_id OR NEW.last_time < OLD.last_time OR NEW.decisions < OLD.decisions
  OR NEW.policy_versions < OLD.policy_versions OR NEW.accounts < OLD.accounts OR NEW.events < OLD.events
  OR NEW.log_size < OLD.log_size OR NEW.read_only < OLD.read_only
BEGIN SELECT RAISE(ABORT, 'meta only moves forward'); END;
