-- Epsilog ledger, schema version 1. Never edited: a change is the next numbered file.
--
-- Amounts are integers in grid units of their measure (epsilon 10^-12, delta 10^-18), at most 2^61,
-- so that no sum of four of them leaves int64. Times are RFC 3339 UTC with milliseconds; such texts
-- order bytewise. docs/ledger_format.md explains every column.
--
-- Triggers make an accident loud. Correctness does not rest on them: whoever owns the file can drop
-- them, and `epsilog audit verify` recomputes everything from the charges and compares this schema.

CREATE TABLE meta(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  ledger_id TEXT NOT NULL CHECK (length(ledger_id) = 32),
  created_at TEXT NOT NULL CHECK (length(created_at) = 24),
  last_time TEXT NOT NULL CHECK (length(last_time) = 24),
  decisions INTEGER NOT NULL CHECK (decisions >= 0),
  policy_versions INTEGER NOT NULL CHECK (policy_versions >= 1),
  limit_changes INTEGER NOT NULL CHECK (limit_changes >= 0)
) STRICT;

CREATE TABLE policy_version(
  version INTEGER PRIMARY KEY CHECK (version >= 1),
  yaml TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
  base_dir TEXT NOT NULL,
  applied_at TEXT NOT NULL CHECK (length(applied_at) = 24),
  applied_by TEXT NOT NULL CHECK (applied_by <> '')
) STRICT;

CREATE TABLE account(
  id INTEGER PRIMARY KEY CHECK (id >= 1),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  scope TEXT NOT NULL,
  measure TEXT NOT NULL CHECK (measure <> ''),
  budget INTEGER NOT NULL CHECK (budget BETWEEN 0 AND 2305843009213693952),
  spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND 2305843009213693952),
  reserved INTEGER NOT NULL CHECK (reserved BETWEEN 0 AND 2305843009213693952),
  UNIQUE (dataset, scope, measure),
  CHECK (spent <= budget),
  CHECK (reserved <= budget - spent)
) STRICT;

CREATE TABLE decision(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
  created_at TEXT NOT NULL CHECK (length(created_at) = 24),
  principal TEXT NOT NULL CHECK (principal <> ''),
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL CHECK (length(request_digest) = 64 AND request_digest NOT GLOB '*[^0-9a-f]*'),
  request TEXT NOT NULL CHECK (substr(request, 1, 1) = '{'),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  outcome TEXT NOT NULL CHECK (outcome IN ('granted', 'refused')),
  reasons TEXT NOT NULL CHECK (substr(reasons, 1, 1) IN ('[', '{')),
  accounts TEXT NOT NULL CHECK (substr(accounts, 1, 1) IN ('[', '{')),
  CHECK ((outcome = 'granted') = (reasons = '[]'))
) STRICT;

CREATE UNIQUE INDEX decision_by_key ON decision(principal, key) WHERE key <> '';
CREATE INDEX decision_by_dataset ON decision(dataset, seq);

CREATE TABLE charge(
  decision_id TEXT NOT NULL REFERENCES decision(id),
  account_id INTEGER NOT NULL REFERENCES account(id),
  amount INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 2305843009213693952),
  PRIMARY KEY (decision_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE release(
  decision_id TEXT NOT NULL PRIMARY KEY REFERENCES decision(id),
  mechanism TEXT NOT NULL CHECK (mechanism <> ''),
  arithmetic TEXT NOT NULL,
  precision INTEGER NOT NULL CHECK (precision >= 0),
  sensitivity TEXT NOT NULL,
  bound TEXT NOT NULL,
  scale TEXT NOT NULL,
  grid TEXT NOT NULL,
  requested TEXT NOT NULL CHECK (requested <> ''),
  charged TEXT NOT NULL CHECK (charged <> ''),
  adjusted TEXT NOT NULL CHECK (adjusted <> ''),
  published TEXT NOT NULL,
  value TEXT NOT NULL CHECK (substr(value, 1, 1) IN ('[', '{')),
  components TEXT NOT NULL CHECK (substr(components, 1, 1) IN ('[', '{')),
  cells TEXT NOT NULL CHECK (substr(cells, 1, 1) IN ('[', '{')),
  post_processing TEXT NOT NULL CHECK (substr(post_processing, 1, 1) IN ('[', '{'))
) STRICT;

CREATE TABLE limit_change(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  account_id INTEGER NOT NULL REFERENCES account(id),
  old_limit INTEGER NOT NULL CHECK (old_limit BETWEEN 0 AND 2305843009213693952),
  new_limit INTEGER NOT NULL CHECK (new_limit BETWEEN 0 AND 2305843009213693952),
  changed_at TEXT NOT NULL CHECK (length(changed_at) = 24),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL,
  CHECK (old_limit <> new_limit)
) STRICT;

CREATE TRIGGER decision_in_order BEFORE INSERT ON decision
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM decision)
  OR NEW.id <= (SELECT id FROM decision ORDER BY seq DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'decisions are numbered without gaps and their ids ascend'); END;
CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot change'); END;
CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot be deleted'); END;

CREATE TRIGGER charge_no_update BEFORE UPDATE ON charge
BEGIN SELECT RAISE(ABORT, 'charge is history: it cannot change'); END;
CREATE TRIGGER charge_no_delete BEFORE DELETE ON charge
BEGIN SELECT RAISE(ABORT, 'charge is history: it cannot be deleted'); END;

CREATE TRIGGER release_no_update BEFORE UPDATE ON release
BEGIN SELECT RAISE(ABORT, 'release is history: it cannot change'); END;
CREATE TRIGGER release_no_delete BEFORE DELETE ON release
BEGIN SELECT RAISE(ABORT, 'release is history: it cannot be deleted'); END;

CREATE TRIGGER policy_version_in_order BEFORE INSERT ON policy_version
WHEN NEW.version IS NOT (SELECT coalesce(max(version), 0) + 1 FROM policy_version)
BEGIN SELECT RAISE(ABORT, 'policy versions are numbered without gaps'); END;
CREATE TRIGGER policy_version_no_update BEFORE UPDATE ON policy_version
BEGIN SELECT RAISE(ABORT, 'policy_version is history: it cannot change'); END;
CREATE TRIGGER policy_version_no_delete BEFORE DELETE ON policy_version
BEGIN SELECT RAISE(ABORT, 'policy_version is history: it cannot be deleted'); END;

CREATE TRIGGER limit_change_in_order BEFORE INSERT ON limit_change
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM limit_change)
BEGIN SELECT RAISE(ABORT, 'limit changes are numbered without gaps'); END;
CREATE TRIGGER limit_change_no_update BEFORE UPDATE ON limit_change
BEGIN SELECT RAISE(ABORT, 'limit_change is history: it cannot change'); END;
CREATE TRIGGER limit_change_no_delete BEFORE DELETE ON limit_change
BEGIN SELECT RAISE(ABORT, 'limit_change is history: it cannot be deleted'); END;

CREATE TRIGGER account_identity BEFORE UPDATE ON account
WHEN NEW.id <> OLD.id OR NEW.dataset <> OLD.dataset OR NEW.scope <> OLD.scope OR NEW.measure <> OLD.measure
BEGIN SELECT RAISE(ABORT, 'an account keeps its identity'); END;
CREATE TRIGGER account_spent_grows BEFORE UPDATE ON account
WHEN NEW.spent < OLD.spent
BEGIN SELECT RAISE(ABORT, 'what is spent is never given back'); END;
CREATE TRIGGER account_starts_unspent BEFORE INSERT ON account
WHEN NEW.spent <> 0 OR NEW.reserved <> 0
BEGIN SELECT RAISE(ABORT, 'a new account has spent nothing'); END;
CREATE TRIGGER account_no_delete BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'an account cannot be deleted'); END;

CREATE TRIGGER meta_only_forward BEFORE UPDATE ON meta
WHEN NEW.one <> OLD.one OR NEW.ledger_id <> OLD.ledger_id OR NEW.created_at <> OLD.created_at
  OR NEW.last_time < OLD.last_time OR NEW.decisions < OLD.decisions
  OR NEW.policy_versions < OLD.policy_versions OR NEW.limit_changes < OLD.limit_changes
BEGIN SELECT RAISE(ABORT, 'meta only moves forward'); END;
CREATE TRIGGER meta_no_delete BEFORE DELETE ON meta
BEGIN SELECT RAISE(ABORT, 'meta cannot be deleted'); END;
