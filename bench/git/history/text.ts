import type { Random } from "./random.ts";

const SYLLABLES =
  "an be con de er fi gra ho in ka lo mi nor op pre ra sta ter un ver wa xi yo zer".split(" ");
const WORDS = 4000;
const LINES = 30_000;

/** Generates the content of files and messages: words, and lines that look like code. */
export class Vocabulary {
  readonly words: readonly string[];
  private readonly bytes: Buffer;
  /** Start offset of each line, and the end offset. */
  private readonly starts: number[] = [0];

  constructor(random: Random) {
    this.words = Array.from({ length: WORDS }, () =>
      Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join(""),
    );
    const lines: Buffer[] = [];
    let length = 0;
    for (let line = 0; line < LINES; line += 1) {
      const bytes = Buffer.from(`${this.line(random)}\n`);
      lines.push(bytes);
      length += bytes.length;
      this.starts.push(length);
    }
    this.bytes = Buffer.concat(lines);
  }

  get lineCount(): number {
    return LINES;
  }

  /** A sentence without its full stop. */
  sentence(random: Random, words: number): string {
    return Array.from({ length: words }, () => random.pick(this.words)).join(" ");
  }

  /** The text of a list of line numbers. */
  text(lines: readonly number[]): Buffer {
    let length = 0;
    for (const line of lines) length += this.end(line) - this.start(line);
    const text = Buffer.allocUnsafe(length);
    let at = 0;
    for (const line of lines) at += this.bytes.copy(text, at, this.start(line), this.end(line));
    return text;
  }

  private start(line: number): number {
    return this.starts[line] ?? 0;
  }

  private end(line: number): number {
    return this.starts[line + 1] ?? 0;
  }

  private line(random: Random): string {
    const indent = "  ".repeat(random.below(4));
    const [a, b, c] = [0, 1, 2].map(() => random.pick(this.words));
    switch (random.below(6)) {
      case 0:
        return `${indent}const ${a} = ${b}(${c}, ${random.below(1000)});`;
      case 1:
        return `${indent}if (${a}.${b} !== ${c}) return ${random.pick(this.words)};`;
      case 2:
        return `${indent}// ${this.sentence(random, 4 + random.below(8))}.`;
      case 3:
        return `${indent}${a}.${b}("${c}-${random.below(100_000)}");`;
      case 4:
        return `${indent}}`;
      default:
        return `${indent}for (const ${a} of ${b}) ${c}.push(${a});`;
    }
  }
}
