import { sql } from "drizzle-orm";
import { afterAll, describe, expect, it } from "vitest";

import { makeManyRepositories } from "../support/bulk.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { serviceWith } from "../support/service.ts";
import { logged } from "../support/usage.ts";

const counting = serviceWith({ LOG_D1_ROWS: "true" });
const word = freshName("common").replaceAll("-", "");
const rare = freshName("rare");
const owners: TestUser[] = [];

async function rowsRead(path: string, as?: TestUser): Promise<number> {
  const { answer, line } = await logged(() => counting("GET", path, as && { as }));
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return line.d1RowsRead;
}

const starAll = (user: TestUser, owner: TestUser) =>
  db.run(sql`
    insert into stars (user_id, repo_id, visibility, created_at)
    select ${user.id}, id, visibility, id from repositories where owner_id = ${owner.id}`);

// Other test files share the database: delete the thousands of rows inserted here.
afterAll(async () => {
  for (const { id } of owners) {
    await db.run(sql`delete from repositories where owner_id = ${id}`);
  }
});

describe("the rows that a request reads", () => {
  // D1 bills rows read, and its latency grows with them: a list must not scan its growing table.
  it("stay constant when the tables grow tenfold", { timeout: 120_000 }, async () => {
    const reader = await make.user();
    const repo = await make.repo(await make.user(), { name: rare });
    const paths = {
      get: `/repos/${repo.owner}/${repo.name}`,
      byId: `/repositories/${repo.id}`,
      // A search for a common word would read more rows, up to its bound.
      rareWord: `/repos/search?q=${rare}`,
      noSuchWord: `/repos/search?q=${freshName("none")}`,
      noWord: "/repos/search?limit=10",
      alphaDown: "/repos/search?limit=10&sort=alpha&order=desc",
      created: "/repos/search?limit=10&sort=created&order=desc",
      updated: "/repos/search?limit=10&sort=updated&order=desc",
      size: "/repos/search?limit=10&sort=size&order=desc",
      lfsSize: "/repos/search?limit=10&sort=lfs_size&order=desc",
      id: "/repos/search?limit=10&sort=id",
      stars: "/repos/search?limit=10&sort=stars&order=desc",
      forks: "/repos/search?limit=10&sort=forks&order=desc",
      priority: `/repos/search?limit=10&priority_owner_id=${repo.ownerId}`,
      owned: `/repos/search?uid=${repo.ownerId}`,
      ownedList: `/users/${repo.owner}/repos`,
      reachable: "/user/repos",
      starred: "/user/starred?limit=10",
      nobodyStarred: "/user/subscriptions",
      stargazers: `/repos/${repo.owner}/${repo.name}/stargazers`,
      followers: "/user/followers",
      user: `/users/${repo.owner}`,
      issues: `/repos/issues/search?owner=${repo.owner}`,
    };
    const measure = async () => {
      const entries: [string, number][] = [["anonymous issues", await rowsRead(paths.issues)]];
      for (const [name, path] of Object.entries(paths)) {
        entries.push([name, await rowsRead(path, reader)]);
      }
      return Object.fromEntries(entries);
    };
    const grow = async (n: number) => {
      const owner = await make.user();
      owners.push(owner);
      await makeManyRepositories(owner, `${word}${owners.length}`, n);
      await starAll(reader, owner);
    };

    await grow(300);
    const few = await measure();
    await grow(2700);
    const many = await measure();

    const grown = Object.entries(many)
      .map(([name, rows]) => [name, few[name] ?? 0, rows] as const)
      .filter(([, before, after]) => after > before + 10);
    expect(grown).toEqual([]);
    expect(many.get).toBeLessThan(20);
    expect(many.starred).toBeLessThan(100);
  });

  it("are bounded for a common word", { timeout: 120_000 }, async () => {
    const reader = await make.user();
    const rows = await rowsRead(`/repos/search?q=${word}&limit=10`, reader);
    // A thousand matches, read once for the page and once for the total, each with its access
    // checks.
    expect(rows).toBeLessThan(20_000);
    const before = rows;
    const owner = await make.user();
    owners.push(owner);
    await makeManyRepositories(owner, `${word}${owners.length}`, 1500);
    expect(await rowsRead(`/repos/search?q=${word}&limit=10`, reader)).toBeLessThanOrEqual(
      before + 20,
    );
  });
});
