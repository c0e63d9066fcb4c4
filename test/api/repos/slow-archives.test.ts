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

/** What may have left storage and not reached the client, in bytes, however large the answer is. */
const BUFFERED_BYTES_MAX = 3 * 1024 * 1024;

/** Starts to read an archive of files that are streamed. */
async function startArchive(format: string) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await pushLarge(owner, repo, "main");
  const url = `https://forge.example/${repo.owner}/${repo.name}/archive/main.${format}`;
  return startReading(new Request(url));
}

// SECURITY: compression that takes what it is given, whether or not anybody reads, would hold it all.
it.each(["tar.gz", "zip", "bundle"])(
  "a client that stops reading a %s holds a few pieces of it in memory",
  async (format) => {
    const started = await startArchive(format);
    const totalBytes = BLOBS * BLOB_BYTES;
    const { takenBytes, aheadMax } = await readSlowly(started, totalBytes);
    expect(takenBytes).toBeGreaterThan(totalBytes);
    expect(aheadMax).toBeLessThan(BUFFERED_BYTES_MAX);
  },
);

it.each(["tar.gz", "zip", "bundle"])(
  "a client that goes away in the middle of a %s ends the reading of it",
  async (format) => {
    const { meter, reader } = await startArchive(format);
    await reader.read();
    await reader.cancel();
    await settle(meter);
    expect(meter.bytes).toBeLessThan(BUFFERED_BYTES_MAX);
  },
);
