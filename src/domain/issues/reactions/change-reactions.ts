import { and, eq, sql, type SQL } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { issues, reactions, timelineEntries } from "../../../db/schema/index.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { ReactionContext } from "../../../shapes/issues/reaction.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
  type ParticipationArgument,
  requireParticipation,
} from "../comments/participation.ts";
import { ALLOWED_REACTIONS } from "../../../shapes/issues/allowed-reactions.ts";
import { requireNotArchived } from "../issue/require-issue-access.ts";
import {
  isReactionToComment,
  isReactionToIssue,
  type ReactionSubject,
  selectReactions,
} from "./select-reactions.ts";

const LOCKED = "no permission to change reaction";

/**
 * Adds a reaction by the caller. Idempotent.
 *
 * @returns The reaction, and whether it is new.
 * @throws Failure `forbidden` for a reaction that is not allowed, on a locked issue for callers who
 * may only read it, and where a block separates the caller from the owner of the repository or from
 * who wrote the issue or comment; `locked` in an archived repository.
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
  const { db, now } = ctx;
  const { issue, comment } = subject;
  const statements = insertReaction(db, {
    own: ownReaction(ctx, subject, content),
    participation: participationArgument(ctx, issue),
    actorId: ctx.actor.user?.id ?? null,
    ...(comment && { commentPosterId: comment.row.posterId }),
    now,
  });
  const {
    inserted,
    found: [reaction],
  } = await batch(db, statements).catch((error: unknown) => {
    throw asBlocked(error, "reactions.content");
  });
  // Locked or deleted since it was read.
  if (!reaction) throw forbidden(LOCKED);
  return { reaction, isNew: inserted.length > 0 };
}

/** A reaction of the caller, as an argument of a query. */
interface OwnReaction {
  readonly issueId: number;
  /** The comment; absent for a reaction to the issue itself. */
  readonly entryId?: number;
  /** 0 for nobody. */
  readonly userId: number;
  readonly content: string;
}

const ownReaction = (
  { actor }: Ctx,
  { issue, comment }: ReactionSubject,
  content: string,
): OwnReaction => ({
  issueId: issue.row.id,
  ...(comment && { entryId: comment.row.id }),
  userId: actor.user?.id ?? 0,
  content,
});

const isOwn = ({ issueId, entryId, userId, content }: Params<OwnReaction>): SQL | undefined =>
  and(
    entryId ? isReactionToComment(entryId) : isReactionToIssue(issueId),
    eq(reactions.userId, userId),
    eq(reactions.content, content),
  );

interface NewReaction {
  readonly own: OwnReaction;
  readonly participation: ParticipationArgument;
  readonly actorId: number | null;
  readonly commentPosterId?: number | null;
  readonly now: number;
}

const insertReaction = prepareAll((db, p: Params<NewReaction>) => {
  const { own, participation, commentPosterId } = p;
  const { issueId, entryId, content } = own;
  const keptOut = isKeptOut(participation, ...(commentPosterId ? [commentPosterId] : []));
  const isPresent =
    entryId &&
    sql`exists (
      select 1
      from ${timelineEntries}
      where ${timelineEntries.id} = ${entryId}
    )`;
  return {
    inserted: insertSelect(
      db,
      reactions,
      {
        issueId,
        entryId: entryId ?? null,
        userId: p.actorId,
        content: unlessBlocked(keptOut, content),
        createdAt: p.now,
      },
      sql`from ${issues} where ${and(isParticipationAllowed(participation), isPresent)}`,
    )
      .onConflictDoNothing()
      .returning({ id: reactions.id }),
    found: selectReactions(db).where(isOwn(own)),
  };
});

/**
 * Removes a reaction of the caller. Idempotent.
 *
 * @throws Failure `forbidden` on a locked issue for callers who may only read it; `locked` in an
 *   archived repository.
 */
export async function removeReaction(
  ctx: Ctx,
  subject: ReactionSubject,
  content: string,
): Promise<void> {
  requireParticipation(subject.issue, LOCKED);
  requireNotArchived(subject.issue.repo);
  await deleteReaction(ctx.db, ownReaction(ctx, subject, content));
}

const deleteReaction = prepare((db, own: Params<OwnReaction>) =>
  db.delete(reactions).where(isOwn(own)),
);
