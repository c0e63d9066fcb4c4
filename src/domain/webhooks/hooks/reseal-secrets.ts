import { and, asc, eq, gt, notLike, or } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { seal, sealedBy, unseal } from "../../../auth/seal.ts";
import type { SealingKey } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { hooks, type Hook } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { SEALED_FOR } from "./hook-options.ts";

/** Hooks of one batch. */
const HOOKS_AT_ONCE = 100;
/** Batches of one run; the next one goes on. */
const ROUNDS_MAX = 50;
/** Ids in a line of the log. */
const LOGGED_MAX = 100;

/**
 * Seals anew by the first key what another one has sealed, so that the other one can be removed. What no
 * key opens stays as it is, and the log names its hooks. It may be done twice and by several at once.
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
        const anew = await reseal(keys, sealed, SEALED_FOR[column]);
        if (anew === undefined) unsealable.push(hook.id);
        else changes.push(replace(db, hook.id, column, sealed, anew));
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

/** Somebody may have changed it since it was read: theirs stays. */
const replace = (
  db: Ctx["db"],
  id: number,
  column: "secret" | "authorization",
  sealed: string,
  anew: string,
) =>
  db
    .update(hooks)
    .set({ [column]: anew } satisfies Partial<Hook>)
    .where(and(eq(hooks.id, id), eq(hooks[column], sealed)));
