import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { isViolation, onlyWhile } from "../../../../db/db.ts";
import { type PushMirror, pushMirrors } from "../../../../db/schema/index.ts";
import { record } from "../../../../events/record.ts";
import { Failure, invalid } from "../../../../lib/failure.ts";
import { only } from "../../../../lib/only.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { recordAudit } from "../../../people/audit/record-audit.ts";
import { requireNotArchived } from "../../../issues/issue/require-issue-access.ts";
import { readMirrorInterval } from "../mirror-interval.ts";
import { sealMirrorPassword } from "../open-mirror.ts";
import { checkMirrorAddress, requireMirrorApprover, requireMirrors } from "../require-mirrors.ts";

/** The input for a new push mirror. */
export interface NewPushMirror {
  readonly address: string;
  readonly username: string;
  readonly password: string;
  /** As Go writes durations. */
  readonly interval: string;
  readonly syncsOnCommit: boolean;
}

/** Push mirrors of one repository. */
const MIRRORS_MAX = 100;

/**
 * Adds a remote that follows a repository. Its first synchronization begins at once if it has an
 * interval.
 *
 * Cost: one batch, after the check of its address.
 *
 * @throws Failure `malformed` for an interval or address that is none, and where mirrors are
 * switched off; `forbidden` where no more may be added, for a narrowed token, and for credentials
 * where the service can't seal them; `invalid` for a host that may not be asked, and above the
 * limit; `locked` in an archived repository.
 */
export async function addPushMirror(
  ctx: Ctx,
  repo: RepositoryContext,
  input: NewPushMirror,
): Promise<PushMirror> {
  requireMirrors(ctx);
  requireNotArchived(repo);
  const { db, now, config } = ctx;
  if (!config.mirrors.isNewPushAllowed) {
    throw new Failure(
      "forbidden",
      "the site administrator has disabled the addition of push mirrors",
    );
  }
  const approver = requireMirrorApprover(ctx);
  const interval = readMirrorInterval(input.interval, config.mirrors);
  if (typeof interval === "object") throw new Failure("malformed", interval.reason);
  const address = await checkMirrorAddress(ctx, input.address, input);
  const { id: repoId, ownerId } = repo.row;
  const remoteName = `remote_mirror_${crypto.randomUUID().replaceAll("-", "").slice(0, 10)}`;
  const isWithinLimit = sql`(
    select count(*) from ${pushMirrors} where ${eq(pushMirrors.repoId, repoId)}
  ) < ${MIRRORS_MAX}`;
  try {
    const [added] = await db.batch([
      db
        .insert(pushMirrors)
        .values({
          repoId,
          remoteName: onlyWhile(isWithinLimit, remoteName),
          address: address.url,
          username: address.username,
          sealedPassword: await sealMirrorPassword(ctx, address.password),
          approverId: approver.id,
          intervalSeconds: interval,
          syncsOnCommit: input.syncsOnCommit,
          dueAt: interval > 0 ? now : null,
          createdAt: now,
        })
        .returning(),
      record(ctx, { type: "push_mirror.added", repoId, ownerId, remoteName }),
      recordAudit(ctx, {
        kind: "push_mirror.added",
        repoId,
        ownerId,
        target: remoteName,
        details: { host: new URL(address.url).host },
      }),
    ]);
    const mirror = only(added);
    if (interval > 0) {
      ctx.defer(ctx.remoteJobs.send([{ kind: "push-mirror", mirrorId: mirror.id }]));
    }
    return mirror;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "push_mirrors.remote_name")) {
      throw invalid(`no more than ${MIRRORS_MAX} push mirrors may be here`);
    }
    throw error;
  }
}
