import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositories, type Repository } from "../../db/schema/index.ts";
import { recordFor } from "../../events/record.ts";
import { type ByteText, decodeText } from "../../git/byte-text.ts";
import type { OutboxEntry, RepositorySummary } from "../../storage/repository-records.ts";
import type { BroughtCommits } from "./list-pushed-commits.ts";

/** Updates that an event names. */
const EVENT_UPDATES_MAX = 50;

/**
 * Brings a repository's row up to date and records the event of a push, in one batch.
 *
 * May be done again for the same push, at the same time too: the event is recorded once.
 *
 * @param brought The commits it brought, by refs, where they are known.
 */
export async function tellPush(
  ctx: Pick<Ctx, "db" | "config" | "rootUrl" | "eventQueues" | "defer">,
  repo: Pick<Repository, "id" | "ownerId">,
  { pushId, updates, updateCount, actorId, at }: OutboxEntry,
  { head, hasRefs, packBytes }: RepositorySummary,
  brought: ReadonlyMap<string, BroughtCommits> = new Map(),
): Promise<void> {
  const { db, config, rootUrl, eventQueues, defer } = ctx;
  await db.batch([
    db
      .update(repositories)
      .set({
        isEmpty: !hasRefs,
        sizeBytes: packBytes,
        ...(head !== null && { defaultBranch: branchName(head) }),
        updatedAt: sql`max(${repositories.updatedAt}, ${at})`,
      })
      .where(eq(repositories.id, repo.id)),
    recordFor(
      { db, actorId, now: at, rootUrl: config.rootUrl === "" ? rootUrl : "" },
      {
        type: "repository.pushed",
        repoId: repo.id,
        ownerId: repo.ownerId,
        pushId,
        part: 0,
        refCount: updateCount,
        updates: updates
          .slice(0, EVENT_UPDATES_MAX)
          .map(({ ref, oldOid: before, newOid: after }) =>
            Object.assign({ ref: decodeText(ref as ByteText), before, after }, brought.get(ref)),
          ),
      },
    ),
  ]);
  eventQueues.noteRecorded();
  // Whoever pushed may have their answer before the end of the request is noticed.
  defer(eventQueues.tellRecorded());
}

const branchName = (ref: string): string =>
  decodeText(ref.replace(/^refs\/heads\//, "") as ByteText);
