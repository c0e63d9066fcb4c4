import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import {
  type PullMirror,
  pullMirrors,
  repositories,
  type RepositoryOrigin,
} from "../../../../db/schema/index.ts";
import { fetchRemote } from "../../remotes/fetch-remote.ts";
import { fetchWiki, wikiUrlOf } from "../../remotes/fetch-wiki.ts";
import type { MirrorHealth } from "../next-attempt.ts";
import { openMirrorRemote } from "../open-mirror.ts";
import { type MirrorKind, type OpenMirror, syncMirror } from "../sync-mirror.ts";

const PULL_MIRRORS: MirrorKind<PullMirror> = {
  table: pullMirrors,
  isOne: (id) => eq(pullMirrors.repoId, id),
  async attempt(ctx, { mirror, repo }) {
    const remote = await openMirrorRemote(ctx, mirror);
    const isFirst = mirror.syncedAt === null && repo.row.isEmpty;
    await fetchRemote(ctx, repo, remote, { prune: mirror.isPruned, isFirst });
    if (!mirror.withWiki) return;
    const wiki = await openMirrorRemote(ctx, { ...mirror, address: wikiUrlOf(mirror.address) });
    await fetchWiki(ctx, repo, wiki, mirror.isPruned);
  },
  remoteName: () => undefined,
  isAlwaysRetried: () => false,
  toRest: (ctx, { mirror }, after) => [
    ctx.db
      .update(repositories)
      .set({
        origin: sql`json_set(
          coalesce(${repositories.origin}, json_object('url', ${mirror.address})),
          '$.mirror', json(${JSON.stringify(toShown(mirror, after))})
        )`,
      })
      .where(
        and(
          eq(repositories.id, mirror.repoId),
          eq(repositories.isMirror, true),
          // A job that is late has stored nothing.
          sql`${after.attemptedAt} = (
            select ${pullMirrors.attemptedAt}
            from ${pullMirrors}
            where ${pullMirrors.repoId} = ${mirror.repoId}
          )`,
        ),
      ),
  ],
  toJob: (repoId) => ({ kind: "pull-mirror", repoId }),
};

/**
 * Synchronizes the git data of a pull mirror with its remote.
 *
 * @returns The mirror if it is synchronized.
 */
export const syncPullMirror = (
  ctx: Ctx,
  repoId: number,
): Promise<OpenMirror<PullMirror> | undefined> => syncMirror(ctx, PULL_MIRRORS, repoId);

/** The fields of the repository's record about its mirror. */
const toShown = (
  { intervalSeconds, parts }: PullMirror,
  { syncedAt, failingSince, lastError, dueAt, state }: MirrorHealth,
): RepositoryOrigin["mirror"] => ({
  intervalSeconds,
  syncedAt,
  ...(failingSince !== null && {
    failure: {
      reason: lastError,
      since: failingSince,
      nextAt: dueAt,
      isPaused: state === "paused",
    },
  }),
  parts,
});
