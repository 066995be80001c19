-- Epsilog ledger, schema version 3: under which rules and by which program each decision was made, one order
-- of everything that is no decision, checksums of accounts. Never edited: a change is the next numbered file.
--
-- Applied after 0002, to a new ledger and to one with rows. It only adds: rows from before it say so by the
-- defaults of the new columns.

ALTER TABLE meta ADD COLUMN accounts INTEGER NOT NULL DEFAULT 0 CHECK (accounts >= 0);
ALTER TABLE meta ADD COLUMN limit_removals INTEGER NOT NULL DEFAULT 0 CHECK (limit_removals >= 0);
ALTER TABLE meta ADD COLUMN relocations INTEGER NOT NULL DEFAULT 0 CHECK (relocations >= 0);
ALTER TABLE meta ADD COLUMN events INTEGER NOT NULL DEFAULT 0 CHECK (events >= 0);
UPDATE meta SET accounts = (SELECT count(*) FROM account);

-- The rules by which it is judged; the program that recorded it; the policy version that was active then,
-- 0 where that was not recorded.
ALTER TABLE decision ADD COLUMN rules INTEGER NOT NULL DEFAULT 1 CHECK (rules >= 1);
ALTER TABLE decision ADD COLUMN program_version TEXT NOT NULL DEFAULT '';
ALTER TABLE decision ADD COLUMN program_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE decision ADD COLUMN decided_under INTEGER NOT NULL DEFAULT 0 CHECK (decided_under >= 0);

-- Of id, dataset, scope, measure, budget, spent and reserved (docs/ledger_format.md).
ALTER TABLE account ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;

-- Policy versions with what they did to limits, clock events, migrations and relocations are numbered
-- together, 1, 2, …; 0 and -1 where that was not recorded. What stands after decision n and before decision
-- n + 1 has after_decision n, and happened in the order of `event`.
ALTER TABLE policy_version ADD COLUMN after_decision INTEGER NOT NULL DEFAULT -1 CHECK (after_decision >= -1);
ALTER TABLE policy_version ADD COLUMN event INTEGER NOT NULL DEFAULT 0 CHECK (event >= 0);
ALTER TABLE clock_event ADD COLUMN event INTEGER NOT NULL DEFAULT 0 CHECK (event >= 0);
ALTER TABLE schema_migration ADD COLUMN event INTEGER NOT NULL DEFAULT 0 CHECK (event >= 0);

-- A policy version that declares a limit no more: the account stays, and limits nothing from then on.
CREATE TABLE limit_removal(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  policy_version INTEGER NOT NULL REFERENCES policy_version(version),
  account_id INTEGER NOT NULL REFERENCES account(id),
  removed_at TEXT NOT NULL CHECK (length(removed_at) = 24),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- Where the source of a dataset is found from then on, whatever its policy says.
CREATE TABLE relocation(
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  event INTEGER NOT NULL CHECK (event >= 1),
  after_decision INTEGER NOT NULL CHECK (after_decision >= 0),
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  path TEXT NOT NULL CHECK (path <> ''),
  at TEXT NOT NULL CHECK (length(at) = 24),
  by TEXT NOT NULL CHECK (by <> ''),
  why TEXT NOT NULL
) STRICT;

-- A key is looked for in two orders, so that damage of one index does not make it free.
CREATE INDEX decision_by_key_first ON decision(key, principal) WHERE key <> '';
-- The reservations that end with their period.
CREATE INDEX account_reserved_in_period ON account(scope) WHERE reserved > 0 AND scope GLOB 'period:*';

CREATE TRIGGER decision_under_rules BEFORE INSERT ON decision
WHEN NEW.rules < 2 OR NEW.rules < (SELECT rules FROM decision ORDER BY seq DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'the number of the rules never falls'); END;
CREATE TRIGGER decision_under_active_policy BEFORE INSERT ON decision
WHEN NEW.decided_under IS NOT (SELECT max(version) FROM policy_version)
BEGIN SELECT RAISE(ABORT, 'what is decided is decided under the active policy'); END;

CREATE TRIGGER policy_version_is_event BEFORE INSERT ON policy_version
WHEN NEW.event < 1 OR NEW.after_decision < 0
BEGIN SELECT RAISE(ABORT, 'an event has its place in the order'); END;
CREATE TRIGGER clock_event_is_event BEFORE INSERT ON clock_event
WHEN NEW.event < 1
BEGIN SELECT RAISE(ABORT, 'an event has its place in the order'); END;
CREATE TRIGGER schema_migration_is_event BEFORE INSERT ON schema_migration
WHEN NEW.event < 1
BEGIN SELECT RAISE(ABORT, 'an event has its place in the order'); END;

CREATE TRIGGER limit_removal_in_order BEFORE INSERT ON limit_removal
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM limit_removal)
BEGIN SELECT RAISE(ABORT, 'limit removals are numbered without gaps'); END;
CREATE TRIGGER limit_removal_no_update BEFORE UPDATE ON limit_removal
BEGIN SELECT RAISE(ABORT, 'limit_removal is history: it cannot change'); END;
CREATE TRIGGER limit_removal_no_delete BEFORE DELETE ON limit_removal
BEGIN SELECT RAISE(ABORT, 'limit_removal is history: it cannot be deleted'); END;

CREATE TRIGGER relocation_in_order BEFORE INSERT ON relocation
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM relocation)
BEGIN SELECT RAISE(ABORT, 'relocations are numbered without gaps'); END;
CREATE TRIGGER relocation_no_update BEFORE UPDATE ON relocation
BEGIN SELECT RAISE(ABORT, 'relocation is history: it cannot change'); END;
CREATE TRIGGER relocation_no_delete BEFORE DELETE ON relocation
BEGIN SELECT RAISE(ABORT, 'relocation is history: it cannot be deleted'); END;

DROP TRIGGER meta_only_forward;
CREATE TRIGGER meta_only_forward BEFORE UPDATE ON meta
WHEN NEW.one <> OLD.one OR NEW.ledger_id <> OLD.ledger_id OR NEW.created_at <> OLD.created_at
  OR NEW.last_time < OLD.last_time OR NEW.decisions < OLD.decisions
  OR NEW.policy_versions < OLD.policy_versions OR NEW.limit_changes < OLD.limit_changes
  OR NEW.clock_events < OLD.clock_events OR NEW.schema_migrations < OLD.schema_migrations
  OR NEW.accounts < OLD.accounts OR NEW.limit_removals < OLD.limit_removals
  OR NEW.relocations < OLD.relocations OR NEW.events < OLD.events
BEGIN SELECT RAISE(ABORT, 'meta only moves forward'); END;
