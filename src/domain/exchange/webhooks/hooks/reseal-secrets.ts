import { and, asc, eq, gt, notLike, or } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { seal, sealedBy, unseal } from "../../../../auth/seal.ts";
import type { SealingKey } from "../../../../config.ts";
import type { Ctx } from "../../../../context.ts";
import { hooks, type Hook } from "../../../../db/schema/index.ts";
import { log } from "../../../../lib/log.ts";
import { SEALED_FOR } from "./hook-options.ts";

/** Hooks read by one batch. */
const HOOKS_AT_ONCE = 100;
/** Batches of one run; the next run continues. */
const ROUNDS_MAX = 50;
/** Hook ids listed in one log line. */
const LOGGED_MAX = 100;

/**
 * Seals secrets that were sealed with an older key again with the first key, so that the older key
 * can be removed. A secret that no key unseals stays unchanged, and the log lists its hook. Safe to
 * repeat and to run concurrently.
 */
export async function resealSecrets({ db, config }: Ctx): Promise<void> {
  const { sealingKeys: keys } = config;
  const [key, ...older] = keys;
  if (!key || older.length === 0) return;
  const newest = `${sealedBy(key)}%`;
  const unsealable: number[] = [];
  let after = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await db
      .select({ id: hooks.id, secret: hooks.secret, authorization: hooks.authorization })
      .from(hooks)
      .where(
        and(
          gt(hooks.id, after),
          or(notLike(hooks.secret, newest), notLike(hooks.authorization, newest)),
        ),
      )
      .orderBy(asc(hooks.id))
      .limit(HOOKS_AT_ONCE);
    const changes: BatchItem<"sqlite">[] = [];
    for (const hook of found) {
      for (const column of ["secret", "authorization"] as const) {
        const sealed = hook[column];
        if (sealed === null || sealed.startsWith(sealedBy(key))) continue;
        const resealed = await reseal(keys, sealed, SEALED_FOR[column]);
        if (resealed === undefined) unsealable.push(hook.id);
        else changes.push(replace(db, hook.id, column, sealed, resealed));
      }
    }
    const [first, ...rest] = changes;
    if (first) await db.batch([first, ...rest]);
    after = found.at(-1)?.id ?? after;
    if (found.length < HOOKS_AT_ONCE) break;
  }
  if (unsealable.length > 0) {
    const ids = [...new Set(unsealable)];
    log("hooks:unsealable", {
      hookCount: ids.length,
      hookIds: ids.slice(0, LOGGED_MAX).join(","),
    });
  }
}

async function reseal(keys: readonly SealingKey[], sealed: string, purpose: string) {
  const opened = await unseal(keys, sealed, purpose);
  return opened.kind === "open" ? seal(keys, opened.text, purpose) : undefined;
}

/** Replaces a sealed value, unless it was changed after it was read. */
const replace = (
  db: Ctx["db"],
  id: number,
  column: "secret" | "authorization",
  sealed: string,
  resealed: string,
) =>
  db
    .update(hooks)
    .set({ [column]: resealed } satisfies Partial<Hook>)
    .where(and(eq(hooks.id, id), eq(hooks[column], sealed)));
