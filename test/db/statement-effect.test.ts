import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { effectOf, QUIET_TABLES } from "../../src/db/statement-effect.ts";

describe("the effect of a statement", () => {
  it.for([
    ['select 1 from "users"', undefined, "all"],
    ['select count(*) from "notifications"', undefined, "quiet"],
    ['insert into "issues" ("id") values (?)', "all", "all"],
    ['insert into "mails" ("id") values (?) on conflict do update set "id" = 1', "quiet", "quiet"],
    ['update "hook_deliveries" set "state" = ?', "quiet", "quiet"],
    ['with x as (select 1) insert into "stars" select * from x', "all", "all"],
    ['with "mails" as (select 1) delete from "users"', "all", "quiet"],
    ['update "access_tokens" set "last_used_at" = ? where "id" = ?', undefined, "all"],
    ['update "access_tokens" set "last_used_at" = ?, "scopes" = ? where "id" = ?', "all", "all"],
  ] as const)("%s", ([text, writes, reads]) => {
    expect(effectOf(text)).toMatchObject({ writes, reads });
  });
});

describe("quiet tables", () => {
  const rowsOf = async (query: string) => {
    const { results } = await env.DB.prepare(query).all<Record<string, string>>();
    return results;
  };

  it("exist", async () => {
    const tables = await rowsOf("select name from sqlite_master where type = 'table'");
    const names = new Set(tables.map(({ name }) => name));
    expect(QUIET_TABLES.filter((each) => !names.has(each))).toEqual([]);
  });

  it("have triggers that write nothing else", async () => {
    const triggers = await rowsOf("select tbl_name, sql from sqlite_master where type = 'trigger'");
    const own = triggers.filter(({ tbl_name: table = "" }) => QUIET_TABLES.includes(table));
    expect(own).not.toEqual([]);
    for (const { sql = "" } of own) {
      const body = sql.slice(sql.toLowerCase().indexOf("begin") + "begin".length);
      for (const statement of body.split(";").filter((each) => /\w{4}/.test(each))) {
        expect(effectOf(statement.trim()).writes, statement).not.toBe("all");
      }
    }
  });

  it("cascade to nothing else", async () => {
    const references = await rowsOf(`
      select child.name as child, key."table" as parent
      from sqlite_master as child, pragma_foreign_key_list(child.name) as key
      where child.type = 'table'`);
    const others = references.filter(
      ({ child = "", parent = "" }) =>
        QUIET_TABLES.includes(parent) && !QUIET_TABLES.includes(child),
    );
    expect(references).not.toEqual([]);
    expect(others).toEqual([]);
  });
});
