import { LruCache } from "../lib/lru-cache.ts";
import type { WriteScope } from "../lib/writes.ts";

/**
 * Tables that are written much, and from which hardly anything follows that is kept: what names one
 * of them ends with each of their writes, all else does not. Their triggers and cascades change
 * nothing else.
 */
export const QUIET_TABLES: readonly string[] = [
  "audit_events",
  "cron_runs",
  "discarded_objects",
  "discarded_work",
  "event_cursors",
  "events",
  "hook_deliveries",
  "hooks",
  "mailed_codes",
  "mails",
  "notification_counts",
  "notifications",
  "pending_sign_ins",
  "registrations",
  "runners",
  "viewed_files",
  "webhook_events",
  "workflow_log_pieces",
];

/** What a statement reads and writes. */
export interface StatementEffect {
  /** Whether it may write: D1's report of its effect decides. */
  readonly mayWrite: boolean;
  /** What kept results it may touch; undefined for none. */
  readonly writes: WriteScope | undefined;
  /** The scope of what it reads: `quiet` if it names a quiet table. */
  readonly reads: WriteScope;
}

const MAY_WRITE =
  /^\s*(?:insert|update|delete|replace|with\b[^]*\b(?:insert into|update|delete from))\b/i;

/** When a credential was used last, which decides nothing within the minutes that it lags. */
const NOTES_USE = /^update "(?:access_tokens|sessions)" set "last_used_at" = \S+ where /;

/** The names of written tables; "set" follows the "update" of an upsert. */
const WRITTEN =
  /\b(?:insert(?: or \w+)? into|replace into|update(?: or \w+)?|delete from)\s+["`]?(?!set\b)(\w+)/gi;

const NAMES_QUIET = new RegExp(`\\b(?:${QUIET_TABLES.join("|")})\\b`);

/** Texts are the same for each request, as far as they are prepared. */
const kept = new LruCache<StatementEffect>(2 * 1024 * 1024);

/** The effect of a statement, by its SQL. */
export function effectOf(text: string): StatementEffect {
  let effect = kept.get(text);
  if (!effect) kept.set(text, (effect = read(text)), 2 * text.length);
  return effect;
}

function read(text: string): StatementEffect {
  const reads = NAMES_QUIET.test(text) ? "quiet" : "all";
  const mayWrite = MAY_WRITE.test(text);
  if (!mayWrite || NOTES_USE.test(text)) return { mayWrite, writes: undefined, reads };
  const written = [...text.matchAll(WRITTEN)].map(([, name = ""]) => name);
  const isQuiet = written.length > 0 && written.every((name) => QUIET_TABLES.includes(name));
  return { mayWrite, writes: isQuiet ? "quiet" : "all", reads };
}
