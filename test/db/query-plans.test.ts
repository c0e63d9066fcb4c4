import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  events,
  follows,
  hookDeliveries,
  issues,
  timelineEntries,
} from "../../src/db/schema/index.ts";
import { runConsequences } from "../../src/domain/operations/consequences/run-consequences.ts";
import { resealSecrets } from "../../src/domain/exchange/webhooks/hooks/reseal-secrets.ts";
import { sweepDeliveries } from "../../src/domain/exchange/webhooks/delivery/sweep-deliveries.ts";
import { dispatchEvents } from "../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { requeueDue } from "../../src/domain/exchange/webhooks/delivery/requeue-due.ts";
import { purgeApplications } from "../../src/domain/people/oauth/purge-applications.ts";
import { purgeGrants } from "../../src/domain/people/oauth/purge-grants.ts";
import { removeLooseFiles } from "../../src/domain/code/lfs/remove-loose-files.ts";
import { pushOf, recordEvent } from "../support/activities.ts";
import { Browser } from "../support/browser.ts";
import type { Sending } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { drawConsequences, pushQuietly } from "../support/consequences.ts";
import { db } from "../support/db.ts";
import { deliver, makeDelivery, makeReceivedHook } from "../support/deliveries.ts";
import { makeHook, makeKeptDelivery } from "../support/hooks.ts";
import { makeComment, makeIssue } from "../support/issues.ts";
import { makeSshKey } from "../support/keys.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import {
  clientFields,
  exchange,
  makeApplication,
  makeCodeFor,
  postForm,
} from "../support/oauth.ts";
import { storePush } from "../support/push.ts";
import { makeSignedCommit } from "../support/signed.ts";
import { askBatch, askLfs, makeLargeFile, upload } from "../support/large-files.ts";
import { fullScans, planOf } from "../support/full-scans.ts";
import { sampleOf } from "../support/sample.ts";
import { byId, isRead, sampled } from "../support/samples/gather.ts";
import { allRequestsIn } from "../support/samples/request.ts";
import { makeOnce, World } from "../support/samples/world.ts";
import { doorsWith, serviceWith } from "../support/service.ts";
import { systemCtx } from "../support/system.ts";
import { endKept } from "../support/usage.ts";
import { watchedDatabase } from "../support/watched-database.ts";

/** All statements that the service below sends to D1. */
const sent: string[] = [];
const listening = watchedDatabase({ onPrepare: (statement) => void sent.push(statement) });
const call = serviceWith({}, { DB: listening });
const visit = doorsWith({}, { DB: listening });

const SEALING_KEYS = `new:${"A".repeat(43)}=,old:${"B".repeat(42)}A=`;

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

describe("the check of query plans", () => {
  it.each([
    ["a table by its name", "select * from users where name = ?", "SCAN users of users"],
    ["an alias", "select * from events e where e.payload = ?", "SCAN e of events"],
    [
      "an alias of a subquery",
      "select * from (select x.id from hooks as x where x.url = ?) limit 1",
      "of hooks",
    ],
    [
      "a table in a subquery",
      "select id from users where id = ? and exists (select 1 from hooks h where h.url = ?)",
      "of hooks",
    ],
    [
      "a common table expression",
      "with w as (select * from watches where created_at = ?) select * from w",
      "SCAN watches of watches",
    ],
    ["a count by an index", "select count(*) from users", "SCAN users USING COVERING INDEX"],
    ["an update", "update topics set name = ? where updated_at = ?", "SCAN topics of topics"],
  ])("reports a full table scan: %s", async (_, statement, found) => {
    expect(await fullScans([statement])).toEqual([expect.stringContaining(found)]);
  });

  it.each([
    ["a page in the order of an index", "select * from users order by lower_name limit 2"],
    ["what is nothing", "select count(*) from users where id in (select id from users where 0)"],
    ["a key", "select * from users where id = ?"],
    ["values", "with v(a) as (values (?), (?)) select * from v"],
    ["a list in JSON", "select j.value from json_each(?) j"],
  ])("accepts %s", async (_, statement) => {
    expect(await fullScans([statement])).toEqual([]);
  });
});

describe("no growing table is scanned", () => {
  const world = new World();

  it.each(byId(sampled.filter(isRead)))("by %s", async (_, operation) => {
    const requests = await allRequestsIn(world, operation);
    const sendings = sampleOf<Sending>(
      [
        {},
        { as: await world.user() },
        { as: await callers.restricted() },
        { as: await world.admin() },
        { token: await callers.publicOnly() },
        { token: await callers.bound() },
      ],
      2,
      operation.id,
    );
    const statuses: number[] = [];
    for (const { method, path, content, caller } of requests) {
      sent.length = 0;
      const send = async (sending: Sending) => {
        await endKept();
        return call(method, path, { ...sending, ...content });
      };
      statuses.push((await send({ as: caller })).status);
      for (const sending of sendings) await send(sending);
      expect(sent.length, path).toBeGreaterThan(0);
      expect(await fullScans([...new Set(sent)]), path).toEqual([]);
    }
    const [status = 0] = statuses;
    const expected = operation.sample.refusal?.status ?? "success";
    expect(status >= 200 && status < 300 ? "success" : status).toBe(expected);
  });

  const callers = {
    restricted: makeOnce(() => make.user({ isRestricted: true })),
    publicOnly: makeOnce(async () => make.token(await world.user(), { scopes: "public-only,all" })),
    bound: makeOnce(async () => make.token(await world.user(), { repos: [await world.repo()] })),
  };

  it("by a list of signed commits", async () => {
    sent.length = 0;
    const { body } = await call("GET", `${at()}/commits`, { as: user });
    expect(body).toHaveLength(1);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });

  // The order comes from the index: a page reads only the rows it returns, however many events
  // there are.
  it.each([
    ["events_repo", () => `${at()}/events`],
    ["events_owner", () => "/user/events"],
    ["events_activity_repo", () => `${at()}/activities/feeds`],
    ["events_activity_owner", () => "/teams/1/activities/feeds"],
    ["events_activity_actor", () => `/users/${user.name}/activities/feeds?only-performed-by=true`],
    ["events_activity_repo", () => `/users/${user.name}/activities/feeds`],
    ["events_activity_actor", () => `/users/${user.name}/heatmap`],
  ])("by %s, for a feed or an event list", async (index, path) => {
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

  it("for writes", async () => {
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

  it("for webhooks and their recipients", async () => {
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

  it("for pending dispatches, their recipients, and due deliveries", async () => {
    // A time in the future, after every dispatch that the queue makes by itself.
    const now = Date.now() + 1_000_000_000;
    const { id } = await makeHook({ level: "repository", approverId: user.id, repoId: repo.id });
    await recordEvent(repo, user, "repository.pushed", pushOf("refs/heads/main"), now, now);
    sent.length = 0;
    const ctx = systemCtx({ DB: listening }, now);
    await dispatchEvents(ctx);
    await requeueDue(ctx);
    expect(await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id))).not.toEqual(
      [],
    );
    expect(sent.length).toBeGreaterThan(9);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
    // Pending events have their own index, read in the order of dispatch.
    const plans = (await Promise.all([...new Set(sent)].map(planOf))).flat().join("\n");
    expect(plans).toMatch(/SCAN due USING INDEX events_pending\b/);
    expect(plans).toMatch(/SEARCH earlier USING INDEX events_leased \(repo_id=\? AND rowid<\?\)/);
    expect(plans).not.toMatch(/SCAN (?:earlier|hooks|webhook_events)\b/);
  });

  it("for pending consequences, and the references that they find", async () => {
    const now = Date.now() + 1_000_000_000;
    // What other tests have left would use up the budget of the run.
    await drawConsequences(undefined, now);
    const [target, source] = [await makeIssue(repo), await makeIssue(repo)];
    const text = `closes #${target.number}, see ${repo.owner}/${repo.name}#${target.number} @${user.name}`;
    const comment = await makeComment(source, { body: text });
    await db.update(issues).set({ body: text }).where(eq(issues.id, source.id));
    const history = new History();
    const message = `closes ${repo.owner}/${repo.name}#${target.number} @1h\n`;
    const oid = history.commit({ message });
    const other = await make.repo(user);
    await pushQuietly(user, other, [{ ref: "refs/heads/main", new: oid }], history.build());
    const fields = { actorId: user.id, ownerId: user.id, repoId: repo.id, createdAt: now };
    const subject = { issueId: source.id, number: source.number, isPull: false };
    await db.insert(events).values([
      { ...fields, type: "issue.edited", payload: { ...subject, from: {} }, consequencesAt: now },
      {
        ...fields,
        type: "comment.edited",
        payload: { ...subject, commentId: comment.id, from: "" },
        consequencesAt: now,
      },
    ]);
    sent.length = 0;
    await runConsequences(systemCtx({ DB: listening }, now + 1));
    const entries = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, target.id));
    expect(entries.map(({ kind }) => kind).toSorted()).toEqual([
      "add_time_manual",
      "close",
      "comment_ref",
      "commit_ref",
      "issue_ref",
    ]);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
    const plans = (await Promise.all([...new Set(sent)].map(planOf))).flat().join("\n");
    expect(plans).toMatch(/SCAN due USING INDEX events_pending\b/);
    expect(plans).toMatch(/SEARCH earlier USING INDEX events_leased \(repo_id=\? AND rowid<\?\)/);
  });

  // Neither pages nor counts of deliveries read or sort the deliveries of other hooks.
  it.each([
    ["hook_deliveries_hook", ""],
    ["hook_deliveries_hook", "?status=succeeded"],
    ["hook_deliveries_failed", "?status=failed"],
    ["hook_deliveries_hook", "?event=push"],
    ["hook_deliveries_failed", "?status=failed&event=push"],
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

  it("for changes of issues that hooks receive, and for references in rendered text", async () => {
    const now = Date.now() + 2_000_000_000;
    await dispatchEvents(systemCtx({}, now));
    const { id } = await makeHook({
      level: "repository",
      approverId: user.id,
      repoId: repo.id,
      events: ["issues", "issue_comment", "issue_label"],
    });
    const issue = await makeIssue(repo);
    const comment = await makeComment(issue);
    const of = { issueId: issue.id, number: issue.number, isPull: false };
    await recordEvent(repo, user, "issue.labeled", { ...of, added: [1], removed: [2] }, now, now);
    await recordEvent(repo, user, "comment.created", { ...of, commentId: comment.id }, now, now);
    sent.length = 0;
    await dispatchEvents(systemCtx({ DB: listening }, now));
    const name = `${repo.owner}/${repo.name}`;
    const Text = `#${issue.number} ${name}#${issue.number} abcdef1 ${name}@abcdef1 @${user.name}`;
    const json = { Text, Mode: "comment", Context: name };
    expect((await call("POST", "/markdown", { as: user, json })).body).toContain("ref-issue");
    expect(
      await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id)),
    ).toHaveLength(2);
    expect(sent.some((text) => /json_each\(\?\d*\) lookup/.test(text))).toBe(true);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });

  it("for deliveries that are shown, redelivered, or purged", async () => {
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
    // The oldest webhook events are read in the order of their ids, up to the limit.
    const isBounded = (scan: string) => /order by "webhook_events"\."id" asc limit \+\?/.test(scan);
    const scans = await fullScans([...new Set(sent)]);
    expect(scans.filter((scan) => !isBounded(scan))).toEqual([]);
  });

  it("for deliveries, which each hook finds by its own index", async () => {
    const { hook } = await makeReceivedHook("404", { failingSince: 1, failureCount: 9 });
    await makeDelivery(hook);
    sent.length = 0;
    await deliver([hook.id], undefined, {}, { DB: listening });
    await requeueDue(systemCtx({ DB: listening }, 1));
    expect(await fullScans([...new Set(sent)])).toEqual([]);
    const steps = (await Promise.all([...new Set(sent)].map(planOf))).flat();
    const walks = steps.filter((step) => /^(SCAN|SEARCH) (d|hook_deliveries)\b/.test(step));
    expect(walks.length).toBeGreaterThan(5);
    for (const step of walks) {
      expect(step).toMatch(/INTEGER PRIMARY KEY|INDEX hook_deliveries_due\b/);
    }
  });

  it("for LFS files and locks", async () => {
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

  it("for grants of OAuth and their tokens", async () => {
    const owner = await make.userWithPassword();
    const application = await makeApplication(owner);
    const browser = await Browser.signedIn(owner, visit);
    const code = await makeCodeFor(owner, application, { scope: "email groups openid read:user" });
    const client = clientFields(application);
    sent.length = 0;
    const { body } = await exchange(application, code, {}, visit);
    const token = body.access_token;
    const refresh = { ...client, grant_type: "refresh_token", refresh_token: body.refresh_token };
    const answers = [
      await visit("GET", "/login/oauth/userinfo", {
        headers: { Authorization: `Bearer ${token}` },
      }),
      await postForm("introspect", { ...client, token }, {}, visit),
      await postForm("introspect", { ...client, token: body.refresh_token }, {}, visit),
      await postForm("access_token", refresh, {}, visit),
      await postForm("revoke", { ...client, token }, {}, visit),
      await browser.get(
        `/login/oauth/authorize?${new URLSearchParams({ ...client, response_type: "code" })}`,
      ),
      await browser.get("/user/settings/applications"),
      await browser.submit("/user/settings/applications", {}, "/user/settings/applications/revoke"),
      await postForm("revoke", { ...client, token: body.refresh_token }, {}, visit),
    ];
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
    const system = systemCtx({ DB: listening }, Date.now());
    await purgeGrants(system);
    await purgeApplications(system);
    expect(sent.length).toBeGreaterThan(15);
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });
});
