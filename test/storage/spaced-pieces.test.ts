import { describe, expect, it } from "vitest";

import {
  BAND_DATA,
  formatFrames,
  FRAME_PAYLOAD_MAX,
  FRAME_SPACING,
  writeFrameHeaders,
} from "../../src/git/wire/side-band.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { readSpacedPieces } from "../../src/lib/read-pieces.ts";

const makeBytes = (length: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length }, (_, at) => at * 7 + (at >> 8));

/** A byte stream of the platform, which arrives in pieces of other sizes. */
function streamBytes(bytes: Uint8Array, announced: number): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const write = async (): Promise<void> => {
    const writer = writable.getWriter();
    for (let at = 0; at < bytes.length; at += 50_000)
      await writer.write(bytes.slice(at, at + 50_000));
    if (announced === bytes.length) await writer.close();
    else await writer.abort(new Error("broken off"));
  };
  write().catch(() => {});
  return readable;
}

async function frame(bytes: Uint8Array, sizeBytes: number): Promise<Uint8Array[]> {
  const buffers: Uint8Array[] = [];
  for await (const buffer of readSpacedPieces(
    streamBytes(bytes, sizeBytes),
    sizeBytes,
    FRAME_SPACING,
  )) {
    writeFrameHeaders(BAND_DATA, buffer);
    buffers.push(buffer);
  }
  return buffers;
}

describe("a stream that is framed where it is read", () => {
  const BUFFER_BYTES = FRAME_SPACING.count * FRAME_PAYLOAD_MAX;

  it.each([
    1,
    FRAME_PAYLOAD_MAX - 1,
    FRAME_PAYLOAD_MAX,
    FRAME_PAYLOAD_MAX + 1,
    BUFFER_BYTES,
    BUFFER_BYTES + 1,
    3 * BUFFER_BYTES - 1,
  ])("has the same frames as a copy, with %i bytes", async (length) => {
    const bytes = makeBytes(length);
    const buffers = await frame(bytes, length);
    expect(buffers).toHaveLength(Math.ceil(length / BUFFER_BYTES));
    const expected = formatFrames(BAND_DATA, bytes);
    expect(Buffer.compare(joinBytes(buffers), expected)).toBe(0);
  });

  it("is nothing without bytes", async () => {
    expect(await frame(new Uint8Array(0), 0)).toEqual([]);
  });

  it("fails where the stream ends early, or breaks off", async () => {
    const bytes = makeBytes(BUFFER_BYTES + 10);
    const ended = readSpacedPieces(
      streamBytes(bytes, bytes.length),
      bytes.length + 1,
      FRAME_SPACING,
    );
    await ended.next();
    await expect(ended.next()).rejects.toThrow("a stream is cut off");
    const broken = readSpacedPieces(
      streamBytes(bytes, bytes.length + 1),
      bytes.length + 1,
      FRAME_SPACING,
    );
    await broken.next();
    await expect(broken.next()).rejects.toThrow("broken off");
  });
});
