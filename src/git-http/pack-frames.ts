import { BAND_DATA, formatFrames, writeFrameHeaders } from "../git/wire/side-band.ts";

/**
 * Makes side-band frames of a pack that is laid out with `FRAME_SPACING`, without copying it.
 * Returns the pack generator's return value.
 */
export async function* frameSpaced<T>(
  pack: AsyncGenerator<Uint8Array, T>,
): AsyncGenerator<Uint8Array, T> {
  return yield* mapPieces(pack, (bytes) => {
    writeFrameHeaders(BAND_DATA, bytes);
    return bytes;
  });
}

/** Wraps a pack in side-band frames. Returns the pack generator's return value. */
export async function* inFrames<T>(
  pack: AsyncGenerator<Uint8Array, T>,
  payloadMax: number,
): AsyncGenerator<Uint8Array, T> {
  return yield* mapPieces(pack, (bytes) => formatFrames(BAND_DATA, bytes, payloadMax));
}

async function* mapPieces<T>(
  pack: AsyncGenerator<Uint8Array, T>,
  toFrames: (bytes: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array, T> {
  try {
    for (;;) {
      const { value, done } = await pack.next();
      if (done) return value;
      if (value.length > 0) yield toFrames(value);
    }
  } finally {
    // Stops reading the pack when the client has disconnected.
    await pack.return(undefined as T);
  }
}
