import type { ByteText } from "../byte-text.ts";

/** A cursor over the lines of a patch. */
export class PatchLines {
  private readonly text: ByteText;
  private at = 0;
  /** Number of the next line, counted from 1. */
  number = 1;

  constructor(text: ByteText) {
    this.text = text;
  }

  /** The next line, with its line feed if it has one; "" at the end. */
  peek(): string {
    return this.text.slice(this.at, this.endOf(this.at));
  }

  /** The line `count` lines after the next line. */
  peekBehind(count: number): string {
    let start = this.at;
    for (let line = 0; line < count; line++) start = this.endOf(start);
    return this.text.slice(start, this.endOf(start));
  }

  next(): string {
    const line = this.peek();
    this.at += line.length;
    this.number++;
    return line;
  }

  private endOf(start: number): number {
    return this.text.indexOf("\n", start) + 1 || this.text.length;
  }
}
