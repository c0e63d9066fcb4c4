import { BAND_DATA, formatFrames, writeFrameHeaders } from "../git/wire/side-band.ts";

/** Makes side-band frames of a pack that has been read with `FRAME_SPACING`, without copying it. */
export async function* frameSpaced(pack: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of pack) {
    writeFrameHeaders(BAND_DATA, bytes);
    yield bytes;
  }
}

/** Wraps a pack in side-band frames. Returns the pack generator's return value. */
export async function* inFrames<T>(
  pack: AsyncGenerator<Uint8Array, T>,
  payloadMax: number,
): AsyncGenerator<Uint8Array, T> {
  try {
    for (;;) {
      const { value, done } = await pack.next();
      if (done) return value;
      if (value.length > 0) yield formatFrames(BAND_DATA, value, payloadMax);
    }
  } finally {
    // Stops reading the pack when the client has disconnected.
    await pack.return(undefined as T);
  }
}
