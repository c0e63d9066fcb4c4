import { expect, it } from "vitest";

import { make } from "../../support/make.ts";
import {
  BLOB_BYTES,
  BLOBS,
  pushLarge,
  readSlowly,
  settle,
  startReading,
} from "../../support/slow-reader.ts";

/**
 * Maximum number of bytes read from storage and not yet received by the client, whatever the
 * response's size.
 */
const BUFFERED_BYTES_MAX = 3 * 1024 * 1024;

/** Starts to read an archive with streamed files. */
async function startArchive(format: string) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await pushLarge(owner, repo, "main");
  const url = `https://forge.example/${repo.owner}/${repo.name}/archive/main.${format}`;
  return startReading(new Request(url));
}

// SECURITY: compression without backpressure would buffer the full archive in memory.
it.each(["tar.gz", "zip", "bundle"])(
  "buffers only a few chunks for a client that stops reading a %s",
  async (format) => {
    const started = await startArchive(format);
    const totalBytes = BLOBS * BLOB_BYTES;
    const { takenBytes, aheadMax } = await readSlowly(started, totalBytes);
    expect(takenBytes).toBeGreaterThan(totalBytes);
    expect(aheadMax).toBeLessThan(BUFFERED_BYTES_MAX);
  },
);

it.each(["tar.gz", "zip", "bundle"])(
  "stops reading from storage when a client disconnects from a %s",
  async (format) => {
    const { meter, reader } = await startArchive(format);
    await reader.read();
    await reader.cancel();
    await settle(meter);
    expect(meter.bytes).toBeLessThan(BUFFERED_BYTES_MAX);
  },
);
