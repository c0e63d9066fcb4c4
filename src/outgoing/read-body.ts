/**
 * Reads at most `bytesMax` bytes of a body, and cancels the rest.
 *
 * @returns The bytes, and whether the body was longer. A compressed body is measured after
 *   decompression.
 */
export async function readBody(
  { body }: Response,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  if (!body) return { bytes: new Uint8Array(), isCut: false };
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let byteCount = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return { bytes: joined(pieces, byteCount), isCut: false };
    pieces.push(value.subarray(0, bytesMax - byteCount));
    byteCount += value.length;
    if (byteCount > bytesMax) {
      await reader.cancel();
      return { bytes: joined(pieces, bytesMax), isCut: true };
    }
  }
}

function joined(pieces: readonly Uint8Array[], byteCount: number): Uint8Array {
  const bytes = new Uint8Array(byteCount);
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}
