/** The lines of two texts, where equal lines have the same number. */
export interface LinePair {
  readonly left: Lines;
  readonly right: Lines;
  /** The number of distinct lines. */
  readonly classes: number;
}

export interface Lines {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Byte offset of each line; one more element holds the end of the last line. */
  readonly starts: Uint32Array;
  /** Number of each line. Two lines with equal numbers have equal bytes, including the line feed. */
  readonly numbers: Int32Array;
}

/** Splits two texts into lines and numbers them. Cost: one pass, and a map of the distinct lines. */
export function splitLines(left: Uint8Array, right: Uint8Array): LinePair {
  const interner = new LineInterner();
  const leftLines = interner.split(left);
  const rightLines = interner.split(right);
  return { left: leftLines, right: rightLines, classes: interner.count };
}

/** The bytes of one line, with its line feed. */
export function lineBytes(lines: Lines, line: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[line], lines.starts[line + 1]);
}

/** Numbers lines across several texts, such as the three texts of a merge. */
export class LineInterner {
  count = 0;
  /** The lines with each hash, as indexes of `known`. */
  private readonly byHash = new Map<number, number[]>();
  private readonly known: Uint8Array[] = [];
  /**
   * SECURITY: a random seed, unknown to the author of the text. With a fixed seed, an attacker could craft
   * lines with equal hashes and make the lookup of each line a search through all other lines.
   */
  private readonly seed = Math.floor(Math.random() * 2 ** 32) | 0;

  split(bytes: Uint8Array): Lines {
    const starts: number[] = [];
    const numbers: number[] = [];
    for (let start = 0; start < bytes.length;) {
      const feed = bytes.indexOf(0x0a, start);
      const end = feed < 0 ? bytes.length : feed + 1;
      starts.push(start);
      numbers.push(this.number(bytes.subarray(start, end)));
      start = end;
    }
    starts.push(bytes.length);
    return {
      bytes,
      count: numbers.length,
      starts: Uint32Array.from(starts),
      numbers: Int32Array.from(numbers),
    };
  }

  private number(line: Uint8Array): number {
    let hash = this.seed;
    for (let at = 0; at < line.length; at++) {
      hash = Math.imul(hash ^ (line[at] as number), 0x5bd1e995);
      hash ^= hash >>> 13;
    }
    const candidates = this.byHash.get(hash);
    for (const number of candidates ?? []) {
      if (isEqual(this.known[number] as Uint8Array, line)) return number;
    }
    this.known.push(line);
    if (candidates) candidates.push(this.count);
    else this.byHash.set(hash, [this.count]);
    return this.count++;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) {
    if (a[at] !== b[at]) return false;
  }
  return true;
}
