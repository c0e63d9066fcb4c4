import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { branchTips, repositories, type Repository } from "../../../db/schema/index.ts";
import type { Event } from "../../../events/event.ts";
import { recordAll } from "../../../events/record.ts";
import { type ByteText, decodeText, encodeUtf8 } from "../../../git/byte-text.ts";
import { pause } from "../../../lib/time-slice.ts";
import type {
  MadeUpdate,
  OutboxEntry,
  PushedMerge,
  RepositorySummary,
} from "../../../storage/repository-records.ts";
import { extendedExpiry } from "./extended-expiry.ts";
import { isPullRef } from "./pull-refs.ts";
import { mergeStatements } from "./record-merge.ts";
import type { PushedCommits } from "./list-pushed-commits.ts";

/** Maximum ref updates in one event. A larger push records several events. */
const UPDATES_OF_EVENT = 50;

/** Steps that an event counts, for each of its updates. */
const UPDATE_STEPS = 2000;

/** Maximum bytes of events in one database batch. */
const BATCH_BYTES = 1_000_000;

/** An entry as this version or an earlier one stored it. */
type Stored = Partial<OutboxEntry> &
  Omit<OutboxEntry, "isConfined" | "rootUrl" | "visibility"> & { readonly merge?: PushedMerge };

/** The pushed commits of branches, by ref. */
type PushedByRef = ReadonlyMap<string, PushedCommits>;

/**
 * Updates a repository's row, records the events of a push, and marks the pull requests that it
 * merges as merged, in one batch unless it updated thousands of refs.
 *
 * Idempotent, also concurrently: each event is recorded once. If it throws, some of the events may
 * be recorded.
 *
 * @param pages      All ref updates of the push, in its order.
 * @param findPushed Finds the pushed commits of a page.
 */
export async function recordPush(
  ctx: Pick<Ctx, "db" | "eventQueues" | "defer">,
  repo: Pick<Repository, "id" | "ownerId">,
  entry: OutboxEntry,
  { head, hasRefs, packBytes }: RepositorySummary,
  pages: Iterable<readonly MadeUpdate[]> | AsyncIterable<readonly MadeUpdate[]>,
  findPushed: (updates: readonly MadeUpdate[]) => Promise<PushedByRef>,
): Promise<void> {
  const { db, eventQueues, defer } = ctx;
  // Entries stored by an earlier version have no root URL, no visibility and no mark of a confined
  // credential, and have one merge.
  const {
    pushId,
    updateCount,
    actorId,
    isConfined = true,
    at,
    firstLogId,
    rootUrl = "",
    visibility = { visibility: "private", isPrivate: true },
    origin: remoteOrigin,
    merge,
    merges = merge ? [merge] : [],
  } = entry as Stored;
  const origin = { db, actorId, now: at, rootUrl, visibility };
  const eventBase = {
    type: "repository.pushed",
    repoId: repo.id,
    ownerId: repo.ownerId,
    ...(isConfined && { isConfined }),
    ...(remoteOrigin === "mirror" && { isMirror: true as const }),
  } as const;
  const setRow = (isAnnounced: boolean) =>
    setPushedRow(db, {
      repoId: repo.id,
      isEmpty: !hasRefs,
      sizeBytes: packBytes,
      defaultBranch: head === null ? undefined : branchName(head),
      // Refs that the service keeps for pull requests are no activity.
      at: isAnnounced ? at : undefined,
    });

  let part = 0;
  let logId = firstLogId;
  let pending: Event[] = [];
  let tips: Tip[] = [];
  let bytes = 0;
  const flush = async (rest: readonly Statement[] = []): Promise<void> => {
    await db.batch([
      setRow(pending.length > 0),
      setTips(db, { repoId: repo.id, tips: JSON.stringify(tips) }),
      recordAll(origin, pending),
      ...rest,
    ]);
    [pending, tips, bytes] = [[], [], 0];
  };
  for await (const page of pages) {
    for (const { ref, newOid } of page) {
      if (ref.startsWith(HEADS)) tips.push([branchName(ref), newOid, logId]);
      logId++;
    }
    // The service keeps the refs of pull requests, and an import has its own event.
    const reported = remoteOrigin === "import" ? [] : page.filter(({ ref }) => !isPullRef(ref));
    const pushed = await findPushed(reported);
    for (let from = 0; from < reported.length; from += UPDATES_OF_EVENT) {
      const updates = reported
        .slice(from, from + UPDATES_OF_EVENT)
        .map(({ ref, oldOid: before, newOid: after }) =>
          Object.assign({ ref: decodeText(ref as ByteText), before, after }, pushed.get(ref)),
        );
      const turn = pause(UPDATE_STEPS * updates.length);
      if (turn) await turn;
      const event: Event = { ...eventBase, pushId, part: part++, refCount: updateCount, updates };
      const size = encodeUtf8(JSON.stringify(event)).length;
      if (pending.length > 0 && bytes + size > BATCH_BYTES) await flush();
      pending.push(event);
      bytes += size;
    }
  }
  await flush(merges.flatMap((each) => mergeStatements(origin, repo, { ...each, isConfined })));
  eventQueues.noteRecorded();
  // The client may receive its response before the request's own dispatch runs.
  defer(eventQueues.dispatchRecorded());
}

type Statement = ReturnType<typeof mergeStatements>[number];

const HEADS = "refs/heads/";

const branchName = (ref: string): string =>
  decodeText((ref.startsWith(HEADS) ? ref.slice(HEADS.length) : ref) as ByteText);

/** A branch, its value or null, and the reflog id of the update. */
type Tip = readonly [branch: string, oid: string | null, logId: number];

/** The changes of a push to a repository's row. */
interface PushedRow {
  readonly repoId: number;
  readonly isEmpty: boolean;
  readonly sizeBytes: number;
  /** Undefined to keep it. */
  readonly defaultBranch: string | undefined;
  /** When it was used, in Unix milliseconds; undefined if the push is no activity. */
  readonly at: number | undefined;
}

const setPushedRow = prepare((db, p: Params<PushedRow>) =>
  db
    .update(repositories)
    .set({
      isEmpty: p.isEmpty,
      sizeBytes: p.sizeBytes,
      ...(p.defaultBranch && { defaultBranch: p.defaultBranch }),
      ...(p.at && {
        updatedAt: sql`max(${repositories.updatedAt}, ${p.at})`,
        expiry: extendedExpiry(p.at),
      }),
    })
    .where(eq(repositories.id, p.repoId)),
);

/**
 * Stores the new values of the branches that pull requests have, unless a later value is stored
 * already.
 *
 * @param tips JSON of a list of {@link Tip}.
 */
const setTips = prepare((db, { repoId, tips }: Params<{ repoId: number; tips: string }>) =>
  db
    .update(branchTips)
    .set({ oid: sql`pushed.value ->> 1`, logId: sql`pushed.value ->> 2` })
    .from(sql`json_each(${tips}) pushed`)
    .where(
      sql`${branchTips.repoId} = ${repoId}
        and ${branchTips.branch} = pushed.value ->> 0
        and ${branchTips.logId} < pushed.value ->> 2`,
    ),
);
