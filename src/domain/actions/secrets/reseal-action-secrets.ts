import { and, asc, eq, gt, notLike } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { seal, sealedBy, unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { actionSecrets } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { SECRET_PURPOSE } from "./secrets.ts";

/** Secrets read by one batch: each has up to 90 KB. */
const AT_ONCE = 20;
/** Batches of one run; the next run continues. */
const ROUNDS_MAX = 50;

/**
 * Seals secrets that were sealed with an older key again with the first key, so that the older key
 * can be removed. One that no key unseals stays, and the log names it. Safe to repeat and to run
 * concurrently.
 */
export async function resealActionSecrets({ db, config }: Ctx): Promise<void> {
  const { sealingKeys: keys } = config;
  const [key, ...older] = keys;
  if (!key || older.length === 0) return;
  let after = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await db
      .select({ id: actionSecrets.id, value: actionSecrets.value })
      .from(actionSecrets)
      .where(and(gt(actionSecrets.id, after), notLike(actionSecrets.value, `${sealedBy(key)}%`)))
      .orderBy(asc(actionSecrets.id))
      .limit(AT_ONCE);
    const changes: BatchItem<"sqlite">[] = [];
    for (const { id, value } of found) {
      const opened = await unseal(keys, value, SECRET_PURPOSE);
      if (opened.kind !== "open") {
        log("actions:secret-unsealable", { secretId: id, reason: opened.kind });
        continue;
      }
      const resealed = await seal(keys, opened.text, SECRET_PURPOSE);
      changes.push(
        db
          .update(actionSecrets)
          .set({ value: resealed })
          // Unless it was changed after it was read.
          .where(and(eq(actionSecrets.id, id), eq(actionSecrets.value, value))),
      );
    }
    const [first, ...rest] = changes;
    if (first) await db.batch([first, ...rest]);
    after = found.at(-1)?.id ?? after;
    if (found.length < AT_ONCE) break;
  }
}
