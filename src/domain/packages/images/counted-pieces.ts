import { CallerLeft } from "../../../lib/step-budget.ts";

/** Pieces of a body, and their size so far. They end where the caller leaves. */
export class CountedPieces implements AsyncIterable<Uint8Array> {
  sizeBytes = 0;
  hasLeft = false;
  private readonly pieces: AsyncIterable<Uint8Array>;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.pieces) {
        this.sizeBytes += piece.length;
        yield piece;
      }
    } catch (error) {
      if (!(error instanceof CallerLeft)) throw error;
      this.hasLeft = true;
    }
  }
}
