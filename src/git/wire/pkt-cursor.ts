import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { type Pkt, pktText, readPkt } from "./pkt-line.ts";

/**
 * Thrown inside a parser when the bytes end too early; `parseMessage` turns it into `undefined`.
 */
const needMore = Symbol("need more");

/**
 * Steps through the pkt-lines of a message.
 *
 * A parser is a function over a cursor, run by `parseMessage`. It reads as if the message were
 * complete; when more bytes arrive, the caller runs it again from the start.
 */
export class PktCursor {
  private readonly bytes: Uint8Array;
  /** Start of the next packet, in bytes. */
  offset: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.bytes = bytes;
    this.offset = offset;
  }

  get isAtEnd(): boolean {
    return this.offset >= this.bytes.length;
  }

  /** The next packet. */
  next(): Pkt {
    const read = readPkt(this.bytes, this.offset);
    if (!read) throw needMore;
    this.offset = read.next;
    return read.pkt;
  }

  /** The next line, or undefined after consuming the marker `end`. */
  lineOr(end: "flush" | "delimiter"): ByteText | undefined {
    const pkt = this.next();
    if (pkt.kind === "data") return pktText(pkt.payload);
    if (pkt.kind !== end) throw new GitError("protocol", `${pkt.kind} packet instead of ${end}`);
    return undefined;
  }
}

/**
 * Runs a parser over the bytes received so far.
 *
 * @returns The parsed value and the offset after it; undefined while the message is incomplete.
 * @throws GitError as the parser does.
 */
export function parseMessage<T>(
  bytes: Uint8Array,
  offset: number,
  parse: (cursor: PktCursor) => T,
): { value: T; next: number } | undefined {
  const cursor = new PktCursor(bytes, offset);
  try {
    return { value: parse(cursor), next: cursor.offset };
  } catch (error) {
    if (error === needMore) return undefined;
    throw error;
  }
}
