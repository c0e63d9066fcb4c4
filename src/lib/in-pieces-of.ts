/** The same bytes in pieces of `pieceBytes`; the last one may be shorter. Copies them. */
export async function* inPiecesOf(
  pieceBytes: number,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(pieceBytes);
  let length = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + pieceBytes - length);
      piece.set(part, length);
      length += part.length;
      at += part.length;
      if (length < pieceBytes) continue;
      yield piece;
      piece = new Uint8Array(pieceBytes);
      length = 0;
    }
  }
  if (length > 0) yield piece.subarray(0, length);
}
