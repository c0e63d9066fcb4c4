import { eq } from "drizzle-orm";

import { pullMirrors, pushMirrors, repositories } from "../../src/db/schema/index.ts";
import type { PullMirror, PushMirror } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName, type TestRepo } from "./make.ts";

/** Nothing listens there. */
export const NOWHERE = "http://127.0.0.1:48999/nobody/nothing.git";

/** Makes a repository a mirror that its owner has set up. */
export async function makePullMirror(
  repo: TestRepo,
  fields: Partial<PullMirror> = {},
): Promise<PullMirror> {
  const row = {
    repoId: repo.id,
    address: NOWHERE,
    approverId: repo.ownerId,
    intervalSeconds: 28_800,
    createdAt: Date.now(),
    ...fields,
  };
  const { intervalSeconds, syncedAt = null, parts = [] } = row;
  const [inserted] = await db.batch([
    db.insert(pullMirrors).values(row).returning(),
    db
      .update(repositories)
      .set({
        isMirror: true,
        hasPullRequests: false,
        origin: { url: row.address, mirror: { intervalSeconds, syncedAt, parts } },
      })
      .where(eq(repositories.id, repo.id)),
  ]);
  return only(inserted);
}

/** Makes a push mirror of a repository that its owner has set up. */
export async function makePushMirror(
  repo: TestRepo,
  fields: Partial<PushMirror> = {},
): Promise<PushMirror> {
  const inserted = await db
    .insert(pushMirrors)
    .values({
      repoId: repo.id,
      remoteName: freshName("remote_mirror"),
      address: NOWHERE,
      approverId: repo.ownerId,
      intervalSeconds: 28_800,
      createdAt: Date.now(),
      ...fields,
    })
    .returning();
  return only(inserted);
}

export const pullMirrorOf = async ({ id }: { id: number }): Promise<PullMirror> =>
  only(await db.select().from(pullMirrors).where(eq(pullMirrors.repoId, id)));

export const pushMirrorsOf = ({ id }: { id: number }): Promise<PushMirror[]> =>
  db.select().from(pushMirrors).where(eq(pushMirrors.repoId, id)).orderBy(pushMirrors.id);
