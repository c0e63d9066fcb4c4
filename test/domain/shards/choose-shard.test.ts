import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";

import { type Database, openDatabase } from "../../../src/db/db.ts";
import { type Shard, shards } from "../../../src/db/schema/index.ts";
import { chooseShard, drawShard } from "../../../src/domain/shards/choose-shard.ts";
import { drawFrom } from "./directory-changes.ts";
import { migrate } from "../../support/migrate.ts";

await migrate(env.DIRECTORY_DB);
const directory = openDatabase(env.DIRECTORY_DB.withSession("first-primary"));

/** A Worker that has bindings of these shards. */
const withShards = (...ids: number[]) => ({
  directory,
  openShards: () => new Map(ids.map((id) => [id, directory])),
});

/** What many repositories are given, each of them once. */
async function chosen(ctx: ReturnType<typeof withShards>): Promise<number[]> {
  const found = new Set<number>();
  for (let at = 0; at < 50; at++) found.add(await chooseShard(ctx));
  return [...found].toSorted((one, other) => one - other);
}

const addShard = (id: number, values: Partial<Shard> = {}) =>
  directory.insert(shards).values({ id, seededAt: 1, createdAt: 1, ...values });

beforeEach(async () => {
  await directory.delete(shards);
});

describe("a new repository", () => {
  it("comes to a shard that is open, has all copies, and is bound", async () => {
    await addShard(1, { isOpen: false });
    await addShard(2);
    await addShard(3, { seededAt: null });
    await addShard(4);
    await addShard(5);
    expect(await chosen(withShards(1, 2, 3, 4))).toEqual([2, 4]);
  });

  it("comes to the first database while there is no such shard", async () => {
    expect(await chosen(withShards(1))).toEqual([0]);
    await addShard(1, { isOpen: false });
    expect(await chosen(withShards(1))).toEqual([0]);
  });

  it("asks nothing where the Worker has no shards", async () => {
    await addShard(1);
    const none = {
      directory: { select: () => expect.unreachable() } as unknown as Database,
      openShards: () => new Map<number, Database>(),
    };
    expect(await chooseShard(none)).toBe(0);
  });
});

describe("of two shards that are drawn, the emptier one", () => {
  const open = [30, 10, 20, 40].map((sizeBytes, index) => ({ id: index + 1, sizeBytes }));

  it("takes each repository, so that the fullest takes none", () => {
    const draw = drawFrom(1);
    const counts = new Map<number, number>();
    for (let at = 0; at < 6000; at++) {
      const id = drawShard(open, draw);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    // Of the 6 pairs, the emptiest shard is in 3, the next in 2 without it, and so on.
    const shares = [1, 2, 3, 4].map((id) => Math.round((counts.get(id) ?? 0) / 1000));
    expect(shares).toEqual([1, 3, 2, 0]);
  });

  it("is the same for the same numbers", () => {
    const run = (seed: number) => {
      const draw = drawFrom(seed);
      return Array.from({ length: 20 }, () => drawShard(open, draw));
    };
    expect(run(7)).toEqual(run(7));
    expect(run(7)).not.toEqual(run(8));
  });

  it("fills equal shards alike", () => {
    const draw = drawFrom(3);
    const equal = [1, 2, 3].map((id) => ({ id, sizeBytes: 0 }));
    const ids = Array.from({ length: 3000 }, () => drawShard(equal, draw));
    for (const { id } of equal) {
      const count = ids.filter((each) => each === id).length;
      expect(count).toBeGreaterThan(900);
      expect(count).toBeLessThan(1100);
    }
  });

  it("is the only one, or the first database", () => {
    expect(drawShard([{ id: 7, sizeBytes: 1 }])).toBe(7);
    expect(drawShard([])).toBe(0);
  });
});
