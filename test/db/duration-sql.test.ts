import { sql } from "drizzle-orm";
import { expect, it } from "vitest";

import { durationSql } from "../../src/db/duration-sql.ts";
import { formatDuration } from "../../src/lib/duration.ts";
import { db } from "../support/db.ts";

it("words durations in SQL as in TypeScript", async () => {
  const all = [
    0, 1, 2, 59, 60, 61, 119, 120, 3599, 3600, 3601, 3660, 7199, 7200, 7260, 86_400, 2_147_483_647,
  ].concat(Array.from({ length: 500 }, (_, at) => (at * at * 37) % 400_000));
  const rows = await db.all<{ words: string }>(sql`
    select ${durationSql(sql`value`)} as words from json_each(${JSON.stringify(all)}) order by key`);
  expect(rows.map(({ words }) => words)).toEqual(all.map(formatDuration));
});
