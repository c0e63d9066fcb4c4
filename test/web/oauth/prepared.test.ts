import { beforeAll, describe, expect, it } from "vitest";

import { type Granted, makeGranted, PROVIDER_READS } from "../../support/doors/provider.ts";
import { logged } from "../../support/usage.ts";

// As test/api/prepared.test.ts: what the first request of a read has built, later ones bind.

describe("the SQL of reads of the provider", () => {
  let first: Granted;
  let second: Granted;

  beforeAll(async () => {
    [first, second] = [await makeGranted(), await makeGranted()];
  });

  it.each(Object.entries(PROVIDER_READS))(
    "is built once and bound for others: %s",
    async (_, read) => {
      expect((await read(first)).status).toBe(200);
      const { answer, line } = await logged(() => read(second));
      expect(answer.status).toBe(200);
      expect(line.sqlBuilds).toBe(0);
    },
  );
});
