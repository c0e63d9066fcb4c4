import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { workflowLogPieces } from "../../../db/schema/index.ts";

/** Maximum bytes of a piece that is joined of others. */
const PIECE_BYTES_MAX = 1024 * 1024;
/** Pieces that one call reads at most. */
const PIECES_MAX = 512;

type Piece = typeof workflowLogPieces.$inferSelect;

/**
 * Joins small pieces of a log that follow each other, so that a log of many rows has few files. It
 * may be repeated, run twice at once and end anywhere: a file that no row names goes with the log.
 */
export async function joinLog(ctx: Ctx, taskId: number): Promise<void> {
  const small = await ctx.db
    .select()
    .from(workflowLogPieces)
    .where(
      and(eq(workflowLogPieces.taskId, taskId), lt(workflowLogPieces.bytes, PIECE_BYTES_MAX / 2)),
    )
    .orderBy(asc(workflowLogPieces.firstRow))
    .limit(PIECES_MAX);
  for (const group of toGroups(small)) await joinPieces(ctx, group);
}

/** The pieces that become one each. */
function toGroups(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const groups: Piece[][] = [];
  let bytes = 0;
  let nextRow = -1;
  for (const piece of pieces) {
    bytes += piece.bytes;
    if (piece.firstRow === nextRow && bytes <= PIECE_BYTES_MAX) {
      groups.at(-1)?.push(piece);
    } else {
      groups.push([piece]);
      bytes = piece.bytes;
    }
    nextRow = piece.firstRow + piece.rowCount;
  }
  return groups.filter((group) => group.length > 1);
}

async function joinPieces({ db, git }: Ctx, group: readonly Piece[]): Promise<void> {
  const [first] = group;
  if (!first) return;
  const { taskId, firstRow } = first;
  const parts = await Promise.all(group.map((piece) => git.logFiles.read(piece)));
  // Another call has joined them.
  if (parts.includes(undefined)) return;
  const rowCount = group.reduce((sum, piece) => sum + piece.rowCount, 0);
  const bytes = await new Blob(parts as Uint8Array<ArrayBuffer>[]).bytes();
  await git.logFiles.put({ taskId, firstRow, rowCount }, bytes);
  const firstRows = group.map((piece) => piece.firstRow);
  const isOfGroup = and(
    eq(workflowLogPieces.taskId, taskId),
    inArray(
      workflowLogPieces.firstRow,
      sql`(
      select value from json_each(${JSON.stringify(firstRows)})
    )`,
    ),
  );
  const isWhole = sql`(
    select coalesce(sum(${workflowLogPieces.rowCount}), 0) from ${workflowLogPieces}
    where ${isOfGroup}
  ) = ${rowCount} and (select count(*) from ${workflowLogPieces} where ${isOfGroup}) = ${group.length}`;
  // The row of the first piece becomes that of the whole, and the others go, all or none.
  const { joined } = await batch(db, {
    joined: db
      .update(workflowLogPieces)
      .set({ rowCount, bytes: bytes.length })
      .where(
        and(
          eq(workflowLogPieces.taskId, taskId),
          eq(workflowLogPieces.firstRow, firstRow),
          isWhole,
        ),
      )
      .returning({ firstRow: workflowLogPieces.firstRow }),
    others: db
      .delete(workflowLogPieces)
      .where(and(isOfGroup, sql`${workflowLogPieces.firstRow} <> ${firstRow}`, sql`changes() > 0`)),
  });
  if (joined.length > 0) await git.logFiles.delete(group);
}
