/**
 * Reads a body as far as `bytesMax`, and leaves the rest where it is.
 *
 * @returns The bytes, and whether there were more. What was compressed counts as it is inflated.
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
