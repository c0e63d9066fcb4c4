import { globSync } from "node:fs";

import type { R2Bucket } from "@cloudflare/workers-types";
import { Miniflare } from "miniflare";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { buildLocalBindings } from "../../../scripts/build/local-bindings.ts";
import { localBuckets } from "../../../scripts/serve/bucket/bindings.ts";
import { miniflareOptions } from "../../../scripts/build/miniflare.ts";
import type { BindingServer } from "../../../scripts/serve/worker.ts";
import { makeDirectory } from "../support/temporary.ts";

const BUCKETS = { PACKS: "edgeforge-packs" };

const BINDINGS: Readonly<Record<BindingServer, object>> = {
  simulator: { r2Buckets: BUCKETS },
  local: { unsafeBindings: localBuckets(BUCKETS) },
};

/** Least size of a part but the last, in bytes. */
const PART_BYTES = 5 * 1024 * 1024;

type Opened = { bucket: R2Bucket; close: () => Promise<void> };

/** Opens the bucket of a data directory. */
async function open(server: BindingServer, data: string): Promise<Opened> {
  const worker = { name: "test", modules: true, script: "export default {}", ...BINDINGS[server] };
  const mf = new Miniflare(miniflareOptions(data, [worker], () => {}));
  onTestFinished(() => mf.dispose());
  const { PACKS: bucket } = await mf.getBindings<{ PACKS: R2Bucket }>("test");
  return { bucket, close: () => mf.dispose() };
}

/** The bytes of a key, the first and the last of them as a text. */
async function ends(bucket: R2Bucket, key: string): Promise<[number, string] | undefined> {
  const object = await bucket.get(key);
  if (!object) return undefined;
  const bytes = Buffer.from(await object.arrayBuffer());
  return [
    bytes.length,
    `${bytes.toString("latin1", 0, 2)}${bytes.toString("latin1", bytes.length - 2)}`,
  ];
}

beforeAll(buildLocalBindings);

const SWITCHES: [BindingServer, BindingServer][] = [
  ["simulator", "local"],
  ["local", "simulator"],
];

describe("the files of an installation", () => {
  for (const [before, after] of SWITCHES) {
    it(`are served by the ${after} bucket after the ${before} one, with nothing to move`, async () => {
      const data = makeDirectory();
      const old = await open(before, data);
      await old.bucket.put("whole", "whole");
      await old.bucket.put("deleted", "deleted");
      const upload = await old.bucket.createMultipartUpload("parts");
      const parts = [
        await upload.uploadPart(1, Buffer.alloc(PART_BYTES, "a")),
        await upload.uploadPart(2, Buffer.from("the end")),
      ];
      await upload.complete(parts);
      const unfinished = await old.bucket.createMultipartUpload("unfinished");
      const sent = await unfinished.uploadPart(1, "before");
      const { uploadId } = unfinished;
      await old.close();

      const { bucket, close } = await open(after, data);

      expect(await ends(bucket, "whole")).toEqual([5, "whle"]);
      expect(await ends(bucket, "parts")).toEqual([PART_BYTES + 7, "aand"]);
      await bucket.delete(["deleted", "whole", "parts"]);
      await bucket.resumeMultipartUpload("unfinished", uploadId).complete([sent]);
      expect(await ends(bucket, "unfinished")).toEqual([6, "bere"]);
      await close();
      // Deleted in the background, at the latest before the end.
      expect(globSync("r2/*/blobs/*", { cwd: data })).toHaveLength(1);
    });
  }
});

/** Reads a file of several parts in ways that do not come to its end, and deletes it. */
const CARELESS = `export default {
  async fetch({ url }, { PACKS }) {
    const upload = await PACKS.createMultipartUpload("parts");
    const parts = [
      await upload.uploadPart(1, new Uint8Array(${PART_BYTES})),
      await upload.uploadPart(2, "the end"),
    ];
    await upload.complete(parts);
    const { body } = await PACKS.get("parts");
    if (url.endsWith("/cancelled")) await body.cancel();
    if (url.endsWith("/begun")) {
      const reader = body.getReader();
      await reader.read();
      await reader.cancel();
    }
    await PACKS.delete("parts");
    return new Response(url.endsWith("/sent") ? body : "done");
  },
};`;

it.each(["cancelled", "begun", "dropped", "sent"])(
  "a file whose read was %s leaves nothing when it is deleted",
  async (how) => {
    const data = makeDirectory();
    const worker = { name: "test", modules: true, script: CARELESS, ...BINDINGS.local };
    const mf = new Miniflare(miniflareOptions(data, [worker], () => {}));
    onTestFinished(() => mf.dispose());
    const response = await mf.dispatchFetch(`http://localhost/${how}`);
    expect(response.status).toBe(200);
    await response.body?.cancel();
    const files = (): string[] => globSync("r2/*/blobs/*", { cwd: data });
    await expect.poll(files, { timeout: 30_000 }).toEqual([]);
  },
);
