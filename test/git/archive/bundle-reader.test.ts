import { describe, expect, it } from "vitest";

import { type BundleRef, formatBundleHeader } from "../../../src/git/archive/bundle.ts";
import { readBundle } from "../../../src/git/archive/bundle-reader.ts";
import { encodeText } from "../../../src/git/byte-text.ts";

const HEADER_MAX = 10_000;
const A = "a".repeat(40);
const B = "b".repeat(40);
const refs: BundleRef[] = [
  { name: encodeText("HEAD"), oid: A },
  { name: encodeText("refs/heads/grün"), oid: A },
  { name: encodeText("refs/tags/v 1"), oid: B },
];

function concat(...all: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of all) {
    joined.set(each, at);
    at += each.length;
  }
  return joined;
}
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes in pieces, which record whether they were closed. */
function piecesOf(bytes: Uint8Array, pieceBytes: number) {
  const seen = { isClosed: false };
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.subarray(at, at + pieceBytes);
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, pieces: pieces() };
}

async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return concat(...all);
}

describe("readBundle", () => {
  it.each([1, 7, 50, 100_000])(
    "reads what is written, in pieces of %i bytes",
    async (pieceBytes) => {
      const pack = bytesOf("PACK\n\nwith line feeds\n");
      const { pieces, seen } = piecesOf(concat(formatBundleHeader(refs), pack), pieceBytes);
      const bundle = await readBundle(pieces, HEADER_MAX);
      expect(bundle.refs).toEqual(refs);
      expect(await readAll(bundle.pack)).toEqual(pack);
      expect(seen.isClosed).toBe(true);
    },
  );

  it.each([
    ["nothing", "", "corrupt"],
    ["another file", "PACK\n\n", "corrupt"],
    ["another version", `# v3 git bundle\n@object-format=sha1\n${A} HEAD\n\n`, "unsupported"],
    ["prerequisites", `# v2 git bundle\n-${A} before\n${B} HEAD\n\n`, "unsupported"],
    ["a header that does not end", `# v2 git bundle\n${A} HEAD\n`, "corrupt"],
    ["a line without a name", `# v2 git bundle\n${A}\n\n`, "corrupt"],
    ["a line with an empty name", `# v2 git bundle\n${A} \n\n`, "corrupt"],
    ["an id that is none", `# v2 git bundle\n${"x".repeat(40)} HEAD\n\n`, "corrupt"],
    ["no line feed for long", `# v2 git bundle\n${"a".repeat(20_000)}`, "limit"],
    ["very many refs", `# v2 git bundle\n${`${A} refs/heads/a\n`.repeat(1000)}\n`, "limit"],
  ])("refuses %s, and closes it", async (_, text, code) => {
    const { pieces, seen } = piecesOf(bytesOf(text), 100);
    await expect(readBundle(pieces, HEADER_MAX)).rejects.toMatchObject({ name: "GitError", code });
    expect(seen.isClosed).toBe(true);
  });

  it("closes what it reads when the pack is left", async () => {
    const bytes = concat(formatBundleHeader(refs), bytesOf("PACK and more"));
    const { pieces, seen } = piecesOf(bytes, 10);
    const { pack } = await readBundle(pieces, HEADER_MAX);
    await pack.next();
    await pack.return();
    expect(seen.isClosed).toBe(true);
  });
});
