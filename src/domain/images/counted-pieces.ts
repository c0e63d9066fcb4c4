import { CallerLeft } from "../../lib/step-budget.ts";

/** Pieces of a body, and their size so far. */
export class CountedPieces implements AsyncIterable<Uint8Array> {
  sizeBytes = 0;
  hasLeft = false;
  private readonly pieces: AsyncIterable<Uint8Array>;
  private readonly ifLeft: "end" | "throw";

  /** @param ifLeft What the pieces do where the caller leaves. */
  constructor(pieces: AsyncIterable<Uint8Array>, ifLeft: "end" | "throw") {
    this.pieces = pieces;
    this.ifLeft = ifLeft;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.pieces) {
        this.sizeBytes += piece.length;
        yield piece;
      }
    } catch (error) {
      if (this.ifLeft === "throw" || !(error instanceof CallerLeft)) throw error;
      this.hasLeft = true;
    }
  }
}
