import { join } from "node:path";
import { once } from "node:events";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { isFull, reportDiskSpace } from "../../../scripts/serve/disk-space.ts";
import { makeDirectory } from "../support/temporary.ts";

const SPACE = { bsize: 4096, bavail: 4096, files: 100, ffree: 1 };

describe("a disk", () => {
  it.each([
    [SPACE, false],
    [{ ...SPACE, bavail: 4095 }, true],
    [{ ...SPACE, ffree: 0 }, true],
    // A file system that counts no names, such as btrfs.
    [{ ...SPACE, files: 0, ffree: 0 }, false],
  ])("is full below 16 MiB, and without names for files: %o", (space, expected) => {
    expect(isFull(space)).toBe(expected);
  });
});

describe("the service that answers for the disk", () => {
  it.each([
    ["a directory with space", ".", 204],
    ["no directory", "missing", 500],
  ])("reads the space of %s", async (_, below, status) => {
    const directory = makeDirectory();
    const { path, close } = await reportDiskSpace(join(directory, "disk"), join(directory, below));
    onTestFinished(close);

    const [response] = (await once(get({ socketPath: path, path: "/" }), "response")) as [
      IncomingMessage,
    ];
    response.resume();
    expect(response.statusCode).toBe(status);
  });
});
