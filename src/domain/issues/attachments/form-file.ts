import { malformed, tooLarge } from "../../../lib/failure.ts";
import { readPieces } from "../../../lib/read-pieces.ts";
import { CallerLeft } from "../../../lib/step-budget.ts";

/** Size of the pieces in which a body is read, in bytes. */
const PIECE_BYTES = 64 * 1024;
/** Maximum bytes of the headers of a part. */
const HEAD_BYTES_MAX = 16 * 1024;
/**
 * Maximum bytes of a body besides the file: other fields, and what stands before and after the
 * parts.
 */
export const MULTIPART_EXTRA_BYTES_MAX = 256 * 1024;

const CR = 0x0d;

/** The file of a form. */
export interface FormFile {
  /** As the client sent it: may contain a path, and anything else. */
  readonly name: string;
  /** The content, to be read to its end: only then it is known to be complete. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/**
 * Finds the file in a field of a form, and streams it: no part is held in memory as a whole.
 *
 * @param contentType The `Content-Type` of the request, which has the boundary.
 * @returns Undefined if the form has no such field, or no file in it.
 * @throws Failure `malformed` if the body is no form, or ends early, which may become known only at
 * the end of the file; `too_large` if it has too much else than the file.
 * @throws CallerLeft if the client hangs up.
 * @see RFC 7578, and RFC 2046, section 5.1.
 */
export async function openFormFile(
  contentType: string,
  body: ReadableStream<Uint8Array>,
  field: string,
): Promise<FormFile | undefined> {
  const boundary = parseBoundary(contentType);
  if (boundary === undefined) throw malformed("the body must be multipart/form-data");
  const reader = new PartReader(body, boundary);
  try {
    while (await reader.nextPart()) {
      const { name, filename } = parseDisposition(await reader.readHead());
      if (name === field && filename !== undefined) {
        return { name: filename, pieces: reader.readFile() };
      }
    }
  } catch (error) {
    await reader.close();
    throw error;
  }
  await reader.close();
  return undefined;
}

/** A part of a form. */
export interface FormPart {
  /** The field; "" for a part that names none. */
  readonly name: string;
  /** As the client sent it; undefined for a part that is no file. */
  readonly filename: string | undefined;
  /** The content, to be read before the next part. The part of it that is not read is skipped. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/**
 * Reads the parts of a form in their order, as a stream: no part is held in memory as a whole.
 *
 * @param extraBytesMax Maximum bytes besides files that are read.
 * @throws Failure and CallerLeft as `openFormFile`, on asking for a part or a piece.
 */
export async function* readFormParts(
  contentType: string,
  body: ReadableStream<Uint8Array>,
  extraBytesMax = MULTIPART_EXTRA_BYTES_MAX,
): AsyncGenerator<FormPart> {
  const boundary = parseBoundary(contentType);
  if (boundary === undefined) throw malformed("the body must be multipart/form-data");
  const reader = new PartReader(body, boundary, extraBytesMax);
  try {
    while (await reader.nextPart()) {
      const { name = "", filename } = parseDisposition(await reader.readHead());
      yield { name, filename, pieces: reader.readPart(filename === undefined) };
    }
    await reader.skipRest();
  } finally {
    await reader.close();
  }
}

/** Streams a body that is the file itself. */
export async function* readRawFile(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* readPieces(body, PIECE_BYTES);
  } catch {
    throw new CallerLeft();
  }
}

/** @returns Undefined for another type, and without a boundary that RFC 2046 allows. */
function parseBoundary(contentType: string): string | undefined {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return undefined;
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? "";
  return /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)
    ? boundary
    : undefined;
}

/** Reads the parts of a body one after the other. */
class PartReader {
  private readonly pieces: AsyncGenerator<Uint8Array>;
  private readonly delimiter: Uint8Array;
  /**
   * Bytes that were read and not consumed. The first boundary has no line break before it, so one
   * is put there.
   */
  private buffered: Uint8Array = new Uint8Array([CR, 0x0a]);
  private readonly extraBytesMax: number;
  private extraBytes = 0;
  /** Whether the content before the next boundary has been read, and the boundary with it. */
  private isPastContent = false;

  constructor(
    body: ReadableStream<Uint8Array>,
    boundary: string,
    extraBytesMax = MULTIPART_EXTRA_BYTES_MAX,
  ) {
    this.extraBytesMax = extraBytesMax;
    this.pieces = readPieces(body, PIECE_BYTES);
    this.delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  }

  /** Skips to the next part. @returns False at the end of the body. */
  async nextPart(): Promise<boolean> {
    if (!this.isPastContent) {
      for await (const { length } of this.readContent()) this.countExtra(length);
    }
    while (this.buffered.length < 2) await this.pull();
    return !(this.buffered[0] === 0x2d && this.buffered[1] === 0x2d);
  }

  /** Reads the headers of the part that begins here. */
  async readHead(): Promise<string> {
    // From the end of the boundary's line on, so that a part without headers has an empty line,
    // too.
    const end = new TextEncoder().encode("\r\n\r\n");
    for (;;) {
      const at = indexOf(this.buffered, end);
      if (at >= 0 ? at > HEAD_BYTES_MAX : this.buffered.length > HEAD_BYTES_MAX + PIECE_BYTES) {
        throw malformed("a part of the form has too long headers");
      }
      if (at >= 0) {
        const head = new TextDecoder().decode(this.buffered.subarray(0, at));
        this.buffered = this.buffered.subarray(at + end.length);
        this.isPastContent = false;
        this.countExtra(at);
        return head;
      }
      await this.pull();
    }
  }

  /** The content of the part that begins here. */
  async *readPart(isExtra: boolean): AsyncGenerator<Uint8Array> {
    for await (const piece of this.readContent()) {
      if (isExtra) this.countExtra(piece.length);
      yield piece;
    }
  }

  /** The content of the part that begins here; then reads the rest of the body. */
  async *readFile(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.readContent();
      await this.skipRest();
    } finally {
      await this.close();
    }
  }

  /** Reads the rest of the body, which clients send in any case. */
  async skipRest(): Promise<void> {
    for (;;) {
      this.countExtra(this.buffered.length);
      const piece = await this.nextPiece();
      if (!piece) return;
      this.buffered = piece;
    }
  }

  /** Stops reading the body. */
  async close(): Promise<void> {
    await this.pieces.return(undefined);
  }

  /** The bytes before the next boundary, which is consumed with them. */
  private async *readContent(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = indexOf(this.buffered, this.delimiter);
      if (at >= 0) {
        const content = this.buffered.subarray(0, at);
        this.buffered = this.buffered.subarray(at + this.delimiter.length);
        this.isPastContent = true;
        if (content.length > 0) yield content;
        return;
      }
      // The end of the buffer may be the start of a boundary.
      const sure = this.buffered.length - this.delimiter.length + 1;
      if (sure > 0) {
        const content = this.buffered.subarray(0, sure);
        this.buffered = this.buffered.subarray(sure);
        yield content;
      }
      await this.pull();
    }
  }

  private async pull(): Promise<void> {
    const piece = await this.nextPiece();
    if (!piece) throw malformed("the form ends before its last boundary");
    const joined = new Uint8Array(this.buffered.length + piece.length);
    joined.set(this.buffered);
    joined.set(piece, this.buffered.length);
    this.buffered = joined;
  }

  private async nextPiece(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.pieces.next();
      return done ? undefined : value;
    } catch {
      throw new CallerLeft();
    }
  }

  private countExtra(bytes: number): void {
    this.extraBytes += bytes;
    if (this.extraBytes > this.extraBytesMax) {
      throw tooLarge(`the form has more than ${this.extraBytesMax} bytes besides the file`);
    }
  }
}

/** The first position of `searched`, which begins with a CR; -1 if there is none. */
function indexOf(bytes: Uint8Array, searched: Uint8Array): number {
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    if (at + searched.length > bytes.length) return -1;
    if (searched.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}

const PARAMETER = /;\s*([\w*]+)=(?:"((?:[^"\\]|\\[^])*)"|([^\s;]*))/g;

/** The names in the `Content-Disposition` among the headers of a part. */
function parseDisposition(head: string): { name?: string; filename?: string } {
  const line = head
    .split("\r\n")
    .find((each) => /^content-disposition\s*:\s*form-data\s*;/i.test(each));
  const found: Record<string, string> = {};
  for (const [, key = "", quoted, plain = ""] of (line ?? "").matchAll(PARAMETER)) {
    // Browsers write quotes and line breaks as `%22`, `%0D` and `%0A`, others put a backslash
    // before quotes.
    const text = quoted?.replaceAll(/\\(["\\])/g, "$1").replaceAll("%22", '"') ?? plain;
    found[key.toLowerCase()] ??= text;
  }
  const filename = decodeExtended(found["filename*"]) ?? found["filename"];
  return {
    ...(found["name"] !== undefined && { name: found["name"] }),
    ...(filename !== undefined && { filename }),
  };
}

/** A value like `UTF-8''%E2%82%AC.txt`. @see RFC 8187. */
function decodeExtended(value: string | undefined): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value ?? "") ?? [];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    // The encoding is malformed: the plain name counts.
    return undefined;
  }
}
