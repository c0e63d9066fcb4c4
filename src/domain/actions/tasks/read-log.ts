import { and, asc, eq, gt, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { workflowLogPieces, type WorkflowTask } from "../../../db/schema/index.ts";
import type { ByteRange } from "../../../lib/byte-range.ts";
import { parseRows, type StoredLogRow } from "./log-rows.ts";

/** How often pieces are looked up again that were joined while they were read. */
const TRIES_MAX = 3;

type LoggedTask = Pick<WorkflowTask, "id" | "logRows">;

interface RowRange {
  /** The first row, from 0. */
  readonly fromRow: number;
  readonly rowCount: number;
  /** Pieces of the log beyond these bytes are left out, but for the first one. */
  readonly bytesMax?: number;
}

/**
 * Reads rows of the log of a task: fewer where it ends, and where they are more than `bytesMax`.
 * The caller bounds their number.
 *
 * Cost: one round trip, and a file of at most a megabyte for each thousands of rows.
 */
export async function readLog(
  { db, git }: Ctx,
  { id }: Pick<LoggedTask, "id">,
  { fromRow, rowCount, bytesMax = Infinity }: RowRange,
): Promise<readonly StoredLogRow[]> {
  return retryJoined(async () => {
    const end = fromRow + rowCount;
    const found = await piecesOfRows(db, { taskId: id, fromRow, end });
    let sum = 0;
    const pieces = found.filter((piece, at) => (sum += piece.bytes) <= bytesMax || at === 0);
    const parts = await Promise.all(pieces.map((piece) => git.logFiles.read(piece)));
    const rows: StoredLogRow[] = [];
    for (const [at, piece] of pieces.entries()) {
      const bytes = parts[at];
      if (!bytes) return undefined;
      const from = Math.max(0, fromRow - piece.firstRow);
      rows.push(...parseRows(bytes).slice(from, end - piece.firstRow));
    }
    return rows;
  });
}

interface PieceFilter {
  readonly taskId: number;
  readonly fromRow: number;
  readonly end: number;
}

const piecesOfRows = prepare((db, { taskId, fromRow, end }: Params<PieceFilter>) =>
  db
    .select()
    .from(workflowLogPieces)
    .where(
      and(
        eq(workflowLogPieces.taskId, taskId),
        lt(workflowLogPieces.firstRow, end),
        gt(sql`${workflowLogPieces.firstRow} + ${workflowLogPieces.rowCount}`, fromRow),
      ),
    )
    .orderBy(asc(workflowLogPieces.firstRow)),
);

/**
 * Streams bytes of the log of a task as text, a line for each row. Pieces are read as the reader
 * takes them.
 */
export function streamLog(
  ctx: Ctx,
  { id }: Pick<LoggedTask, "id">,
  { start, end }: ByteRange,
): ReadableStream<Uint8Array> {
  const pieces = bytesOf(ctx, id, { start, end });
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

async function* bytesOf({ db, git }: Ctx, taskId: number, { start, end }: ByteRange) {
  let next = start;
  for (let attempt = 0; attempt < TRIES_MAX && next < end; attempt++) {
    const pieces = await piecesOfRows(db, {
      taskId,
      fromRow: 0,
      end: Number.MAX_SAFE_INTEGER,
    });
    let position = 0;
    for (const piece of pieces) {
      const pieceStart = position;
      position += piece.bytes;
      if (position <= next) continue;
      if (next >= end) return;
      const bytes = await git.logFiles.read(piece);
      // It was joined to another one. Bytes keep their positions then.
      if (!bytes) break;
      attempt = 0;
      yield bytes.subarray(next - pieceStart, end - pieceStart);
      next = Math.min(position, end);
    }
  }
  if (next < end) throw new Error("a piece of a log is gone");
}

async function retryJoined<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error("a piece of a log is gone");
}
