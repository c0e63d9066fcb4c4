import type { Credential } from "../auth/credential.ts";
import type { BaseCtx } from "../context.ts";
import { batch, type Results, type Statements } from "../db/batch.ts";
import { BoundQuery } from "../db/prepared.ts";
import type { AccessToken } from "../db/schema/index.ts";
import { effectOf } from "../db/statement-effect.ts";

/** Approximate bytes of a row in memory. */
const ROW_BYTES = 2048;

/**
 * Credentials whose guards are kept. A session is asked for each time: its pages come from people,
 * seconds apart, and show what was written a moment ago, such as notifications.
 */
const KEPT_CREDENTIALS: ReadonlySet<Credential["kind"]> = new Set(["none", "token", "basic"]);

/**
 * Runs the statements of a guard as one batch, or takes their results from a moment ago, if the
 * request only reads. Results that are kept are frozen: requests share them.
 *
 * SECURITY: kept are results of a token that exists, or of nobody, never those of a password; and
 * also that nothing has the name of the request, since what is hidden from the caller must not be
 * told from that by a round trip.
 */
export async function batchOfGuard<const T extends Statements>(
  { db, guards, now }: BaseCtx,
  { kind }: Credential,
  statements: T & { tokens?: unknown },
): Promise<Results<T>> {
  const queries = guards && KEPT_CREDENTIALS.has(kind) ? boundQueriesOf(statements) : [];
  if (!guards || queries.length === 0) return batch<T>(db, statements);

  const key = queries.map(({ identity }) => identity).join("\n");
  const kept = guards.get(key, now);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key names the statements.
  if (kept) return kept as Results<T>;

  const keep = guards.begin(now);
  const results = await batch<T>(db, statements);
  const [row] = (results as { tokens?: { token: AccessToken }[] }).tokens ?? [];
  if (kind === "none" || row) {
    keep(key, freeze(results), {
      bytes: ROW_BYTES * countRows(results),
      reads: queries.some(({ text }) => effectOf(text).reads === "quiet") ? "quiet" : "all",
      endsAt: row?.token.expiresAt ?? Infinity,
    });
  }
  return results;
}

/** The statements in their order; none unless each of them can be named. */
function boundQueriesOf(statements: Statements): BoundQuery<unknown>[] {
  const all = Object.values(statements).flat();
  const queries = all.filter((each) => each !== undefined);
  return queries.every((each) => each instanceof BoundQuery) ? queries : [];
}

const countRows = (results: object): number =>
  Object.values(results).reduce(
    (sum: number, each: unknown) => sum + (Array.isArray(each) ? each.flat().length : 0),
    1,
  );

function freeze<V>(value: V): V {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
