import { eq, sql, type SQL } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { collaborations, repositories, users, watches } from "../../../src/db/schema/index.ts";
import { countContributions } from "../../../src/domain/exchange/activities/list-activities.ts";
import { only } from "../../../src/lib/only.ts";
import { pushOf, recordEvent } from "../../support/activities.ts";
import { makeManyRepositories, insertManyEvents } from "../../support/bulk.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

const feedOf = (user: { name: string }) => `/users/${user.name}/activities/feeds`;
const reposIn = (body: { repo_id: number }[]) => body.map((each) => each.repo_id);

const watch = (user: TestUser, { id: repoId, visibility }: TestRepo) =>
  db.insert(watches).values({ userId: user.id, repoId, visibility, createdAt: 1000 });

describe("a feed with many activities", () => {
  // Activities that the caller may not see are skipped, and a user may have a great many of them.
  it("skips a bounded number of activities, at a bounded cost", async () => {
    const user = await make.user();
    const hidden = await make.repo(user, { isPrivate: true });
    const open = await make.repo(user);
    await recordEvent(open, user, "repository.created", {}, 1_000_000);
    await insertManyEvents(hidden, user, 2998, 2_000_000);
    await recordEvent(open, user, "repository.created", {}, 20_000_000);
    const path = `${feedOf(user)}?only-performed-by=true`;
    expect((await call("GET", path)).body).toHaveLength(2);

    await insertManyEvents(hidden, user, 10_000, 30_000_000);
    await recordEvent(open, user, "repository.created", {}, 60_000_000);
    const { answer, line } = await logged(() => call("GET", path));
    expect(answer.body).toHaveLength(1);
    expect(answer.headers.get("X-Total-Count")).toBe("1");
    expect(line.d1RowsRead).toBeLessThan(40_000);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 200 });
  });

  it("reads only the rows it returns where all are visible", async () => {
    const user = await make.user();
    const open = await make.repo(user);
    await insertManyEvents(open, user, 4000, 1_000_000);
    const { answer, line } = await logged(() => call("GET", `${feedOf(user)}?limit=10`));
    const times = answer.body.map(({ created }: { created: string }) => Date.parse(created));
    expect(times).toEqual(Array.from({ length: 10 }, (_, at) => 1_000_000 + (3999 - at) * 1000));
    expect(line.d1RowsRead).toBeLessThan(8000);
  });
});

describe("GET /users/{username}/activities/feeds", () => {
  it("covers a bounded number of the most recently watched repositories", async () => {
    const user = await make.user();
    const other = await make.user();
    const first = await make.repo(other);
    const second = await make.repo(other);
    await recordEvent(first, other);
    await recordEvent(second, other);
    const watchFrom = (createdAt: number, isIt: SQL) =>
      db.run(
        sql`insert into watches (user_id, repo_id, visibility, created_at) select ${user.id}, id, visibility, ${createdAt} from repositories where owner_id = ${other.id} and ${isIt}`,
      );
    await watchFrom(1000, sql`id = ${first.id}`);
    await watchFrom(2000, sql`id = ${second.id}`);
    await makeManyRepositories(other, "many", 498);
    await watchFrom(3000, sql`name like 'many-%' and name <> 'many-model'`);
    expect(reposIn((await call("GET", feedOf(user))).body)).toEqual([second.id, first.id]);

    await watchFrom(3000, sql`name = 'many-model'`);
    expect(reposIn((await call("GET", feedOf(user))).body)).toEqual([second.id]);
  });

  it("lists the user's own activities and those in watched repositories, each once, latest first", async () => {
    const user = await make.user();
    const other = await make.user();
    const own = await make.repo(user);
    const watched = await make.repo(other);
    const stranger = await make.repo(other);
    await watch(user, watched);
    await watch(user, own);
    await recordEvent(own, user);
    await recordEvent(watched, other, "repository.pushed", pushOf("refs/heads/a", "refs/heads/b"));
    await recordEvent(stranger, other);
    await recordEvent(watched, other, "star.created", {});
    await recordEvent(stranger, user, "star.created", {});

    const { body, headers } = await call("GET", feedOf(user));
    expect(reposIn(body)).toEqual([stranger.id, watched.id, watched.id, own.id]);
    expect(body.map((each: { ref_name: string }) => each.ref_name)).toEqual([
      "",
      "refs/heads/a",
      "refs/heads/b",
      "",
    ]);
    expect(body[0]).toMatchObject({ op_type: "star_repo", user_id: user.id });
    expect(headers.get("X-Total-Count")).toBe("4");
    const { pages, ids, totals } = await readAll(feedOf(user), {}, { limit: 1 });
    expect([pages.length, new Set(ids).size, totals]).toEqual([4, 4, [4]]);

    const alone = await call("GET", `${feedOf(user)}?only-performed-by=true`);
    expect(reposIn(alone.body)).toEqual([stranger.id, own.id]);
  });

  // SECURITY: visibility is checked at the time of the request.
  it("omits a repository that the caller has lost access to", async () => {
    const owner = await make.user();
    const reader = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    await make.collaborator(repo, reader, 1);
    await watch(reader, repo);
    await recordEvent(repo, owner);
    await recordEvent(repo, reader);
    expect((await call("GET", feedOf(reader), { as: reader })).body).toHaveLength(2);
    await db.delete(collaborations).where(eq(collaborations.userId, reader.id));
    const after = await call("GET", feedOf(reader), { as: reader });
    expect([after.body, after.headers.get("X-Total-Count")]).toEqual([[], "0"]);
    expect((await call("GET", `/users/${reader.name}/heatmap`, { as: reader })).body).toEqual([]);
  });

  it("shows private activities only to the user and to administrators", async () => {
    const user = await make.user();
    const friend = await make.user();
    const repo = await make.repo(user, { isPrivate: true });
    await make.collaborator(repo, friend, 1);
    await recordEvent(repo, user);
    expect((await call("GET", feedOf(user), { as: friend })).body).toEqual([]);
    expect((await call("GET", feedOf(user))).body).toEqual([]);
    expect((await call("GET", feedOf(user), { as: user })).body).toHaveLength(1);
    expect((await call("GET", feedOf(user), { as: await make.admin() })).body).toHaveLength(1);
    const narrow = await make.token(user, { scopes: "read:user" });
    expect((await call("GET", feedOf(user), { token: narrow })).body).toEqual([]);
  });

  it("is empty for other callers where the user hides their activity", async () => {
    const user = await make.user({ isActivityHidden: true });
    await recordEvent(await make.repo(user), user);
    for (const path of [feedOf(user), `/users/${user.name}/heatmap`]) {
      expect(await call("GET", path), path).toMatchObject({ status: 200, body: [] });
      expect((await call("GET", path, { as: user })).body, path).toHaveLength(1);
    }
  });

  it("omits hidden users, and repositories of limited owners for anonymous callers", async () => {
    const user = await make.user();
    const hiding = await make.user({ visibility: "private" });
    const limited = await make.user({ visibility: "limited" });
    const watched = await make.repo(user);
    const theirs = await make.repo(limited);
    await watch(user, watched);
    await recordEvent(watched, hiding);
    await recordEvent(theirs, user);
    expect((await call("GET", feedOf(user))).body).toEqual([]);
    expect(reposIn((await call("GET", feedOf(user), { as: user })).body)).toEqual([theirs.id]);
    expect((await call("GET", feedOf(hiding))).status).toBe(404);
  });
});

describe("GET /users/{username}/heatmap", () => {
  it("counts a bounded number of the newest events", async () => {
    const user = await make.user();
    const own = await make.repo(user);
    const hidden = await make.repo(user, { isPrivate: true });
    const now = Date.now();
    const at = Math.floor(now / 900_000) * 900_000 - 900_000;
    for (const part of [3, 0, 2, 1]) {
      await recordEvent(own, user, "repository.created", {}, at - part * 900_000);
    }
    await recordEvent(hidden, user, "repository.created", {}, at);
    const found = await db.select().from(users).where(eq(users.id, user.id));
    const timesOf = async (lookedAtMax: number) => {
      const counted = await countContributions(systemCtx({}, now), only(found), lookedAtMax);
      return counted.map(({ timestamp }) => (at / 1000 - timestamp) / 900);
    };
    expect(await timesOf(5)).toEqual([3, 2, 1, 0]);
    expect(await timesOf(4)).toEqual([2, 1, 0]);
    expect(await timesOf(2)).toEqual([0]);
  });

  it("counts events per quarter of an hour in the last year", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const at = Math.floor(Date.now() / 900_000) * 900_000 - 900_000;
    for (const moment of [at, at + 899_999, at - 1, at - 400 * 86_400_000]) {
      await recordEvent(repo, user, "repository.created", {}, moment);
    }
    const { status, body } = await call("GET", `/users/${user.name}/heatmap`);
    expect([status, body]).toEqual([
      200,
      [
        { timestamp: at / 1000 - 900, contributions: 1 },
        { timestamp: at / 1000, contributions: 2 },
      ],
    ]);
  });

  it("counts issues and comments for readers of the issues", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const issue = { issueId: 1, number: 1, isPull: false };
    for (const type of ["issue.opened", "issue.closed", "issue.reopened", "comment.created"]) {
      await recordEvent(repo, user, type, { ...issue, commentId: 1 });
    }
    // Not activities.
    for (const type of ["issue.labeled", "issue.edited", "comment.edited"]) {
      await recordEvent(repo, user, type, issue);
    }
    const count = async () => {
      const { body } = await call("GET", `/users/${user.name}/heatmap`);
      return (body as { contributions: number }[]).reduce(
        (sum, each) => sum + each.contributions,
        0,
      );
    };
    expect(await count()).toBe(4);
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, repo.id));
    expect(await count()).toBe(0);
  });
});
