import { malformed, tooLarge } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { readPieces } from "../../lib/read-pieces.ts";
import { CallerLeft } from "../../lib/step-budget.ts";

const PIECE_BYTES = 64 * 1024;

/**
 * Reads a body into memory.
 *
 * @throws Failure `too_large` beyond `bytesMax`; CallerLeft if the client hangs up.
 */
export async function readSmallBody(
  { body }: Request,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!body) return new Uint8Array(0);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const stream = readPieces(body, PIECE_BYTES);
  for (;;) {
    const { value, done } = await stream.next().catch(() => {
      throw new CallerLeft();
    });
    if (done) return new Blob(pieces).bytes();
    length += value.length;
    if (length > bytesMax) {
      await stream.return(undefined);
      throw tooLarge(`the body has more than ${bytesMax} bytes`);
    }
    pieces.push(value as Uint8Array<ArrayBuffer>);
  }
}

const JSON_BYTES_MAX = 64 * 1024;

/**
 * Reads a body that is JSON.
 *
 * @throws Failure `malformed` for anything else, and as `readSmallBody`.
 */
export async function readSmallJson(request: Request): Promise<unknown> {
  const text = new TextDecoder().decode(await readSmallBody(request, JSON_BYTES_MAX));
  try {
    return await parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed("the body is no JSON");
    throw error;
  }
}
