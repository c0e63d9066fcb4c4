import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { freshName } from "../support/make.ts";
import { bucketCases } from "./bucket-cases.ts";

describe("Bucket on R2", () => {
  const trial = { r2: env.PACKS, freshKey: () => freshName("file") };
  it.each(bucketCases)("%s", async (_, run) => {
    await expect(run(trial)).resolves.toBeUndefined();
  });
});
