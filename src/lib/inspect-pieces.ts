/**
 * Passes bytes on while another reader inspects them, so that they are read once.
 *
 * @param inspect Reads all of the bytes it is given. What it throws ends the passing with that
 *   error.
 * @param onResult Receives what `inspect` returns, before the passing ends.
 */
export async function* inspectPieces<T>(
  pieces: AsyncIterable<Uint8Array>,
  inspect: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
  onResult: (result: T) => void,
): AsyncGenerator<Uint8Array> {
  const channel = new PieceChannel();
  const inspection = inspect(channel.read());
  // A writer that waits for a piece to be taken learns that it never will be.
  inspection.then(
    () => channel.close(),
    () => channel.close(),
  );
  try {
    for await (const piece of pieces) {
      await channel.write(piece);
      if (channel.isClosed) await inspection;
      yield piece;
    }
    channel.close();
    onResult(await inspection);
  } finally {
    channel.close(new Error("the bytes are not passed on any more"));
    await inspection.catch(() => {
      // The first of the two errors is the one that counts.
    });
  }
}

/** Hands over pieces one at a time. */
class PieceChannel {
  isClosed = false;
  private reason: Error | undefined;
  private piece: Uint8Array | undefined;
  private wake: () => void = () => {};

  /** Resolves when the piece was taken, or the channel is closed. */
  async write(piece: Uint8Array): Promise<void> {
    if (piece.length === 0) return;
    this.piece = piece;
    this.notify();
    while (this.piece && !this.isClosed) await this.change();
  }

  /** @param reason An error for the reader, where what it has read is not all. */
  close(reason?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.reason = reason;
    this.notify();
  }

  async *read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { piece } = this;
      if (piece) {
        this.piece = undefined;
        this.notify();
        yield piece;
      } else if (this.isClosed) {
        if (this.reason) throw this.reason;
        return;
      } else {
        await this.change();
      }
    }
  }

  private waiting: Promise<void> | undefined;

  private change(): Promise<void> {
    this.waiting ??= new Promise((resolve) => {
      this.wake = resolve;
    });
    return this.waiting;
  }

  private notify(): void {
    this.waiting = undefined;
    this.wake();
  }
}
