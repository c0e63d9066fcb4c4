import type { ByteText } from "../byte-text.ts";

/** The lines of a patch, one after another. */
export class PatchLines {
  private readonly text: ByteText;
  private at = 0;
  /** Of the line that comes next, from 1. */
  number = 1;

  constructor(text: ByteText) {
    this.text = text;
  }

  /** The line that comes next, with its line feed if it has one; "" at the end. */
  peek(): string {
    return this.text.slice(this.at, this.endOf(this.at));
  }

  /** The line `count` lines behind that one. */
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
