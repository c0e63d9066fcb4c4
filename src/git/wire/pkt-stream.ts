import { GitError } from "../error.ts";
import { joinBytes, type Pkt, readPkt } from "./pkt-line.ts";

/**
 * Reads the packets of a stream as they arrive, holding one packet and one piece of the stream in
 * memory.
 *
 * The caller owns the stream: it ends it, also after an error.
 */
export class PktStream {
  private readonly pieces: AsyncIterator<Uint8Array, unknown>;
  private bytes = new Uint8Array(0);
  private offset = 0;

  constructor(pieces: AsyncIterator<Uint8Array, unknown>) {
    this.pieces = pieces;
  }

  /**
   * The next packet; undefined at the end of the stream. Its payload is a view that stays valid.
   *
   * @throws GitError `corrupt` for bytes that are no packet, `protocol` if the stream ends inside
   *   of one.
   */
  async next(): Promise<Pkt | undefined> {
    for (;;) {
      const read = readPkt(this.bytes, this.offset);
      if (read) {
        this.offset = read.next;
        return read.pkt;
      }
      if (await this.fill()) continue;
      if (this.offset === this.bytes.length) return undefined;
      throw new GitError("protocol", "the answer ends inside of a packet");
    }
  }

  /** The next packet. @throws GitError as `next` does, and `protocol` at the end of the stream. */
  async expect(): Promise<Pkt> {
    const pkt = await this.next();
    if (!pkt) throw new GitError("protocol", "the answer ends too early");
    return pkt;
  }

  /** The bytes behind the packets that were read, as they arrive. */
  async *rest(): AsyncGenerator<Uint8Array, void> {
    if (this.offset < this.bytes.length) yield this.bytes.subarray(this.offset);
    this.offset = this.bytes.length;
    for (;;) {
      const { value, done } = await this.pieces.next();
      if (done) return;
      yield value;
    }
  }

  /** @returns False at the end of the stream. */
  private async fill(): Promise<boolean> {
    const { value, done } = await this.pieces.next();
    if (done) return false;
    const left = this.bytes.subarray(this.offset);
    // Packets that were read are views of the earlier bytes, so these are not reused.
    this.bytes = (left.length === 0 ? value : joinBytes([left, value])) as Uint8Array<ArrayBuffer>;
    this.offset = 0;
    return true;
  }
}
