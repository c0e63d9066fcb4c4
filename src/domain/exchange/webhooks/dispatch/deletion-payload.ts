import { eq, sql } from "drizzle-orm";

import { ANONYMOUS } from "../../../../auth/actor.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { issues, OWNER_PERMISSION } from "../../../../db/schema/index.ts";
import {
  toCommentPayload,
  toIssuePayload,
} from "../../../../events/webhooks/payloads/issue-payload.ts";
import { openReceiver } from "../../../../events/webhooks/payloads/open-receiver.ts";
import type { PayloadContext } from "../../../../events/webhooks/payloads/payload-context.ts";
import { toPullPayload } from "../../../../events/webhooks/payloads/pull-payload.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { CommentContext } from "../../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../../shapes/issues/issue.ts";
import type { PullContext } from "../../../../shapes/pulls/pull-request.ts";
import type { CommentPayload, IssuePayload } from "../../../../shapes/webhooks/issue-payloads.ts";
import type { PullPayload } from "../../../../shapes/webhooks/pull-payload.ts";
import { selectHeadRepositories, selectPulls, toOnePull } from "../../../pulls/pull/find-pull.ts";

/**
 * The payload of a deletion, which is recorded with its event.
 *
 * Cost: one round trip for a pull request.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function toIssueDeletion(
  ctx: Ctx,
  issue: IssueContext,
): Promise<IssuePayload | PullPayload> {
  const context = toContext(ctx, issue);
  return issue.row.isPull
    ? toPullPayload(context, "deleted", await readPull(ctx, context, issue))
    : toIssuePayload(context, "deleted", issue);
}

/** Like `toIssueDeletion`, for a comment. */
export async function toCommentDeletion(
  ctx: Ctx,
  { issue, comment }: { issue: IssueContext; comment: CommentContext },
): Promise<CommentPayload> {
  const context = toContext(ctx, issue);
  const pull = issue.row.isPull ? await readPull(ctx, context, issue) : undefined;
  return toCommentPayload(context, "deleted", issue, comment, { pull });
}

/**
 * SECURITY: a payload is built with the owner's permission, for every hook, and shows what anybody
 * may see.
 */
const toContext = (ctx: Ctx, { repo: { row, owner } }: IssueContext): PayloadContext => ({
  repo: { row, owner, permission: OWNER_PERMISSION },
  sender: ctx.actor.user,
  viewer: openReceiver(ctx),
});

async function readPull(
  callerCtx: Ctx,
  { repo }: PayloadContext,
  { row: { id } }: IssueContext,
): Promise<PullContext> {
  const ctx: Ctx = { ...callerCtx, actor: ANONYMOUS };
  const isThis = eq(issues.id, id);
  const selected = await batch(ctx.db, {
    rows: selectPulls(ctx.db).where(isThis),
    heads: selectHeadRepositories(ctx, repo.row.id, sql`${id}`),
  });
  const pull = toOnePull(ctx, repo, selected);
  if (!pull) throw notFound("issue does not exist");
  return pull;
}
