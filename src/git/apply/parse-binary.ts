import { parseBase85 } from "../base85.ts";
import type { ByteText } from "../byte-text.ts";
import { corrupt } from "../error.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import type { BinaryHunk } from "./file-patch.ts";
import type { PatchLines } from "./patch-lines.ts";

/**
 * Reads the data after `GIT binary patch`: the data to produce the new content and, if present, the
 * data to restore the old content, which is skipped.
 *
 * @throws GitError `corrupt` for malformed data.
 */
export function parseBinary(lines: PatchLines): BinaryHunk {
  const { number } = lines;
  const forward = parseHunk(lines);
  if (!forward) throw corrupt(`unrecognized binary patch at line ${number}`);
  parseHunk(lines);
  return forward;
}

function parseHunk(lines: PatchLines): BinaryHunk | undefined {
  const head = /^(literal|delta) (\d{1,10})\n$/.exec(lines.peek());
  if (!head) return undefined;
  lines.next();
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { number } = lines;
    const line = lines.next();
    if (line === "\n") break;
    const length = readLength(line.charCodeAt(0));
    // Five digits encode four bytes; the last five encode one to four.
    const room = ((line.length - 2) / 5) * 4;
    const isGood =
      line.endsWith("\n") &&
      line.length >= 7 &&
      (line.length - 2) % 5 === 0 &&
      length <= room &&
      length > room - 4;
    const piece = isGood ? parseBase85(line.slice(1, -1) as ByteText, length) : undefined;
    if (!piece) throw corrupt(`corrupt binary patch at line ${number}`);
    pieces.push(piece);
  }
  const kind = head[1] as BinaryHunk["kind"];
  return { kind, sizeBytes: Number(head[2]), deflated: joinBytes(pieces) };
}

/**
 * Decodes the length character: `A` to `Z` for 1 to 26 bytes, `a` to `z` for 27 to 52; 0 for any
 * other.
 */
function readLength(char: number): number {
  if (char >= 0x41 && char <= 0x5a) return char - 0x40;
  return char >= 0x61 && char <= 0x7a ? char - 0x60 + 26 : 0;
}
