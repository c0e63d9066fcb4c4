import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { copiedTables, copiedTable } from "../../../src/db/copies/copied-tables.ts";
import { copyRefusals } from "../../../src/db/copies/refusals.ts";
import type { Database } from "../../../src/db/db.ts";
import { clearDatabases, copy, databases, insertRows } from "./three-shards.ts";

describe("a copied table in a shard", () => {
  const [shard] = databases as [Database, ...Database[]];
  const refused = { cause: { message: expect.stringContaining("is a copy") as string } };
  const refusals = () =>
    shard.all<{ name: string; sql: string }>(
      sql`select name, sql from sqlite_master where type = 'trigger' and name glob '*_copy_*' order by name`,
    );

  beforeEach(async () => {
    await clearDatabases();
    await insertRows();
  });

  it.each(copiedTables().map(({ name }) => name))(
    "is written by the copying alone: %s",
    async (name) => {
      const table = sql.identifier(name);
      const rows = () => shard.all(sql`select * from ${table}`);
      const before = await rows();
      expect(before).not.toEqual([]);
      const { refused: columns = [] } = copiedTables().find((each) => each.name === name) ?? {};
      await expect(
        shard.run(sql`insert into ${table} select * from ${table}`),
      ).rejects.toMatchObject(refused);
      await expect(shard.run(sql`delete from ${table}`)).rejects.toMatchObject(refused);
      for (const column of columns.map((each) => sql.identifier(each))) {
        await expect(
          shard.run(sql`update ${table} set ${column} = ${column}`),
        ).rejects.toMatchObject(refused);
      }
      expect(await rows()).toEqual(before);
    },
  );

  it("takes what the shard owns, and the time of a push", async () => {
    const { columns, owned, refused: others } = copiedTable("repositories");
    const taken = columns.filter((column) => !others.includes(column));
    expect(taken.toSorted()).toEqual(owned.toSorted());
    await shard.run(sql`
      update repositories set is_empty = 0, language = 'C', licenses = '["MIT"]', size_bytes = 1,
        lfs_size_bytes = 2, last_issue_number = 3, open_issue_count = 4, closed_issue_count = 5,
        open_pull_count = 6, closed_pull_count = 7, release_count = 8, updated_at = 9`);
    expect(await shard.all(sql`select last_issue_number, updated_at from repositories`)).toEqual([
      { last_issue_number: 3, updated_at: 9 },
    ]);
  });

  it("refuses again after a copy, and after a migration made the table anew", async () => {
    const before = await refusals();
    expect(before.map(({ name, sql: text }) => [name, text])).toEqual(
      [...copyRefusals()].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
    await shard.run(sql`drop trigger users_copy_update`);
    await shard.run(sql`drop trigger teams_copy_delete`);
    await shard.run(sql`
      create trigger teams_copy_delete before delete on teams when 0 begin select 1; end`);
    await copy();
    expect(await refusals()).toEqual(before);
    expect(await shard.all(sql`select is_copying from shard_copies`)).toEqual([{ is_copying: 0 }]);
  });
});
