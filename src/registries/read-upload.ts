import { malformed, tooLarge } from "../lib/failure.ts";
import { parseJson } from "../lib/json.ts";
import { readArrivedPieces, readPieces } from "../lib/read-pieces.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import type { RegistryContext } from "./env.ts";

/** Size of the pieces in which a body is read, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Streams the body of an upload that is the file itself. @throws CallerLeft if the client hangs up.
 */
export const readUpload = ({ req }: RegistryContext): AsyncGenerator<Uint8Array> =>
  Number(req.header("content-length") ?? Infinity) <= PIECE_BYTES
    ? readAtOnce(req.raw)
    : readBody(req.raw.body, readPieces);

/**
 * The same of an upload that a later request continues: if the client hangs up, everything that
 * came is read before.
 */
export const readUploadPart = ({ req }: RegistryContext): AsyncGenerator<Uint8Array> =>
  readBody(req.raw.body, readArrivedPieces);

/** A body of one piece, without a buffer for others. */
async function* readAtOnce(request: Request): AsyncGenerator<Uint8Array> {
  let bytes: ArrayBuffer;
  try {
    bytes = await request.arrayBuffer();
  } catch {
    throw new CallerLeft();
  }
  if (bytes.byteLength > 0) yield new Uint8Array(bytes);
}

async function* readBody(
  body: ReadableStream<Uint8Array> | null,
  read: typeof readPieces,
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  try {
    yield* read(body, PIECE_BYTES);
  } catch {
    throw new CallerLeft();
  }
}

/**
 * Reads a body into memory.
 *
 * @throws Failure `too_large` beyond `bytesMax`; CallerLeft if the client hangs up.
 */
export async function readBytes(c: RegistryContext, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of readUpload(c)) {
    length += piece.length;
    if (length > bytesMax) throw tooLarge(`the body has more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  const [first] = pieces;
  if (first?.length === length) return first;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * Reads a body of JSON. @throws Failure as `readBytes`; `malformed` for anything else than JSON.
 */
export async function readJson(c: RegistryContext, bytesMax: number): Promise<unknown> {
  const bytes = await readBytes(c, bytesMax);
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed("the body is not JSON");
  }
}
