import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories, type Repository } from "../../../db/schema/index.ts";
import type { Event } from "../../../events/event.ts";
import { recordAll } from "../../../events/record.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type {
  MadeUpdate,
  OutboxEntry,
  RepositorySummary,
} from "../../../storage/repository-records.ts";
import { listPageChanges } from "./list-page-changes.ts";

/** Maximum pages that an event names, each of which is one to webhooks. */
const PAGES_MAX = 20;
/** Maximum stored characters of a commit message. */
const COMMENT_CHARS_MAX = 1000;

/**
 * Copies the state of a wiki to its repository's row and records which pages a push has changed, in
 * one batch. Nothing is recorded where a push changes no page, or takes over a remote.
 *
 * Idempotent, also concurrently: the event of a push is recorded once.
 *
 * @param pages All ref updates of the push.
 * @param open  Opens the wiki with the pack of the push.
 */
export async function recordWikiPush(
  ctx: Pick<Ctx, "db" | "eventQueues" | "defer" | "git">,
  repo: Pick<Repository, "id" | "ownerId">,
  entry: OutboxEntry,
  { head, hasRefs, packBytes }: RepositorySummary,
  pages: Iterable<readonly MadeUpdate[]> | AsyncIterable<readonly MadeUpdate[]>,
  open: () => Promise<OpenRepository>,
): Promise<void> {
  const { db, eventQueues, defer } = ctx;
  const { actorId, at: now, rootUrl, visibility, pushId } = entry;
  let updated: MadeUpdate | undefined;
  for await (const page of pages) updated = page.find(({ ref }) => ref === head) ?? updated;
  const all: Event[] = [];
  if (updated && !entry.origin) {
    const { oldOid, newOid: commitOid } = updated;
    const repository = await open();
    const changes = await listPageChanges(ctx, repository, oldOid, commitOid);
    if (changes.length > 0) {
      all.push({
        type: "wiki.changed",
        repoId: repo.id,
        ownerId: repo.ownerId,
        pushId,
        commitOid,
        comment: await readComment(repository, commitOid),
        pages: changes.slice(0, PAGES_MAX),
        pageCount: changes.length,
      });
    }
  }
  const wikiBranch =
    head === null || !hasRefs ? "" : decodeText(head.replace(/^refs\/heads\//, "") as ByteText);
  await db.batch([
    db
      .update(repositories)
      .set({ ...(wikiBranch !== "" && { wikiBranch }), wikiSizeBytes: packBytes })
      .where(eq(repositories.id, repo.id)),
    recordAll({ db, actorId, now, rootUrl, visibility }, all),
  ]);
  if (all.length === 0) return;
  eventQueues.noteRecorded();
  // The client may receive its response before the request's own dispatch runs.
  defer(eventQueues.dispatchRecorded());
}

async function readComment({ objects }: OpenRepository, oid: string | null): Promise<string> {
  const found = oid === null ? undefined : await objects.readObject(oid);
  if (!found) return "";
  const commit = parseCommit(found.content);
  return decodeCommitText(commit, commit.message).trim().slice(0, COMMENT_CHARS_MAX).toWellFormed();
}
