/**
 * The tables. What is a decision (`policy_log`, `approvals`, `audit`) is only ever added to; what is state can be derived
 * from them or ends with the daemon.
 */

/** Version of the tables below, kept in `user_version`. */
export const SCHEMA_VERSION = 1;

/** The statements that make an empty database. */
export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE policy_log (seq INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT;

-- Every policy version that was ever signed; the newest of a secret is in force.
CREATE TABLE policies (
  secret_id TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, policy TEXT NOT NULL,
  policy_hash TEXT NOT NULL, header_sha256 TEXT NOT NULL, request_hash TEXT,
  PRIMARY KEY (secret_id, version)
) STRICT;
CREATE INDEX policies_by_request ON policies (request_hash);

CREATE TABLE secrets (
  secret_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, age_file BLOB NOT NULL
) STRICT;

CREATE TABLE requests (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, type TEXT NOT NULL, doc TEXT NOT NULL, fingerprint TEXT NOT NULL,
  agent TEXT, coalesce_key TEXT NOT NULL, cool_key TEXT NOT NULL, status TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
  reason TEXT, decided_by TEXT, decided_ms INTEGER, card_sent INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX requests_by_status ON requests (status, coalesce_key);
CREATE INDEX requests_by_time ON requests (created_ms);

-- Denials in a row for one thing (DESIGN 5.2), durable so that a restart does not end a cool-down.
CREATE TABLE cool_downs (cool_key TEXT PRIMARY KEY, denials INTEGER NOT NULL, until_ms INTEGER NOT NULL) STRICT;
-- Mutes: agent NULL is the nameless agent, scope 'all' is everything.
CREATE TABLE mutes (scope TEXT NOT NULL, agent TEXT NOT NULL, until_ms INTEGER NOT NULL, PRIMARY KEY (scope, agent)) STRICT;

CREATE TABLE approvals (
  approval_hash TEXT PRIMARY KEY, request_hash TEXT NOT NULL, bundle TEXT NOT NULL, assertion TEXT NOT NULL,
  accepted_ms INTEGER NOT NULL
) STRICT;

-- What a grant allowed and how it ended. Never a key: those are in memory only.
CREATE TABLE grants (
  grant_id TEXT PRIMARY KEY, request_id TEXT NOT NULL, grant_doc TEXT NOT NULL, name TEXT NOT NULL,
  expires_ms INTEGER NOT NULL, uses_left INTEGER NOT NULL, ended TEXT
) STRICT;
CREATE INDEX grants_by_request ON grants (request_id);

-- One row for each request that was, or may have been, sent.
CREATE TABLE sends (
  id INTEGER PRIMARY KEY, request_id TEXT NOT NULL, grant_id TEXT NOT NULL, state TEXT NOT NULL, started_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX sends_by_state ON sends (state);
CREATE INDEX sends_by_request ON sends (request_id);

CREATE TABLE channels (
  device_id TEXT PRIMARY KEY, channel TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL, root BLOB NOT NULL, next BLOB,
  offered TEXT NOT NULL, -- session ids that were offered in this generation: the phone tells a restart from a copy by them
  to_daemon TEXT NOT NULL, to_phone TEXT NOT NULL, cursor INTEGER NOT NULL, last_seen_ms INTEGER, sign_count INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT;
-- Checkpoints that were given out: a phone may cosign any of them.
CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, root TEXT NOT NULL, frontier TEXT NOT NULL) STRICT;
`;
