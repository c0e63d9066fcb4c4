import { and, asc, eq, gt, notLike } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { seal, sealedBy, unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import {
  type ActionSecret,
  actionSecrets,
  runnerRegistrationTokens,
} from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { SEALED_FOR_REGISTRATION } from "../runners/registration-token.ts";
import { SECRET_PURPOSE } from "./secrets.ts";

/** Rows read by one batch: a secret has up to 90 KB. */
const AT_ONCE = 20;
/** Batches of one run for each table; the next run continues. */
const ROUNDS_MAX = 50;

/** A column that is sealed. */
interface Sealed {
  readonly table: typeof actionSecrets | typeof runnerRegistrationTokens;
  readonly column: typeof actionSecrets.value | typeof runnerRegistrationTokens.token;
  readonly toChange: (sealed: string) => Partial<ActionSecret & RegistrationToken>;
  readonly purpose: string;
  /** What the log calls the id of a row. */
  readonly idName: "secretId" | "registrationTokenId";
}

type RegistrationToken = typeof runnerRegistrationTokens.$inferSelect;

const SEALED: readonly Sealed[] = [
  {
    table: actionSecrets,
    column: actionSecrets.value,
    toChange: (value) => ({ value }),
    purpose: SECRET_PURPOSE,
    idName: "secretId",
  },
  {
    table: runnerRegistrationTokens,
    column: runnerRegistrationTokens.token,
    toChange: (token) => ({ token }),
    purpose: SEALED_FOR_REGISTRATION,
    idName: "registrationTokenId",
  },
];

/**
 * Seals secrets and registration tokens that were sealed with an older key again with the first
 * key, so that the older key can be removed. One that no key unseals stays, and the log names it.
 * Safe to repeat and to run concurrently.
 */
export async function resealActionSecrets(ctx: Ctx): Promise<void> {
  if (ctx.config.sealingKeys.length < 2) return;
  for (const sealed of SEALED) await resealColumn(ctx, sealed);
}

async function resealColumn(
  { db, config: { sealingKeys: keys } }: Ctx,
  { table, column, toChange, purpose, idName }: Sealed,
): Promise<void> {
  const [key] = keys;
  if (!key) return;
  let after = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await db
      .select({ id: table.id, value: column })
      .from(table)
      .where(and(gt(table.id, after), notLike(column, `${sealedBy(key)}%`)))
      .orderBy(asc(table.id))
      .limit(AT_ONCE);
    const changes: BatchItem<"sqlite">[] = [];
    for (const { id, value } of found) {
      const opened = await unseal(keys, value, purpose);
      if (opened.kind !== "open") {
        log("actions:secret-unsealable", { [idName]: id, reason: opened.kind });
        continue;
      }
      const resealed = await seal(keys, opened.text, purpose);
      changes.push(
        db
          .update(table)
          .set(toChange(resealed))
          // Unless it was changed after it was read.
          .where(and(eq(table.id, id), eq(column, value))),
      );
    }
    const [first, ...rest] = changes;
    if (first) await db.batch([first, ...rest]);
    after = found.at(-1)?.id ?? after;
    if (found.length < AT_ONCE) break;
  }
}
