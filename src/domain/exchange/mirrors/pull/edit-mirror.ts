import { eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../../context.ts";
import { pullMirrors, type Repository, repositories } from "../../../../db/schema/index.ts";
import { record } from "../../../../events/record.ts";
import { invalid, invalidField } from "../../../../lib/failure.ts";
import { readMirrorInterval } from "../mirror-interval.ts";
import { sealMirrorPassword } from "../open-mirror.ts";
import { checkMirrorAddress, requireMirrorApprover } from "../require-mirrors.ts";

/** The changes to the mirror that a repository is; omitted fields keep their value. */
export interface MirrorEdit {
  /** False makes it an ordinary repository. */
  readonly isMirror?: boolean | undefined;
  /** As Go writes durations. */
  readonly interval?: string | undefined;
  readonly isPruned?: boolean | undefined;
  readonly address?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * The statements that change the mirror that a repository is. For a repository that is none there
 * are none: as in Gitea, the settings of mirrors are ignored.
 *
 * Who changes its remote answers for it from now on.
 *
 * @throws Failure `invalid` for an interval or address that can't be used, and for a repository
 * that is to become a mirror; `forbidden` for a narrowed token.
 */
export async function mirrorEditStatements(
  ctx: Ctx,
  repo: Repository,
  edit: MirrorEdit,
): Promise<BatchItem<"sqlite">[]> {
  if (edit.isMirror === true && !repo.isMirror) {
    throw invalidField("mirror", "can't be set: a mirror is made by a migration");
  }
  if (!repo.isMirror) return [];
  const { db, config, now } = ctx;
  const isThis = eq(pullMirrors.repoId, repo.id);
  if (edit.isMirror === false) {
    return [
      db.delete(pullMirrors).where(isThis),
      db
        .update(repositories)
        .set({
          isMirror: false,
          origin: sql`json_remove(${repositories.origin}, '$.mirror')`,
        })
        .where(eq(repositories.id, repo.id)),
      record(ctx, { type: "repository.mirror_ended", repoId: repo.id, ownerId: repo.ownerId }),
    ];
  }
  const { interval, isPruned, address, username, password } = edit;
  const seconds = interval === undefined ? undefined : readMirrorInterval(interval, config.mirrors);
  if (typeof seconds === "object") throw invalid(seconds.reason);
  const isRemoteChanged = [address, username, password].some((each) => each !== undefined);
  const remote = isRemoteChanged ? await toRemoteColumns(ctx, repo, edit) : {};
  if (seconds === undefined && isPruned === undefined && !isRemoteChanged) return [];
  const dueAt =
    seconds === undefined
      ? undefined
      : seconds === 0
        ? null
        : sql`coalesce(${pullMirrors.attemptedAt}, ${now}) + ${seconds * 1000}`;
  return [
    db
      .update(pullMirrors)
      .set({
        ...(seconds !== undefined && { intervalSeconds: seconds }),
        ...(dueAt !== undefined && { dueAt }),
        ...(isPruned !== undefined && { isPruned }),
        ...remote,
      })
      .where(isThis),
    db
      .update(repositories)
      .set({
        origin: sql`json_set(
          ${repositories.origin},
          ${"$.mirror.intervalSeconds"},
          (select interval_seconds from ${pullMirrors} where ${isThis}),
          ${"$.url"},
          (select address from ${pullMirrors} where ${isThis})
        )`,
      })
      .where(eq(repositories.id, repo.id)),
  ];
}

/** The columns of another remote, or of other credentials for the same one. */
async function toRemoteColumns(ctx: Ctx, repo: Repository, edit: MirrorEdit) {
  const approver = requireMirrorApprover(ctx);
  const { username = "", password = "" } = edit;
  const isSame = edit.address === undefined;
  if (isSame && (edit.username === undefined || edit.password === undefined)) {
    throw invalid("the user name and the password of a mirror are changed together");
  }
  const present = repo.origin?.url ?? "";
  const address = await checkMirrorAddress(ctx, edit.address ?? present, { username, password });
  return {
    approverId: approver.id,
    address: address.url,
    username: address.username,
    // SECURITY: the password of the former remote is not sent to another one.
    sealedPassword: await sealMirrorPassword(ctx, address.password),
    dueAt: Date.now(),
  };
}
