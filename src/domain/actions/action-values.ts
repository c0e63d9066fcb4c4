import { and, eq, gt, sql, type SQL } from "drizzle-orm";

import { onlyWhile } from "../../db/db.ts";
import type { Params } from "../../db/prepared.ts";
import type { actionSecrets, actionVariables } from "../../db/schema/index.ts";
import { encodeUtf8 } from "../../git/byte-text.ts";
import { invalid, invalidField, malformed } from "../../lib/failure.ts";
import { type ActionsLevel, isAtLevel, type LevelArgument, levelArgument } from "./level.ts";

// What secrets and variables have in common.

/** The limits of secrets, and of variables. */
export const ACTION_VALUE_LIMITS = {
  nameChars: 255,
  descriptionChars: 4096,
  valueBytes: 64 * 1024,
  /** Of one level. */
  count: 1000,
  /** Of all values of one level as they are stored, since a job gets them at once. */
  totalChars: 4 * 1024 * 1024,
} as const;

/** Beginnings of names that the runner gives values of its own. */
const RESERVED = /^(?:GITHUB|GITEA)_/;

/**
 * Normalizes the name of a secret or variable, whose case has no meaning.
 *
 * @throws Failure `malformed`.
 */
export function toValueName(text: string): string {
  const name = text.toUpperCase();
  const isName = /^[A-Z_][A-Z0-9_]*$/.test(name) && name.length <= ACTION_VALUE_LIMITS.nameChars;
  if (!isName || RESERVED.test(name) || name === "CI") {
    throw malformed("invalid variable or secret name");
  }
  return name;
}

/**
 * Refuses a value that no job can have in its environment.
 *
 * @param field The field of the request.
 * @throws Failure `invalid`.
 */
export function requireValue(text: string, field: "data" | "value"): void {
  if (text === "") throw invalidField(field, "must not be empty");
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalidField(field, "must be text without NUL");
  }
  const { valueBytes } = ACTION_VALUE_LIMITS;
  if (encodeUtf8(text).byteLength > valueBytes) {
    throw invalidField(field, `must have at most ${valueBytes} bytes`);
  }
}

/** @throws Failure `invalid`. */
export function requireDescription(text: string | undefined): void {
  if (text === undefined) return;
  const { descriptionChars } = ACTION_VALUE_LIMITS;
  if (text.length > descriptionChars) {
    throw invalidField("description", `must have at most ${descriptionChars} characters`);
  }
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalidField("description", "must be text without NUL");
  }
}

/** The condition for the values of a level. */
export const isValueAt = (table: ValueTable, level: LevelArgument | Params<LevelArgument>) =>
  // True of all names: by them SQLite finds the values of the service in an index.
  and(isAtLevel(table, level), gt(table.name, sql`''`));

/** The condition for a name among the values of a level. */
export const isValueNamed = (table: ValueTable, level: ActionsLevel, name: string) =>
  and(isAtLevel(table, levelArgument(level)), eq(table.name, name));

type ValueTable = typeof actionSecrets | typeof actionVariables;

/**
 * A value of a level as it is stored, if the limits of the level allow it; otherwise null, which
 * the column refuses, so that the batch fails: see `tooManyValues`.
 *
 * @param name The name of the value, whose present value does not count.
 */
export function withinLimits(
  table: ValueTable,
  level: ActionsLevel,
  name: string,
  value: string,
): SQL<string> {
  const { count, totalChars } = ACTION_VALUE_LIMITS;
  const isWithin = sql`(
    select count(*) < ${count}
      and coalesce(sum(length(${table.value})), 0) <= ${totalChars - value.length}
    from ${table}
    where ${isValueAt(table, levelArgument(level))} and ${table.name} <> ${name}
  )`;
  return onlyWhile<string>(isWithin, value);
}

/** The refusal of a value beyond the limits of its level. */
export const tooManyValues = (nouns: "secrets" | "variables") =>
  invalid(
    `no more than ${ACTION_VALUE_LIMITS.count} ${nouns} may be here, with ${ACTION_VALUE_LIMITS.totalChars / 1024 / 1024} MiB together`,
  );

/** The values of a job by name, of rows in which the more general level comes first. */
export const toJobValues = (
  rows: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> => Object.fromEntries(rows.map(({ name, value }) => [name, value]));
