import { malformed, tooLarge } from "../../lib/failure.ts";
import { parseBase64 } from "../../lib/base64.ts";
import { parseJson } from "../../lib/json.ts";
import { pause } from "../../lib/time-slice.ts";

/** Maximum bytes of a document besides its tarball. */
export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;
/** Maximum depth of a document: SQLite reads no JSON deeper than 1,000. */
const DEPTH_MAX = 200;

/** Bytes that are scanned at once. */
const SCANNED_BYTES = 16 * 1024;
/** Steps to scan a byte, and to decode a key. */
const BYTE_STEPS = 4;
const KEY_STEPS = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const [COLON, COMMA] = [0x3a, 0x2c];

/**
 * Reads a document that `npm publish` sends: JSON whose `_attachments` hold the tarball in base64.
 * The tarball is decoded and handed on while it arrives, and the rest is held in memory.
 *
 * @param onTarball Receives the content of each attachment that is a `.tgz`, with its name; reads
 *   it to its end.
 * @returns The document, in which the data of these attachments is "".
 * @throws Failure `malformed` for anything but JSON, and for an attachment that is not base64;
 * `too_large` beyond `DOCUMENT_BYTES_MAX` besides the tarball.
 */
export async function readDocument(
  body: AsyncIterable<Uint8Array>,
  onTarball: (name: string, content: AsyncGenerator<Uint8Array>) => Promise<void>,
): Promise<unknown> {
  const scanner = new DocumentScanner(body[Symbol.asyncIterator]());
  while (await scanner.pull()) {
    while (!scanner.isAtEnd) {
      const name = scanner.scan();
      await pause(scanner.takeSteps());
      if (name !== undefined) await onTarball(name, scanner.readContent());
    }
  }
  return scanner.parse();
}

/** Finds the data of tarballs in JSON. What it finds is JSON only if `parse` accepts the rest. */
class DocumentScanner {
  private readonly pieces: AsyncIterator<Uint8Array>;
  private piece: Uint8Array = new Uint8Array();
  private at = 0;
  /** All but the data of tarballs. */
  private readonly kept: Uint8Array[] = [];
  private keptBytes = 0;
  private steps = 0;

  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** Whether the next string of an object is a key. */
  private isKeyNext = false;
  /** For each depth whether it is an object. */
  private readonly isObject: boolean[] = [];
  /** The keys that lead to the present value, as far as an attachment's data is deep. */
  private readonly path: string[] = [];
  /** The bytes of the key that is being read, where it counts. */
  private key: number[] | undefined;

  constructor(pieces: AsyncIterator<Uint8Array>) {
    this.pieces = pieces;
  }

  /** Whether the piece is read. */
  get isAtEnd(): boolean {
    return this.at === this.piece.length;
  }

  /** The steps since the last call. */
  takeSteps(): number {
    const { steps } = this;
    this.steps = 0;
    return steps;
  }

  /** Takes the next piece of the body. @returns False at its end. */
  async pull(): Promise<boolean> {
    const { value, done } = await this.pieces.next();
    if (done) return false;
    this.piece = value;
    this.at = 0;
    return true;
  }

  /**
   * Scans a part of the piece.
   *
   * @returns The name of an attachment if its data begins here; undefined at the end of the part.
   */
  scan(): string | undefined {
    const start = this.at;
    const end = Math.min(this.piece.length, start + SCANNED_BYTES);
    while (this.at < end) {
      const byte = this.piece[this.at++] as number;
      if (this.isInString) {
        this.scanInString(byte);
      } else if (byte === QUOTE) {
        const name = this.nameOfTarball();
        if (name !== undefined) {
          this.keep(start);
          return name;
        }
        this.isInString = true;
        this.key = this.isKeyNext && this.leadsToTarball ? [] : undefined;
      } else {
        this.scanStructure(byte);
      }
    }
    this.keep(start);
    return undefined;
  }

  /** The decoded data of an attachment, of which the opening quote was read. */
  async *readContent(): AsyncGenerator<Uint8Array> {
    let held = "";
    let isPadded = false;
    for (;;) {
      const end = this.piece.indexOf(QUOTE, this.at);
      const stop = end < 0 ? this.piece.length : end;
      // Some encoders escape slashes.
      const text = held + new TextDecoder().decode(this.piece.subarray(this.at, stop));
      const digits = text.replaceAll("\\/", "/");
      const complete = digits.endsWith("\\") ? digits.length - 1 : digits.length;
      const length = end < 0 ? complete - (complete % 4) : digits.length;
      const whole = digits.slice(0, length);
      held = digits.slice(length);
      const bytes = isPadded && whole !== "" ? undefined : parseBase64(whole);
      if (!bytes) throw malformed("the data of the attachment is not base64");
      isPadded ||= whole.endsWith("=");
      if (bytes.length > 0) yield bytes;
      this.at = stop;
      if (end >= 0) break;
      if (!(await this.pull())) throw malformed("the body is not JSON");
    }
    // The closing quote stays, to close the quote that `scan` kept.
    this.keep(this.at, ++this.at);
  }

  /** @throws Failure `malformed` */
  async parse(): Promise<unknown> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    try {
      const text = this.kept.map((piece) => decoder.decode(piece, { stream: true })).join("");
      return await parseJson(text + decoder.decode());
    } catch {
      throw malformed("the body is not JSON");
    }
  }

  private scanInString(byte: number): void {
    if (this.isEscaped) {
      this.isEscaped = false;
    } else if (byte === BACKSLASH) {
      this.isEscaped = true;
    } else if (byte === QUOTE) {
      this.isInString = false;
      if (this.key) {
        this.path[this.depth - 1] = decodeKey(this.key);
        this.steps += KEY_STEPS;
      }
      this.key = undefined;
      return;
    }
    this.key?.push(byte);
  }

  private scanStructure(byte: number): void {
    switch (byte) {
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.isObject[this.depth++] = byte === OPEN_OBJECT;
        if (this.depth > DEPTH_MAX) throw malformed("the body is nested too deeply");
        this.isKeyNext = byte === OPEN_OBJECT;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.depth = Math.max(0, this.depth - 1);
        this.isKeyNext = false;
        this.path.length = Math.min(this.path.length, this.depth);
        break;
      case COLON:
        this.isKeyNext = false;
        break;
      case COMMA:
        this.isKeyNext = this.isObject[this.depth - 1] ?? false;
        break;
      default:
        break;
    }
  }

  /** Whether a key of the present object may be on the way to the data of a tarball. */
  private get leadsToTarball(): boolean {
    return this.depth === 1 || (this.depth <= 3 && this.path[0] === "_attachments");
  }

  private nameOfTarball(): string | undefined {
    const [attachments, name = "", data] = this.path;
    const isData =
      this.depth === 3 && !this.isKeyNext && attachments === "_attachments" && data === "data";
    return isData && this.isObject[2] && name.endsWith(".tgz") ? name : undefined;
  }

  private keep(start: number, end = this.at): void {
    this.steps += BYTE_STEPS * (end - start);
    // A copy: the data of a tarball would stay in memory with the piece.
    const bytes = this.piece.slice(start, end);
    this.keptBytes += bytes.length;
    if (this.keptBytes > DOCUMENT_BYTES_MAX) {
      throw tooLarge(`the document has more than ${DOCUMENT_BYTES_MAX} bytes besides its tarball`);
    }
    this.kept.push(bytes);
  }
}

/** The text of a key; "" if it is none, which `parse` finds again. */
function decodeKey(bytes: readonly number[]): string {
  try {
    return JSON.parse(`"${new TextDecoder().decode(Uint8Array.from(bytes))}"`) as string;
  } catch {
    return "";
  }
}
