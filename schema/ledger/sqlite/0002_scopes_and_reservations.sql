-- Epsilog ledger, schema version 2: reservations, approvals, ledger time checked against the boot clock,
-- and the unit of privacy with each release. Never edited: a change is the next numbered file.
--
-- Applied after 0001, to a new ledger and to one with rows, by a connection that does not enforce
-- foreign keys meanwhile; foreign_key_check comes before the COMMIT. What 0001 says of amounts, times and
-- triggers holds here.

ALTER TABLE meta ADD COLUMN clock_events INTEGER NOT NULL DEFAULT 0 CHECK (clock_events >= 0);
ALTER TABLE meta ADD COLUMN schema_migrations INTEGER NOT NULL DEFAULT 0 CHECK (schema_migrations >= 0);
ALTER TABLE meta ADD COLUMN wall_clock TEXT NOT NULL DEFAULT '' CHECK (length(wall_clock) IN (0, 24));
ALTER TABLE meta ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
ALTER TABLE meta ADD COLUMN boot_offset INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN held_at TEXT NOT NULL DEFAULT '' CHECK (length(held_at) IN (0, 24));

ALTER TABLE release ADD COLUMN unit TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN relation TEXT NOT NULL DEFAULT '';

CREATE TABLE decision_of_2(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
  created_at TEXT NOT NULL CHECK (length(created_at) = 24),
  principal TEXT NOT NULL CHECK (principal <> ''),
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL CHECK (length(request_digest) = 64 AND request_digest NOT GLOB '*[^0-9a-f]*'),
  request TEXT NOT NULL CHECK (substr(request, 1, 1) = '{'),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  outcome TEXT NOT NULL CHECK (outcome IN ('granted', 'refused', 'reserved', 'pending', 'approved', 'rejected',
                                           'token_issued', 'voided', 'forfeited')),
  reasons TEXT NOT NULL CHECK (substr(reasons, 1, 1) IN ('[', '{')),
  accounts TEXT NOT NULL CHECK (substr(accounts, 1, 1) IN ('[', '{')),
  parent TEXT NOT NULL DEFAULT '' CHECK (length(parent) IN (0, 26)),
  deadline TEXT NOT NULL DEFAULT '' CHECK (length(deadline) IN (0, 24)),
  CHECK ((outcome = 'refused') = (reasons <> '[]')),
  CHECK (parent <> '' OR outcome IN ('granted', 'refused', 'reserved', 'pending')),
  CHECK (parent = '' OR outcome <> 'pending'),
  CHECK ((outcome IN ('reserved', 'pending')) = (deadline <> '')),
  CHECK (deadline = '' OR deadline > created_at)
) STRICT;

INSERT INTO decision_of_2(seq, id, created_at, principal, key, request_digest, request, dataset, policy_version,
                          outcome, reasons, accounts)
SELECT seq, id, created_at, principal, key, request_digest, request, dataset, policy_version, outcome, reasons,
       accounts
FROM decision ORDER BY seq;
DROP TABLE decision;
ALTER TABLE decision_of_2 RENAME TO decision;

CREATE UNIQUE INDEX decision_by_key ON decision(principal, key) WHERE key <> '';
CREATE INDEX decision_by_dataset ON decision(dataset, seq);
CREATE INDEX decision_by_parent ON decision(parent, seq) WHERE parent <> '';
-- Whatever becomes of a reserved or pending decision, becomes of it once.
CREATE UNIQUE INDEX decision_resolves ON decision(parent)
WHERE parent <> '' AND outcome NOT IN ('approved', 'token_issued');
CREATE UNIQUE INDEX decision_votes_once ON decision(parent, principal) WHERE outcome IN ('approved', 'rejected');
CREATE UNIQUE INDEX decision_issues_one_token ON decision(parent) WHERE outcome = 'token_issued';

-- Derived from decision: what is reserved or pending and not resolved. It exists to be found by deadline.
CREATE TABLE open_decision(
  decision_id TEXT NOT NULL PRIMARY KEY REFERENCES decision(id),
  deadline TEXT NOT NULL CHECK (length(deadline) = 24)
) STRICT, WITHOUT ROWID;

CREATE INDEX open_decision_by_deadline ON open_decision(deadline, decision_id);

CREATE TABLE clock_event(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  kind TEXT NOT NULL CHECK (kind IN ('backwards', 'forwards', 'confirmed')),
  ledger_time TEXT NOT NULL CHECK (length(ledger_time) = 24),
  wall_clock TEXT NOT NULL CHECK (length(wall_clock) = 24),
  by TEXT NOT NULL,
  CHECK ((kind = 'confirmed') = (by <> ''))
) STRICT;

CREATE TABLE schema_migration(
  version INTEGER PRIMARY KEY CHECK (version >= 2),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  at TEXT NOT NULL CHECK (length(at) = 24)
) STRICT;

CREATE TRIGGER decision_in_order BEFORE INSERT ON decision
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM decision)
  OR NEW.id <= (SELECT id FROM decision ORDER BY seq DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'decisions are numbered without gaps and their ids ascend'); END;
CREATE TRIGGER decision_about_parent BEFORE INSERT ON decision
WHEN NEW.parent <> '' AND NOT EXISTS (
  SELECT 1 FROM decision AS p
  WHERE p.id = NEW.parent AND p.dataset = NEW.dataset AND p.policy_version = NEW.policy_version
    AND CASE p.outcome
      WHEN 'pending' THEN NEW.outcome IN ('approved', 'rejected', 'voided', 'refused', 'reserved')
      WHEN 'reserved' THEN NEW.outcome IN ('granted', 'voided', 'forfeited', 'token_issued')
      ELSE 0 END)
BEGIN SELECT RAISE(ABORT, 'a decision can only be about one that it may follow'); END;
CREATE TRIGGER decision_of_open_parent BEFORE INSERT ON decision
WHEN NEW.parent <> '' AND EXISTS (
  SELECT 1 FROM decision AS sibling
  WHERE sibling.parent = NEW.parent AND sibling.parent <> ''
    AND sibling.outcome NOT IN ('approved', 'token_issued'))
BEGIN SELECT RAISE(ABORT, 'what is resolved stays resolved'); END;
CREATE TRIGGER decision_after_token BEFORE INSERT ON decision
WHEN NEW.outcome = 'voided' AND EXISTS (
  SELECT 1 FROM decision AS sibling
  WHERE sibling.parent = NEW.parent AND sibling.outcome = 'token_issued')
BEGIN SELECT RAISE(ABORT, 'a reservation whose token was issued is not given back'); END;
CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot change'); END;
CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision
BEGIN SELECT RAISE(ABORT, 'decision is history: it cannot be deleted'); END;

CREATE TRIGGER open_decision_is_open BEFORE INSERT ON open_decision
WHEN NOT EXISTS (
    SELECT 1 FROM decision AS d
    WHERE d.id = NEW.decision_id AND d.deadline = NEW.deadline AND d.outcome IN ('reserved', 'pending'))
  OR EXISTS (
    SELECT 1 FROM decision AS child
    WHERE child.parent = NEW.decision_id AND child.parent <> ''
      AND child.outcome NOT IN ('approved', 'token_issued'))
BEGIN SELECT RAISE(ABORT, 'only a reserved or pending decision is open'); END;
CREATE TRIGGER open_decision_no_update BEFORE UPDATE ON open_decision
BEGIN SELECT RAISE(ABORT, 'open_decision is history: it cannot change'); END;
CREATE TRIGGER open_decision_stays_open BEFORE DELETE ON open_decision
WHEN NOT EXISTS (
  SELECT 1 FROM decision AS child
  WHERE child.parent = OLD.decision_id AND child.parent <> ''
    AND child.outcome NOT IN ('approved', 'token_issued'))
BEGIN SELECT RAISE(ABORT, 'a decision stays open until it is resolved'); END;

CREATE TRIGGER clock_event_in_order BEFORE INSERT ON clock_event
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM clock_event)
BEGIN SELECT RAISE(ABORT, 'clock events are numbered without gaps'); END;
CREATE TRIGGER clock_event_no_update BEFORE UPDATE ON clock_event
BEGIN SELECT RAISE(ABORT, 'clock_event is history: it cannot change'); END;
CREATE TRIGGER clock_event_no_delete BEFORE DELETE ON clock_event
BEGIN SELECT RAISE(ABORT, 'clock_event is history: it cannot be deleted'); END;

CREATE TRIGGER schema_migration_in_order BEFORE INSERT ON schema_migration
WHEN NEW.version <= (SELECT max(version) FROM schema_migration)
BEGIN SELECT RAISE(ABORT, 'schema versions ascend'); END;
CREATE TRIGGER schema_migration_no_update BEFORE UPDATE ON schema_migration
BEGIN SELECT RAISE(ABORT, 'schema_migration is history: it cannot change'); END;
CREATE TRIGGER schema_migration_no_delete BEFORE DELETE ON schema_migration
BEGIN SELECT RAISE(ABORT, 'schema_migration is history: it cannot be deleted'); END;

DROP TRIGGER meta_only_forward;
CREATE TRIGGER meta_only_forward BEFORE UPDATE ON meta
WHEN NEW.one <> OLD.one OR NEW.ledger_id <> OLD.ledger_id OR NEW.created_at <> OLD.created_at
  OR NEW.last_time < OLD.last_time OR NEW.decisions < OLD.decisions
  OR NEW.policy_versions < OLD.policy_versions OR NEW.limit_changes < OLD.limit_changes
  OR NEW.clock_events < OLD.clock_events OR NEW.schema_migrations < OLD.schema_migrations
BEGIN SELECT RAISE(ABORT, 'meta only moves forward'); END;
