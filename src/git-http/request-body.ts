import type { Context } from "hono";

import { joinBytes } from "../git/wire/pkt-line.ts";
import { Failure, malformed, tooLarge } from "../lib/failure.ts";
import { readPieces } from "../lib/read-pieces.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import type { GitHttpEnv } from "./env.ts";

const PIECE_BYTES = 256 * 1024;

/** Maximum bytes of a request that is buffered in full: enough for 300,000 haves. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Streams the body of a request, decompressed if the client sent it with gzip.
 *
 * Limits must apply to the decompressed bytes: a small body may inflate to any size.
 *
 * @throws Failure `malformed` for a body that is not gzip as declared; CallerLeft if the client
 *   hangs up.
 */
export async function* readRequestBody(c: Context<GitHttpEnv>): AsyncGenerator<Uint8Array> {
  try {
    yield* openBody(c);
  } catch (error) {
    throw error instanceof Failure ? error : new CallerLeft();
  }
}

function openBody(c: Context<GitHttpEnv>): AsyncGenerator<Uint8Array> {
  const body = c.req.raw.body ?? new Blob([]).stream();
  const encoding = (c.req.header("content-encoding") ?? "identity").toLowerCase();
  if (encoding === "identity") return readPieces(body, PIECE_BYTES);
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw malformed(`a body of encoding ${JSON.stringify(encoding)} can't be read`);
  }
  return inflated(body);
}

async function* inflated(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body
    .pipeThrough(new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>)
    .getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw error instanceof TypeError ? malformed("the body is not gzip") : error;
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {
      // The stream failed already, and the reader received that error.
    });
  }
}

/**
 * Reads the whole body into memory.
 *
 * @throws Failure `too_large` if it exceeds `bytesMax` decompressed bytes.
 */
export async function readWholeBody(
  c: Context<GitHttpEnv>,
  bytesMax = WHOLE_BYTES_MAX,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of readRequestBody(c)) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge("the request is too large");
    pieces.push(piece);
  }
  return joinBytes(pieces);
}
