import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";

import { issueLabels, type User } from "../../../src/db/schema/index.ts";
import { copyFromShards } from "../../../src/domain/shards/copy-from-shards.ts";
import {
  copyAll,
  ctxOf,
  makeRepoIn,
  SHARDS,
  shardOf,
} from "../../domain/notifications/sharded-scene.ts";
import type { Sending } from "../../support/call.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import { makeIssue, makeLabel } from "../../support/issues.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";
import { withShards } from "../../support/copies.ts";

// Lists over all repositories ask the shards that may have something, as the first database tells.

withShards();

const inShards = serviceWith({}, SHARDS);

/** Databases that fail if they are asked. */
const OTHERS = Object.fromEntries(
  Array.from({ length: 48 }, (_, at) => [
    `SHARD_${at + 3}`,
    intercepted(env.SCENE_SHARD_1, () => Promise.reject(new Error("is not to be asked"))),
  ]),
);
const inManyShards = serviceWith({}, { ...SHARDS, ...OTHERS });

let owner: TestUser;
let repos: TestRepo[];

beforeAll(async () => {
  owner = await make.user();
  repos = [await makeRepoIn(0, owner), await makeRepoIn(1, owner), await makeRepoIn(2, owner)];
});

/** A user who is in the copies of the shards. */
async function makeUser(fields: Partial<User> = {}): Promise<TestUser> {
  const user = await make.user(fields);
  await copyAll();
  return user;
}

const pathTo = (shard: number, rest: string): string => {
  const { owner: name, name: repo } = repos[shard] as TestRepo;
  return `/repos/${name}/${repo}${rest}`;
};

/** Opens an issue by the API. */
async function open(as: Sending["as"], shard: number, title: string): Promise<number> {
  const made = await inShards("POST", pathTo(shard, "/issues"), {
    as: as as TestUser,
    json: { title },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.number;
}

async function titlesOf(query: string, sending: Sending, service = inManyShards) {
  const { status, body } = await service("GET", `/repos/issues/search?${query}`, sending);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map(({ title }: { title: string }) => title);
}

/** What a request costs in databases. */
async function costOf(path: string, sending: Sending, service = inManyShards) {
  const { answer, line } = await logged(() => service("GET", path, sending));
  expect(answer.status).toBe(200);
  return { calls: line.d1Calls, rounds: line.d1Rounds };
}

/** Tells the first database what the shards noted, as the message after a request does. */
const told = () => copyFromShards(ctxOf());

describe("a dashboard", () => {
  it("asks the first database and the shards of the caller, however many there are", async () => {
    const [nobody, user] = [await makeUser(), await makeUser()];
    await open(user, 1, "in shard 1");
    const path = "/repos/issues/search?created=true";
    const [of0, of1] = [await costOf(path, { as: nobody }), await costOf(path, { as: user })];
    // The caller, the directory, and the list in one or two databases.
    expect([of0, of1]).toEqual([
      { calls: 3, rounds: 3 },
      { calls: 4, rounds: 3 },
    ]);
    expect(await costOf(path, { as: user }, inShards)).toEqual(of1);
    await open(user, 2, "in shard 2");
    expect(await costOf(path, { as: user })).toEqual({ calls: 5, rounds: 3 });
    expect(await titlesOf("created=true", { as: user })).toEqual(["in shard 2", "in shard 1"]);
    await expect(titlesOf("", { as: user })).rejects.toThrow("to be 200");
  });

  it("shows what the caller did in a shard with the next request", async () => {
    for (const shard of [0, 1, 2]) {
      // Who may book times.
      const user = await makeUser({ isAdmin: true });
      const number = await open(user, shard, "mine");
      const path = pathTo(shard, `/issues/${number}`);
      await inShards("POST", `${path}/stopwatch/start`, { as: user });
      const time = { as: owner, json: { time: 60 } };
      expect((await inShards("POST", `${path}/times`, time)).status).toBe(200);
      expect(await titlesOf("created=true", { as: user })).toEqual(["mine"]);
      expect(await titlesOf(`q=author:${user.name}`, {})).toEqual(["mine"]);
      const watches = await inManyShards("GET", "/user/stopwatches", { as: user });
      expect(watches.body).toMatchObject([{ issue_title: "mine" }]);
      const feed = `/users/${user.name}/activities/feeds?only-performed-by=true`;
      expect((await inManyShards("GET", feed, { as: user })).body).toHaveLength(1);
      const heatmap = await inManyShards("GET", `/users/${user.name}/heatmap`);
      expect(heatmap.body).toMatchObject([{ contributions: 1 }]);
    }
    const times = await inManyShards("GET", "/user/times", { as: owner });
    expect(times.body).toHaveLength(3);
  });

  it("shows what others did in a shard once the shard has told", async () => {
    const user = await makeUser();
    const number = await open(owner, 2, "for somebody");
    await inShards("PATCH", pathTo(2, `/issues/${number}`), {
      as: owner,
      json: { assignees: [user.name] },
    });
    await told();
    expect(await titlesOf("assigned=true", { as: user })).toEqual(["for somebody"]);
    expect(await titlesOf("assigned=true&created=true", { as: user })).toEqual([]);
    expect(await titlesOf("review_requested=true", { as: user })).toEqual([]);
    const both = `q=assignee:${user.name}+author:${owner.name}`;
    expect(await titlesOf(both, { as: user })).toEqual(["for somebody"]);
  });

  // The labels of all repositories count, whoever has something there.
  it("knows names of shards in which the caller has nothing", async () => {
    const [user, name] = [await makeUser(), freshName("label")];
    await makeLabel({ repo: repos[2] as TestRepo }, { name }, shardOf(2));
    await open(user, 1, "unlabelled");
    expect(await titlesOf(`created=true&labels=${name}`, { as: user }, inShards)).toEqual([]);
    const unknown = `created=true&labels=${freshName("none")}`;
    expect(await titlesOf(unknown, { as: user }, inShards)).toEqual(["unlabelled"]);
  });
});

describe("a search of some repositories", () => {
  it("asks the shards that have them", async () => {
    const by = await makeUser();
    const repo = await makeRepoIn(1, by);
    const issue = await makeIssue(repo, { title: "of an owner" }, shardOf(1));
    const label = await makeLabel({ repo }, { name: "bug" }, shardOf(1));
    const { id: issueId, repoId, isPull, isClosed } = issue;
    const labelled = { issueId, repoId, isPull, isClosed, labelId: label.id };
    await shardOf(1).insert(issueLabels).values(labelled);
    expect(await titlesOf(`owner=${by.name}`, {})).toEqual(["of an owner"]);
    expect(await titlesOf(`owner=${by.name}&labels=bug`, {})).toEqual(["of an owner"]);
    expect(await titlesOf(`owner=${by.name}&created=true`, { as: by })).toEqual([]);
    await told();
    expect(await titlesOf(`owner=${by.name}&created=true`, { as: by })).toEqual(["of an owner"]);
    const token = await make.token(by, { repos: [repo] });
    await copyAll();
    expect(await titlesOf("", { token })).toEqual(["of an owner"]);
  });

  it("asks those of the grants of a caller who sees nothing else", async () => {
    const [by, restricted] = [await make.user(), await make.user({ isRestricted: true })];
    const repo = await makeRepoIn(2, by);
    await makeIssue(repo, { title: "granted" }, shardOf(2));
    expect(await titlesOf("", { as: restricted })).toEqual([]);
    await make.collaborator(repo, restricted, 1);
    await copyAll();
    expect(await titlesOf("", { as: restricted })).toEqual(["granted"]);
  });
});

describe("the feed of an organization, and of a user who watches", () => {
  it("asks the shards with its events, and those of what is watched", async () => {
    const [member, watcher] = [await make.user(), await make.user()];
    const org = await make.org([member]);
    const repo = await makeRepoIn(1, org as TestUser);
    const made = await inShards("POST", `/repos/${repo.owner}/${repo.name}/issues`, {
      as: member,
      json: { title: "of an organization" },
    });
    expect(made.status).toBe(201);
    await inShards("PUT", `/repos/${repo.owner}/${repo.name}/subscription`, { as: watcher });
    const watched = `/users/${watcher.name}/activities/feeds`;
    const seen = (await inManyShards("GET", watched, { as: watcher })).body;
    expect(seen.map(({ op_type: type }: { op_type: string }) => type)).toContain("create_issue");
    await told();
    const feed = `/orgs/${org.name}/activities/feeds`;
    expect((await inManyShards("GET", feed, { as: member })).body).toMatchObject([
      { op_type: "create_issue" },
    ]);
  });
});
