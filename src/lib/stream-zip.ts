import type { ZipWriter } from "@zip.js/zip.js/lib/zip-core-writer.js";

import { streamOf } from "./stream-of.ts";

const encoder = new TextEncoder();

/** A zip file that is being written. */
export type Zip = ZipWriter<unknown>;

/**
 * A zip file that is made while it is sent.
 *
 * @param write Adds the files. Its failure is the stream's.
 */
export async function* streamZip(write: (zip: Zip) => Promise<void>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // Loaded on first use: few requests export.
  const { ZipWriter: Writer } = await import("@zip.js/zip.js/lib/zip-core-writer.js");
  const zip = new Writer(writable, {
    useWebWorkers: false,
    useCompressionStream: true,
    dataDescriptor: true,
  });
  const work = finish(zip, write).catch(async (error: unknown) => {
    await writable.abort(error).catch(() => undefined);
    throw error;
  });
  // Its failure is the stream's.
  work.catch(() => undefined);
  try {
    for await (const piece of readable) yield piece;
    await work;
  } finally {
    // The caller left: cancelling the stream ends the writer.
    await readable.cancel().catch(() => undefined);
  }
}

async function finish(zip: Zip, write: (zip: Zip) => Promise<void>): Promise<void> {
  await write(zip);
  await zip.close();
}

/** Characters of JSON in a file, unless one item has more: readers hold one file in memory. */
const FILE_LENGTH_MAX = 2 * 1024 * 1024;

/** The JSON of a page, in one file or, where texts are long, in several. */
export function* inFiles(items: readonly object[]): Generator<string> {
  let part: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    if (part.length > 0 && length + text.length > FILE_LENGTH_MAX) {
      yield `[${part.join(",")}]`;
      part = [];
      length = 0;
    }
    part.push(text);
    length += text.length;
  }
  if (part.length > 0) yield `[${part.join(",")}]`;
}

/** Adds a file with a text. */
export async function addText(zip: Zip, path: string, text: string): Promise<void> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield encoder.encode(text);
  }
  await zip.add(path, streamOf(pieces(), ignore));
}

/**
 * Adds a file with its bytes, stored as they are: packs, images and archives are compressed
 * already.
 */
export async function addBytes(
  zip: Zip,
  path: string,
  pieces: AsyncGenerator<Uint8Array>,
): Promise<void> {
  await zip.add(path, streamOf(pieces, ignore), { level: 0, zip64: true });
}

const ignore = (): void => undefined;
