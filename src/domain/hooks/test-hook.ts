import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { hookDeliveries } from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import { openCode } from "../git/open-code.ts";
import { findHook } from "./find-hook.ts";

/**
 * Lets a repository's hook be told of a push that changed nothing, to this one alone. One that is told
 * of no pushes is not told of this one either.
 *
 * @param revision What the push is to lead to; the default branch where it says nothing.
 * @throws Failure `not_found` for a hook that is not there, for a revision that is not, and where the
 * repository is empty.
 */
export async function testHook(
  ctx: Ctx,
  entry: RepositoryEntry,
  id: number,
  revision: string,
): Promise<void> {
  const { repo } = entry;
  const hook = await findHook(ctx, { level: "repository", repo }, id);
  const code = await openCode(ctx, entry);
  if (code.snapshot.refs.length === 0) throw notFound("repository is empty");
  const found = findRevision(code, revision === "" ? `refs/heads/${repo.defaultBranch}` : revision);
  if (!found) throw notFound();
  if (!hook.events.includes("push")) return;

  const { db, now } = ctx;
  const { id: hookId } = hook;
  await db.batch([
    record(ctx, {
      type: "hook.tested",
      repoId: repo.id,
      ownerId: repo.ownerId,
      hookId,
      ref: fullNameOf(found),
      commitOid: found.commitOid,
    }),
    db.insert(hookDeliveries).values({
      hookId,
      eventId: sql`last_insert_rowid()`,
      uuid: crypto.randomUUID(),
      event: "push",
      nextAttemptAt: now,
      createdAt: now,
      updatedAt: now,
    }),
  ]);
}

function fullNameOf({ kind, name }: Revision): string {
  if (kind === "branch") return `refs/heads/${name}`;
  return kind === "tag" ? `refs/tags/${name}` : name;
}
