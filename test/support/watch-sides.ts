import { toSnakeCase } from "drizzle-orm/casing";

import { SIDES } from "../../scripts/check/crossings/sides.ts";
import { SHARD_OWNED } from "../../src/db/copies/copied-tables.ts";

const NAMED = /\b(?:from|join|into|update)\s+"?(\w+)"?/gi;
const WRITTEN = /\b(?:into|update(?:\s+or\s+\w+)?|delete\s+from)\s+"?(\w+)"?/gi;

/** Columns of the row of a repository that belong to its shard. */
const OWNED: ReadonlySet<string> = new Set(SHARD_OWNED.map(toSnakeCase));

/** Whether a statement changes owned columns of repositories, and no others. */
function writesOwnedAlone(text: string): boolean {
  const [, changes] = /^\s*update "repositories" set ([^]*?) where /.exec(text) ?? [];
  if (changes === undefined) return false;
  const columns = [...changes.matchAll(/(?:^|, )"(\w+)" = /g)].map(([, name = ""]) => name);
  return columns.length > 0 && columns.every((name) => OWNED.has(name));
}

const tablesIn = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].map(([, name = ""]) => name.toLowerCase()));

/** Statements that were sent to a database which would not have their tables, with where they were made. */
const misplaced = new Map<string, string>();

/**
 * The first database under one of its two names, which notes each statement about what is on the other side.
 *
 * @param at Whether it is asked as the first database, or as the one with repositories' own data.
 */
export function watchSide(real: D1Database, at: "first" | "own"): D1Database {
  const other = (text: string): string[] => {
    if (at === "first") {
      return [...tablesIn(text, NAMED)].filter((table) => SIDES.get(table) === "own");
    }
    return [
      ...[...tablesIn(text, NAMED)].filter((table) => SIDES.get(table) === "first"),
      ...[...tablesIn(text, WRITTEN)].filter(
        (table) => SIDES.get(table) === "copied" && !writesOwnedAlone(text),
      ),
    ];
  };
  const watch = (session: D1DatabaseSession): D1DatabaseSession => {
    const prepare = session.prepare.bind(session);
    session.prepare = (text) => {
      const tables = other(text);
      if (tables.length > 0 && !misplaced.has(at + text)) {
        misplaced.set(
          at + text,
          `${at} has no ${tables.join(" ")}: ${placeOf()} ${text.replaceAll(/\s+/g, " ")}`,
        );
      }
      return prepare(text);
    };
    return session;
  };
  return {
    prepare: (text: string) => real.prepare(text),
    batch: (statements: D1PreparedStatement[]) => real.batch(statements),
    exec: (text: string) => real.exec(text),
    withSession: (bookmark?: string) => watch(real.withSession(bookmark)),
  } as unknown as D1Database;
}

/** Where the statement was made, as far as the stack tells: what is awaited alone has none. */
function placeOf(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 40;
  const frames = (new Error("place").stack ?? "").split("\n");
  Error.stackTraceLimit = limit;
  const own = frames.flatMap((frame) => /\/src\/(?!db\/)(\S+?):\d+/.exec(frame)?.[1] ?? []);
  return own.slice(0, 4).join(" < ");
}

/** What was noted since the last call. */
export function takeMisplaced(): string[] {
  const all = [...misplaced.values()].filter((text) => text !== "");
  for (const key of misplaced.keys()) misplaced.set(key, "");
  return all;
}
