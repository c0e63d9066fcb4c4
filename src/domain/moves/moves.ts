import { and, count, desc, eq, inArray } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { type RepositoryMove, repositoryMoves } from "../../db/schema/index.ts";
import { conflict, notFound } from "../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { inDirectory } from "../shards/in-directory.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists moves, newest first. */
export async function listMoves(
  { directory: db }: Ctx,
  { size, offset }: Slice,
): Promise<Listed<RepositoryMove>> {
  const [items, [counted]] = await db.batch([allMoves(db, { size, offset }), moveCount(db, {})]);
  return { items, total: counted?.total ?? 0 };
}

const allMoves = prepare((db, p: Params<Slice>) =>
  db
    .select()
    .from(repositoryMoves)
    .orderBy(desc(repositoryMoves.id))
    .limit(p.size)
    .offset(p.offset),
);

const moveCount = prepare((db) => db.select({ total: count().as("total") }).from(repositoryMoves));

/** @throws Failure `not_found` for an unknown move. */
export async function findRepositoryMove(
  { directory: db }: Ctx,
  id: number,
): Promise<RepositoryMove> {
  const [move] = await moveOfId(db, { id });
  if (!move) throw notFound();
  return move;
}

const moveOfId = prepare((db, { id }: Params<{ id: number }>) =>
  db.select().from(repositoryMoves).where(eq(repositoryMoves.id, id)),
);

/**
 * Cancels a move: a job removes the copy. The repository stays where it is.
 *
 * @throws Failure `not_found` for an unknown move, `conflict` for one that has named the target, or has ended.
 */
export async function cancelMove(callerCtx: Ctx, id: number): Promise<RepositoryMove> {
  const ctx = inDirectory(callerCtx);
  const { directory: db, now } = ctx;
  const { repoId } = await findRepositoryMove(ctx, id);
  const [[cancelled]] = await db.batch([
    db
      .update(repositoryMoves)
      .set({ state: "reverting", reason: "", dueAt: now })
      .where(
        and(
          eq(repositoryMoves.id, id),
          // The statement that names the target asks for the state as well.
          inArray(repositoryMoves.state, ["copying", "following", "frozen"]),
        ),
      )
      .returning(),
    recordAuditIfChanged(ctx, {
      kind: "repository.move_cancelled",
      ownerId: 0,
      repoId,
      target: String(id),
    }),
  ]);
  if (!cancelled) throw conflict("the repository has moved, or the move has ended");
  ctx.eventQueues.noteMoves();
  return cancelled;
}
