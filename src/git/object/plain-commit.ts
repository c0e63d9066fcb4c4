import { OID_BYTES } from "../oid.ts";

const NEW_LINE = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const LESS = 0x3c;
const GREATER = 0x3e;

/** Digits of an id in hex. */
const HEX_DIGITS = 2 * OID_BYTES;
/** Longest time of a plain commit, in digits: longer ones may be no exact numbers. */
const TIME_DIGITS_MAX = 15;

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));
const TREE = bytesOf("tree ");
const PARENT = bytesOf("parent ");
const AUTHOR = bytesOf("author ");
const COMMITTER = bytesOf("committer ");

/**
 * Reads the links of plain commits, as nearly all are, without making strings.
 *
 * A commit is plain only if `checkCommit` finds nothing in it; then its links and time are those of
 * `parseCommit`. Others are left to these two: what is not plain may be valid.
 */
export class PlainCommit {
  /** Offset of the tree's id, as 40 hex digits. */
  treeOffset = 0;
  /** Offsets of the parents' ids. The list is filled anew for each commit. */
  readonly parentOffsets: number[] = [];
  /** Committer time, in seconds since 1970. */
  timeSeconds = 0;

  private content = new Uint8Array(0);
  private at = 0;

  /** Reads a commit. @returns False if it is not plain; the fields have no meaning then. */
  read(content: Uint8Array): boolean {
    this.content = content as Uint8Array<ArrayBuffer>;
    this.at = 0;
    this.parentOffsets.length = 0;
    if (!this.skip(TREE)) return false;
    this.treeOffset = this.at;
    if (!this.skipOid()) return false;
    while (this.skip(PARENT)) {
      this.parentOffsets.push(this.at);
      if (!this.skipOid()) return false;
    }
    return (
      this.skip(AUTHOR) &&
      this.skipIdentity() &&
      this.skip(COMMITTER) &&
      this.skipIdentity() &&
      // The next line would continue this one.
      content[this.at] !== SPACE &&
      this.skipHeaders() &&
      !content.includes(0, this.at)
    );
  }

  private skip(word: Uint8Array): boolean {
    const { content, at } = this;
    for (let index = 0; index < word.length; index++) {
      if (content[at + index] !== word[index]) return false;
    }
    this.at = at + word.length;
    return true;
  }

  /** Skips a line that is an id. */
  private skipOid(): boolean {
    const { content } = this;
    const end = this.at + HEX_DIGITS;
    for (let at = this.at; at < end; at++) {
      if (!isHexDigit(content[at] as number)) return false;
    }
    this.at = end + 1;
    return content[end] === NEW_LINE;
  }

  /** Skips a line of a name, an address in brackets, a time and a zone, and reads the time. */
  private skipIdentity(): boolean {
    const { content, at: start } = this;
    let at = this.skipName(start);
    if (at === start || content[at] !== LESS || content[at - 1] !== SPACE) return false;
    at = this.skipName(at + 1);
    if (content[at] !== GREATER || content[at + 1] !== SPACE) return false;

    at += 2;
    const timeOffset = at;
    let time = 0;
    for (; isDigit(content[at] as number); at++) time = 10 * time + (content[at] as number) - ZERO;
    const digits = at - timeOffset;
    if (digits === 0 || digits > TIME_DIGITS_MAX) return false;
    if (content[timeOffset] === ZERO && digits > 1) return false;
    this.timeSeconds = time;

    const sign = content[at + 1];
    if (content[at] !== SPACE || (sign !== 0x2b && sign !== 0x2d)) return false;
    for (let digit = 2; digit < 6; digit++) {
      if (!isDigit(content[at + digit] as number)) return false;
    }
    this.at = at + 7;
    return content[at + 6] === NEW_LINE;
  }

  /** Offset of the next bracket of the line, or of what no name contains. */
  private skipName(from: number): number {
    const { content } = this;
    for (let at = from; ; at++) {
      const byte = content[at];
      if (byte === undefined || byte === LESS || byte === GREATER) return at;
      if (byte === NEW_LINE || byte === 0) return at;
    }
  }

  /** Skips the rest of the headers, which end with an empty line. */
  private skipHeaders(): boolean {
    const { content } = this;
    for (let at = this.at; at < content.length; at++) {
      if (content[at] === 0) return false;
      if (content[at] === NEW_LINE && content[at - 1] === NEW_LINE) {
        this.at = at + 1;
        return true;
      }
    }
    return false;
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

const isHexDigit = (byte: number): boolean => isDigit(byte) || (byte >= 0x61 && byte <= 0x66);
