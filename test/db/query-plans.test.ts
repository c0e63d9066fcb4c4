import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { follows, hookDeliveries } from "../../src/db/schema/index.ts";
import { resealSecrets } from "../../src/domain/hooks/reseal-secrets.ts";
import { sweepDeliveries } from "../../src/domain/deliveries/sweep-deliveries.ts";
import { tellEvents } from "../../src/domain/announcements/tell-events.ts";
import { wakeQueues } from "../../src/domain/deliveries/wake-queues.ts";
import { removeLooseFiles } from "../../src/domain/lfs/remove-loose-files.ts";
import { pushOf, tell } from "../support/activities.ts";
import { db } from "../support/db.ts";
import { deliver, makeDelivery, makeReceivedHook } from "../support/deliveries.ts";
import { makeHook, makeKeptDelivery } from "../support/hooks.ts";
import { makeSshKey } from "../support/keys.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { storePush } from "../support/push.ts";
import { makeSignedCommit } from "../support/signed.ts";
import { askBatch, askLfs, makeLargeFile, upload } from "../support/large-files.ts";
import { doorsWith, serviceWith } from "../support/service.ts";
import { systemCtx } from "../support/system.ts";

/** Every statement that the service below sends to D1. */
const sent: string[] = [];
const listening = new Proxy(env.DB, {
  get(target, name) {
    if (name !== "withSession") return Reflect.get(target, name);
    return (bookmark: string) => {
      const session = target.withSession(bookmark);
      return {
        getBookmark: () => session.getBookmark(),
        batch: (statements: D1PreparedStatement[]) => session.batch(statements),
        prepare: (statement: string) => {
          sent.push(statement);
          return session.prepare(statement);
        },
      };
    };
  },
});
const call = serviceWith({}, { DB: listening });
const visit = doorsWith({}, { DB: listening });

const SEALING_KEYS = `new:${"A".repeat(43)}=,old:${"B".repeat(42)}A=`;

const GROWING =
  "repositories|users|stars|watches|follows|events|collaborations|access_tokens|team_members|organization_members|public_keys|gpg_keys|email_addresses|commit_statuses|hooks|hook_deliveries|announcements|topics|repository_topics|lfs_objects|lfs_locks|lfs_loose_files";

/** The steps that the database takes for a statement. */
async function planOf(statement: string): Promise<string[]> {
  const values = Array.from({ length: (statement.match(/\?/g) ?? []).length }, () => 1);
  const { results } = await env.DB.prepare(`explain query plan ${statement}`)
    .bind(...values)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}

/** What reads a whole table that grows: neither by an index nor by its key. */
async function fullScans(statements: string[]): Promise<string[]> {
  const scans: string[] = [];
  for (const statement of statements.filter((each) =>
    /^\s*(select|delete|update|insert)/i.test(each),
  )) {
    for (const detail of await planOf(statement)) {
      if (new RegExp(`^SCAN (${GROWING}|r)\\b(?!.* USING )`).test(detail)) {
        scans.push(`${detail}: ${statement}`);
      }
    }
  }
  return scans;
}

let user: TestUser;
let repo: TestRepo;
beforeAll(async () => {
  user = await make.user();
  repo = await make.repo(user);
  const fan = await make.user();
  await db.insert(follows).values({ followerId: fan.id, followedId: user.id, createdAt: 1 });
  const committer = `U <${user.email}>`;
  const signed = await makeSignedCommit({ committer, sign: makeSshKey().sign });
  await storePush(repo, "refs/heads/main", signed.oid, signed.pack);
});

const at = () => `/repos/${repo.owner}/${repo.name}`;
const READS: [string, () => string][] = [
  ["a repository", at],
  ["a repository by id", () => `/repositories/${repo.id}`],
  ["stargazers", () => `${at()}/stargazers`],
  ["subscribers", () => `${at()}/subscribers`],
  ["a subscription", () => `${at()}/subscription`],
  ["statuses of a commit", () => `${at()}/statuses/main?sort=oldest`],
  ["statuses of a kind", () => `${at()}/commits/main/statuses?state=error&page=2&limit=3`],
  ["a combined status", () => `${at()}/commits/main/status`],
  ["a comparison across forks", () => `${at()}/compare/main...somebody:main`],
  ["a comparison with a named fork", () => `${at()}/compare/main...somebody/else:main`],
  ["a user", () => `/users/${user.name}`],
  ["the repositories of a user", () => `/users/${user.name}/repos`],
  ["the repositories one reaches", () => "/user/repos"],
  ["what a user has starred", () => `/users/${user.name}/starred`],
  ["what one has starred", () => "/user/starred"],
  ["what one watches", () => "/user/subscriptions"],
  ["followers", () => `/users/${user.name}/followers`],
  ["following", () => "/user/following"],
  ["a search for a word", () => "/repos/search?q=something"],
  ["a search in descriptions", () => "/repos/search?q=something&includeDesc=true"],
  ["a search for a short word", () => "/repos/search?q=so"],
  ["a search for an owner and a name", () => "/repos/search?q=some/thing"],
  ["a search for an owner's", () => `/repos/search?uid=${user.id}`],
  ["a search for what a user starred", () => `/repos/search?starredBy=${user.id}`],
  ["a search for a team's", () => "/repos/search?team_id=1"],
  ["a list without a word", () => "/repos/search"],
  ["a list of the newest", () => "/repos/search?sort=created&order=desc"],
  ["a list of the most starred", () => "/repos/search?sort=stars&order=desc"],
  ["a search for a topic", () => "/repos/search?q=plans,engines,a,b,c,d&topic=true"],
  ["an owner's of a topic", () => `/repos/search?q=plans&topic=true&uid=${user.id}`],
  ["the topics of a repository", () => `${at()}/topics`],
  ["a search for topics", () => "/topics/search?q=plan"],
  ["a search for topics by a short word", () => "/topics/search?q=pl"],
  ["a list of topics", () => "/topics/search"],
  ["a search for users", () => "/users/search?q=something"],
  ["a search for users by a short word", () => "/users/search?q=so"],
  ["a list of users", () => "/users/search"],
  ["webhooks of a repository", () => `${at()}/hooks`],
  ["one's webhooks", () => "/user/hooks"],
  ["webhooks of the service", () => "/admin/hooks?type=all"],
  ["the events of a repository", () => `${at()}/events?after=7`],
  ["one's events", () => "/user/events?limit=3"],
  ["the activities of a repository", () => `${at()}/activities/feeds`],
  ["the activities of a day", () => `${at()}/activities/feeds?date=2026-01-31`],
  ["the feed of a user", () => `/users/${user.name}/activities/feeds`],
  ["what a user did", () => `/users/${user.name}/activities/feeds?only-performed-by=true`],
  ["the feed of a team", () => "/teams/1/activities/feeds"],
  ["a heat map", () => `/users/${user.name}/heatmap`],
  ["commits and their signatures", () => `${at()}/commits`],
];

describe("no table that grows is read as a whole", () => {
  it.each(READS)("for %s", async (_, path) => {
    const restricted = await make.user({ isRestricted: true });
    const publicOnly = await make.token(user, { scopes: "public-only,all" });
    const bound = await make.token(user, { repos: [repo] });
    sent.length = 0;
    for (const sending of [
      {},
      { as: user },
      { as: restricted },
      { as: await make.admin() },
      { token: publicOnly },
      { token: bound },
    ]) {
      await call("GET", path(), sending);
    }
    expect(sent.length).toBeGreaterThan(0);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });

  // Their order comes from the index: a page reads what it shows, however much has happened.
  it.each([
    ["events_repo", () => `${at()}/events`],
    ["events_owner", () => "/user/events"],
    ["events_activity_repo", () => `${at()}/activities/feeds`],
    ["events_activity_owner", () => "/teams/1/activities/feeds"],
    ["events_activity_actor", () => `/users/${user.name}/activities/feeds?only-performed-by=true`],
    ["events_activity_repo", () => `/users/${user.name}/activities/feeds`],
    ["events_activity_actor", () => `/users/${user.name}/heatmap`],
  ])("by %s, for a feed or a stream", async (index, path) => {
    sent.length = 0;
    await call("GET", path(), { as: user });
    const steps = await Promise.all([...new Set(sent)].map(planOf));
    expect(steps.flat().join("\n")).toMatch(
      new RegExp(`events USING (?:COVERING )?INDEX ${index} `),
    );
    for (const plan of steps) {
      const walks = plan.filter((step) => /^(?:SEARCH|SCAN) events\b/.test(step));
      for (const step of walks)
        expect(step).toMatch(/USING (?:COVERING )?INDEX events_|INTEGER PRIMARY KEY/);
    }
  });

  it("for what is written", async () => {
    const other = await make.user();
    await make.collaborator(repo, other, 2);
    sent.length = 0;
    const mark = `/user/starred/${repo.owner}/${repo.name}`;
    const writes: [string, string, unknown?][] = [
      ["POST", "/user/repos", { name: "plans" }],
      ["PUT", `/repos/${other.name}/plans/topics`, { topics: ["a", "b"] }],
      ["PUT", `/repos/${other.name}/plans/topics/c`],
      ["DELETE", `/repos/${other.name}/plans/topics/c`],
      ["PATCH", `/repos/${other.name}/plans`, { private: true, name: "plans-2" }],
      ["DELETE", `/repos/${other.name}/plans-2`],
      ["POST", `/repos/${user.name}/${repo.name}/statuses/main`, { state: "pending" }],
      ["PUT", mark],
      ["DELETE", mark],
      ["PUT", `${at()}/subscription`],
      ["DELETE", `${at()}/subscription`],
      ["PUT", `/user/following/${user.name}`],
      ["DELETE", `/user/following/${user.name}`],
    ];
    for (const [method, path, json] of writes) {
      const answer = await call(method, path, { as: other, ...(json !== undefined && { json }) });
      expect(answer.status).toBeLessThan(300);
    }
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });

  it("for webhooks and whom to tell", async () => {
    sent.length = 0;
    const json = { type: "gitea", config: { url: "https://a.example/", content_type: "json" } };
    const created = await call("POST", `${at()}/hooks`, { as: user, json });
    const path = `${at()}/hooks/${created.body.id}`;
    await call("PATCH", path, { as: user, json: { active: true } });
    await call("POST", `${path}/tests`, { as: user });
    await call("DELETE", path, { as: user });
    expect(sent.length).toBeGreaterThan(9);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });

  it("for what waits to be told, whom to tell, and what is due", async () => {
    // What the queue tells by itself is told before.
    const now = Date.now() + 1_000_000_000;
    const { id } = await makeHook({ level: "repository", approverId: user.id, repoId: repo.id });
    await tell(repo, user, "repository.pushed", pushOf("refs/heads/main"), now, now);
    sent.length = 0;
    const ctx = systemCtx({ DB: listening }, now);
    await tellEvents(ctx);
    await wakeQueues(ctx);
    expect(await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id))).not.toEqual(
      [],
    );
    expect(sent.length).toBeGreaterThan(9);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
    // What waits is an index of its own, read in the order in which it is told.
    const plans = (await Promise.all([...new Set(sent)].map(planOf))).flat().join("\n");
    expect(plans).toMatch(/SCAN e USING (?:COVERING )?INDEX events_untold\b/);
    expect(plans).toMatch(/SEARCH x USING COVERING INDEX events_untold_repo /);
    expect(plans).not.toMatch(/SCAN (?:x|h|a|hooks|announcements)\b/);
  });

  // Neither pages nor numbers of deliveries look at those of other hooks, or sort them.
  it.each([
    ["hook_deliveries_announcement", ""],
    ["hook_deliveries_by_status", "?status=failed"],
    ["hook_deliveries_by_event", "?event=push"],
    ["hook_deliveries_by_(?:status|event)", "?status=failed&event=push"],
  ])("by %s, for the deliveries of a hook%s", async (index, query) => {
    const hook = await makeHook({ level: "repository", repoId: repo.id, approverId: user.id });
    sent.length = 0;
    const answer = await call("GET", `${at()}/hooks/${hook.id}/deliveries${query}`, { as: user });
    expect(answer.status).toBe(200);
    const listing = [...new Set(sent)].filter((each) => each.includes('from "hook_deliveries"'));
    expect(listing).toHaveLength(2);
    for (const statement of listing) {
      const steps = (await planOf(statement)).join("\n");
      expect(steps).toMatch(
        new RegExp(`SEARCH hook_deliveries USING (?:COVERING )?INDEX ${index} `),
      );
      expect(steps).not.toContain("TEMP B-TREE");
      expect(steps).not.toMatch(/^SCAN/m);
    }
  });

  it("for deliveries that are shown, sent once more, or too old", async () => {
    const hook = await makeHook({ level: "repository", repoId: repo.id, approverId: user.id });
    const { id } = await makeKeptDelivery(hook);
    const path = `${at()}/hooks/${hook.id}/deliveries`;
    sent.length = 0;
    const since = { since: "2020-01-31T08:15:00Z" };
    const requests: [string, string, object?][] = [
      ["GET", `${path}/${id}`],
      ["POST", `${path}/${id}/attempts`],
      ["POST", `${path}/attempts`, since],
    ];
    await makeKeptDelivery(hook);
    for (const [method, each, json] of requests) {
      const answer = await call(method, each, { as: user, ...(json && { json }) });
      expect(answer.status).toBeLessThan(300);
    }
    await sweepDeliveries(systemCtx({ DB: listening }, Date.now()));
    await resealSecrets(systemCtx({ DB: listening }, Date.now(), { SEALING_KEYS }));
    expect(sent.length).toBeGreaterThan(9);
    // The oldest announcements are walked by their ids, as far as the limit.
    const isBounded = (scan: string) => /order by "announcements"\."id" asc limit \?/.test(scan);
    const scans = await fullScans([...new Set(sent)]);
    expect(scans.filter((scan) => !isBounded(scan))).toEqual([]);
  });

  it("for deliveries, which each hook finds by its own index", async () => {
    const { hook } = await makeReceivedHook("404", { failingSince: 1, failureCount: 9 });
    await makeDelivery(hook);
    sent.length = 0;
    await deliver([hook.id], undefined, {}, { DB: listening });
    await wakeQueues(systemCtx({ DB: listening }, 1));
    expect(await fullScans([...new Set(sent)])).toEqual([]);
    const steps = (await Promise.all([...new Set(sent)].map(planOf))).flat();
    const walks = steps.filter((step) => /^(SCAN|SEARCH) (d|hook_deliveries)\b/.test(step));
    expect(walks.length).toBeGreaterThan(5);
    for (const step of walks) {
      expect(step).toMatch(
        /INTEGER PRIMARY KEY|INDEX hook_deliveries_(by_status \(hook_id=\? AND status=\?|due\b)/,
      );
    }
  });

  it("for large files and their locks", async () => {
    const file = makeLargeFile("planned");
    sent.length = 0;
    const as = user;
    const id = String(Date.now());
    expect((await upload(as, repo, file, visit)).status).toBe(200);
    await askBatch(repo, "download", [file], { as }, visit);
    const asks: [string, string, object?][] = [
      ["GET", `objects/${file.oid}`],
      ["POST", "locks", { path: "a" }],
      ["GET", "locks?path=a&limit=1"],
      ["GET", `locks?id=${id}`],
      ["POST", "locks/verify", {}],
      ["POST", `locks/${id}/unlock`, {}],
    ];
    for (const [method, rest, json] of asks) {
      await askLfs(method, repo, rest, { as, ...(json && { json }) }, visit);
    }
    for (const network of [undefined, repo.networkName]) {
      await removeLooseFiles(systemCtx({ DB: listening }, Date.now()), network);
    }
    const fork = await call("POST", `${at()}/forks`, { as: await make.user(), json: {} });
    await call("DELETE", `/repos/${fork.body.full_name}`, { as: await make.admin() });
    expect(sent.length).toBeGreaterThan(15);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });
});
