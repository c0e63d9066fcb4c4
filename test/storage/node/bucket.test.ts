import { afterAll, describe, expect, it } from "vitest";

import { DiskBucket } from "../../support/disk-bucket.ts";
import { bucketCases } from "../bucket-cases.ts";

const disk = await DiskBucket.make();
afterAll(() => disk.remove());

describe("Bucket on a DiskBucket", () => {
  let serial = 0;
  const trial = { r2: disk.r2, freshKey: () => `file-${serial++}` };
  it.each(bucketCases)("%s", async (_, run) => {
    await expect(run(trial)).resolves.toBeUndefined();
  });
});
