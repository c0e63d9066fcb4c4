import type { Bucket } from "./bucket.ts";
import { logPieceKey, logPrefix } from "./keys.ts";
import type { LogPiece } from "./repository-records.ts";

/** The logs of tasks in the bucket, each in pieces. */
export class LogFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  put(piece: LogPiece, bytes: Uint8Array): Promise<void> {
    return this.bucket.put(logPieceKey(piece), bytes);
  }

  /** All bytes of a piece; undefined once it has become a part of another one. */
  read(piece: LogPiece): Promise<Uint8Array | undefined> {
    return this.bucket.readWhole(logPieceKey(piece));
  }

  /** Deletes pieces and ignores missing ones. At most 1000 per call. */
  delete(pieces: readonly LogPiece[]): Promise<void> {
    return this.bucket.delete(pieces.map(logPieceKey));
  }

  /** Deletes the log of a task. */
  deleteLog(taskId: number): Promise<void> {
    return this.bucket.deleteAll(logPrefix(taskId));
  }
}
