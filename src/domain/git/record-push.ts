import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositories, type Repository } from "../../db/schema/index.ts";
import type { Event } from "../../events/event.ts";
import { recordAll } from "../../events/record.ts";
import { type ByteText, decodeText, encodeUtf8 } from "../../git/byte-text.ts";
import type {
  MadeUpdate,
  OutboxEntry,
  RepositorySummary,
} from "../../storage/repository-records.ts";
import type { PushedCommits } from "./list-pushed-commits.ts";

/** Updates that one event names: a push of more makes several. */
const UPDATES_OF_EVENT = 50;

/** Bytes of the events that are sent to the database at once. */
const BATCH_BYTES = 1_000_000;

/** What a push brought to the first branches of some updates, by refs. */
type FindPushed = ReadonlyMap<string, PushedCommits>;

/**
 * Brings a repository's row up to date and records the events of a push: in one batch, unless it moved
 * thousands of refs.
 *
 * May be done again for the same push, at the same time too: each event is recorded once. If it throws,
 * some of them may be.
 *
 * @param pages     All that the push moved, in its order.
 * @param findPushed Finds the commits that it pushed.
 */
export async function recordPush(
  ctx: Pick<Ctx, "db" | "eventQueues" | "defer">,
  repo: Pick<Repository, "id" | "ownerId">,
  entry: OutboxEntry,
  { head, hasRefs, packBytes }: RepositorySummary,
  pages: Iterable<readonly MadeUpdate[]> | AsyncIterable<readonly MadeUpdate[]>,
  findPushed: (updates: readonly MadeUpdate[]) => Promise<FindPushed>,
): Promise<void> {
  const { db, eventQueues, defer } = ctx;
  // One that an earlier version stored says nothing of where the service was reached.
  const {
    pushId,
    updateCount,
    actorId,
    at,
    rootUrl = "",
  } = entry as Partial<OutboxEntry> & Omit<OutboxEntry, "rootUrl">;
  const occasion = { db, actorId, now: at, rootUrl };
  const ofPush = { type: "repository.pushed", repoId: repo.id, ownerId: repo.ownerId } as const;
  const setRow = db
    .update(repositories)
    .set({
      isEmpty: !hasRefs,
      sizeBytes: packBytes,
      ...(head !== null && { defaultBranch: branchName(head) }),
      updatedAt: sql`max(${repositories.updatedAt}, ${at})`,
    })
    .where(eq(repositories.id, repo.id));

  let pushed: FindPushed | undefined;
  let part = 0;
  let waiting: Event[] = [];
  let bytes = 0;
  const send = async (): Promise<void> => {
    await db.batch([setRow, recordAll(occasion, waiting)]);
    [waiting, bytes] = [[], 0];
  };
  for await (const page of pages) {
    pushed ??= await findPushed(page);
    for (let from = 0; from < page.length; from += UPDATES_OF_EVENT) {
      const updates = page
        .slice(from, from + UPDATES_OF_EVENT)
        .map(({ ref, oldOid: before, newOid: after }) =>
          Object.assign({ ref: decodeText(ref as ByteText), before, after }, pushed?.get(ref)),
        );
      const event: Event = { ...ofPush, pushId, part: part++, refCount: updateCount, updates };
      const size = encodeUtf8(JSON.stringify(event)).length;
      if (waiting.length > 0 && bytes + size > BATCH_BYTES) await send();
      waiting.push(event);
      bytes += size;
    }
  }
  await send();
  eventQueues.noteRecorded();
  // Whoever pushed may have their answer before the end of the request is noticed.
  defer(eventQueues.dispatchRecorded());
}

const branchName = (ref: string): string =>
  decodeText(ref.replace(/^refs\/heads\//, "") as ByteText);
