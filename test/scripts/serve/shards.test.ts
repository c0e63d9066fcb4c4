import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { countShards, openShards, shardBindings } from "../../../scripts/serve/shards.ts";
import { makeDirectory } from "../support/temporary.ts";

describe("the number of shards", () => {
  it("is the operator's, and is kept for starts that do not name it", () => {
    const data = makeDirectory();
    expect(countShards(undefined, data)).toBe(0);
    expect(existsSync(join(data, "shards"))).toBe(false);

    expect(countShards(2, data)).toBe(2);
    expect(countShards(undefined, data)).toBe(2);
    expect(countShards(3, data)).toBe(3);
    expect(countShards(3, data)).toBe(3);
    expect(countShards(undefined, data)).toBe(3);
    expect(statSync(join(data, "shards")).mode & 0o777).toBe(0o600);
  });

  it("does not shrink", () => {
    const data = makeDirectory();
    countShards(3, data);
    for (const fewer of [2, 0]) {
      expect(() => countShards(fewer, data)).toThrow(
        `EDGEFORGE_SHARDS is ${fewer}, but ${data} has 3 shards, and their number may only grow`,
      );
    }
    expect(countShards(undefined, data)).toBe(3);
  });

  it("is refused where it cannot be read", () => {
    const data = makeDirectory();
    writeFileSync(join(data, "shards"), "many\n");
    expect(() => countShards(undefined, data)).toThrow('has no number of shards: "many"');
  });

  it("names the bindings", () => {
    expect(shardBindings(0)).toEqual([]);
    expect(shardBindings(3)).toEqual(["SHARD_1", "SHARD_2", "SHARD_3"]);
  });
});

describe("openShards", () => {
  const setup = (copyToShards: () => Promise<{ isCurrent: boolean }>) => ({
    copyToShards,
    createFirstAdministrator: () => expect.unreachable(),
    releaseLeases: () => expect.unreachable(),
  });

  it("copies until the shards have everything", async () => {
    let left = 3;
    await openShards(setup(async () => ({ isCurrent: --left === 0 })));
    expect(left).toBe(0);
  });

  it("stops the start with the reason of a failure", async () => {
    const failing = setup(() => Promise.reject(new Error("shard 4 has no database")));
    await expect(openShards(failing)).rejects.toThrow(
      /^the shards cannot be opened: shard 4 has no database/,
    );
  });
});
