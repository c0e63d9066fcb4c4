import { createHash, randomBytes } from "node:crypto";

import type { PatientReader } from "../../../src/lib/read-pieces.ts";

/** Bytes that are hashed and passed on at once. */
const PIECE_BYTES = 256 * 1024;
/** The first piece: most files are small. */
const FIRST_BYTES = 16 * 1024;

/**
 * Hashes a stream on its way to its file. It stands in for a class of the simulator, which handles
 * pieces of 4 KB, each with several calls between JavaScript and the runtime.
 */
export class PieceDigests {
  /**
   * The hashes by algorithm, once the stream that `passOn` returned has ended; fails if the stream
   * does.
   */
  digests: Promise<Map<string, Buffer>> | undefined;
  readonly #algorithms: readonly string[];

  /** @param algorithms Names of the platform's, such as `SHA-256`. */
  constructor(algorithms: readonly string[]) {
    this.#algorithms = algorithms;
  }

  /** Returns the same bytes, to be read at once. */
  passOn(bytes: ReadableStream): AbandonableStream {
    const { readable, writable } = new IdentityTransformStream();
    const { promise: abandoned, reject: abandon } = Promise.withResolvers<never>();
    this.digests = digest(bytes, writable, this.#algorithms, abandoned);
    // Awaited when the file is written, which fails if this does.
    this.digests.catch(() => {});
    return Object.assign(readable, { abandon });
  }
}

/**
 * The same of a part of a file, whose hash nobody reads: the simulator makes the tag of the whole
 * file of it, for which a random number does.
 */
export class UnhashedPart extends PieceDigests {
  constructor() {
    super([]);
  }

  override passOn(bytes: ReadableStream): AbandonableStream {
    const passed = super.passOn(bytes);
    this.digests = this.digests?.then(() => new Map([["MD5", randomBytes(16)]]));
    this.digests?.catch(() => {});
    return passed;
  }
}

/**
 * A stream whose reader reports that it failed. The runtime does not cancel what it writes to a
 * file when the disk is full: the sender would wait without end.
 */
export type AbandonableStream = ReadableStream & { abandon?: (reason: unknown) => void };

/** Reads the rest: the sender, which a cancelled stream leaves waiting, then reads the answer. */
async function drain(reader: PatientReader): Promise<void> {
  for (let isDone = false; !isDone;) {
    ({ done: isDone } = await reader.readAtLeast(FIRST_BYTES, new Uint8Array(FIRST_BYTES)));
  }
}

async function digest(
  from: ReadableStream,
  to: WritableStream,
  algorithms: readonly string[],
  abandoned: Promise<never>,
): Promise<Map<string, Buffer>> {
  const hashes = algorithms.map((name) => createHash(name.replace("-", "")));
  const reader = from.getReader({ mode: "byob" }) as unknown as PatientReader;
  const writer = to.getWriter();
  try {
    let buffer = new ArrayBuffer(FIRST_BYTES);
    for (;;) {
      const { value, done } = await reader.readAtLeast(buffer.byteLength, new Uint8Array(buffer));
      if (value && value.length > 0) {
        for (const hash of hashes) hash.update(value);
        await Promise.race([writer.write(value), abandoned]);
      }
      if (done || !value) break;
      // It is written, so that its memory is free for the next one.
      buffer = value.buffer.byteLength < PIECE_BYTES ? new ArrayBuffer(PIECE_BYTES) : value.buffer;
    }
    await Promise.race([writer.close(), abandoned]);
  } catch (error) {
    void writer.abort(error).catch(() => {});
    await drain(reader).catch(() => {});
    throw error;
  }
  return new Map(hashes.map((hash, at) => [algorithms[at] as string, hash.digest()]));
}
