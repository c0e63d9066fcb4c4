import { and, eq, sql, type SQL } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, reactions } from "../../db/schema/index.ts";
import { forbidden } from "../../lib/failure.ts";
import type { ReactionContext } from "../../shapes/issues/reaction.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
  requireParticipation,
} from "../comments/participation.ts";
import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import {
  isReactionTo,
  isReactionSubjectPresent,
  type ReactionSubject,
  selectReactions,
} from "./select-reactions.ts";

const LOCKED = "no permission to change reaction";

/**
 * Adds a reaction by the caller. Idempotent.
 *
 * @returns The reaction, and whether it is new.
 * @throws Failure `forbidden` for a reaction that is not allowed, on a locked issue for callers who may only read it, and
 * where a block separates the caller from the owner of the repository or from who wrote the issue or comment; `locked` in
 * an archived repository.
 */
export async function addReaction(
  ctx: Ctx,
  subject: ReactionSubject,
  content: string,
): Promise<{ reaction: ReactionContext; isNew: boolean }> {
  requireParticipation(subject.issue, LOCKED);
  requireNotArchived(subject.issue.repo);
  if (!ALLOWED_REACTIONS.some((each) => each === content)) {
    throw forbidden(`'${content}' is not an allowed reaction`);
  }
  const { db, now, actor } = ctx;
  const { issue, comment } = subject;
  const participation = participationArgument(ctx, issue);
  const keptOut = isKeptOut(participation, ...(comment ? [comment.row.posterId] : []));
  const row = {
    issueId: issue.row.id,
    entryId: comment?.row.id ?? null,
    userId: sql`${actor.user?.id ?? null}`,
    content: unlessBlocked(keptOut, content),
    createdAt: now,
  };
  const isPossible = and(isParticipationAllowed(participation), isReactionSubjectPresent(subject));
  const [inserted, [reaction]] = await db
    .batch([
      insertSelect(db, reactions, row, sql`from ${issues} where ${isPossible}`)
        .onConflictDoNothing()
        .returning({ id: reactions.id }),
      selectReactions(db).where(isOwn(ctx, subject, content)),
    ])
    .catch((error: unknown) => {
      throw asBlocked(error, "reactions.content");
    });
  // Locked or deleted since it was read.
  if (!reaction) throw forbidden(LOCKED);
  return { reaction, isNew: inserted.length > 0 };
}

/**
 * Removes a reaction of the caller. Idempotent.
 *
 * @throws Failure `forbidden` on a locked issue for callers who may only read it; `locked` in an archived repository.
 */
export async function removeReaction(
  ctx: Ctx,
  subject: ReactionSubject,
  content: string,
): Promise<void> {
  requireParticipation(subject.issue, LOCKED);
  requireNotArchived(subject.issue.repo);
  await ctx.db.delete(reactions).where(isOwn(ctx, subject, content));
}

const isOwn = ({ actor }: Ctx, subject: ReactionSubject, content: string): SQL | undefined =>
  and(
    isReactionTo(subject),
    eq(reactions.userId, actor.user?.id ?? 0),
    eq(reactions.content, content),
  );
