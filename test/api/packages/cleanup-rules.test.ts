import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  ACCESS,
  auditEvents,
  events,
  packageCleanupRules,
  type PackageCleanupRule,
} from "../../../src/db/schema/index.ts";
import { cleanUpPackages } from "../../../src/domain/packages/cleanup/run-cleanup.ts";
import { call } from "../../support/call.ts";
import { digestOf, indexOf, TestImage } from "../../support/container-images.ts";
import { db } from "../../support/db.ts";
import { failCalls, failing } from "../../support/faults.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makeCleanupRule, makePackage, versionsOf } from "../../support/packages.ts";
import { systemCtx } from "../../support/system.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const DAY_MS = 24 * 60 * 60 * 1000;

const rulesOf = ({ name }: { name: string }, rest = "") =>
  `/packages/${name}/-/cleanup-rules${rest}`;
const ruleRow = async ({ id }: { id: number }) => {
  const [row] = await db.select().from(packageCleanupRules).where(eq(packageCleanupRules.id, id));
  return row;
};

describe("cleanup rules", () => {
  it("are created, listed, edited and deleted, each with an entry of the audit log", async () => {
    const user = await make.user();
    const json = { type: "npm", keep_count: 3, keep_pattern: "v.+", remove_days: 7 };
    const created = await call("POST", rulesOf(user), { as: user, json });
    expect(created).toMatchObject({
      status: 201,
      body: { ...json, enabled: true, remove_pattern: "", match_full_name: false },
    });
    const path = rulesOf(user, `/${created.body.id}`);
    expect((await call("POST", rulesOf(user), { as: user, json })).status).toBe(409);
    const listed = await call("GET", rulesOf(user), { as: user });
    expect(listed.body).toEqual([created.body]);
    expect(listed.headers.get("X-Total-Count")).toBe("1");
    const edited = await call("PATCH", path, { as: user, json: { enabled: false } });
    expect(edited).toMatchObject({ status: 200, body: { ...json, enabled: false } });
    expect((await call("GET", path, { as: user })).body).toEqual(edited.body);
    expect((await call("DELETE", path, { as: user })).status).toBe(204);
    expect((await call("DELETE", path, { as: user })).status).toBe(404);
    const log = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));
    expect(log.map(({ kind, target }) => [kind, target])).toEqual([
      ["package_cleanup_rule.created", "npm"],
      ["package_cleanup_rule.edited", "npm"],
      ["package_cleanup_rule.deleted", "npm"],
    ]);
  });

  it.each([
    ["keep_pattern", "("],
    ["remove_pattern", "a)|(b"],
    ["remove_pattern", "(a{999}){999}"],
    ["type", "no-such-type"],
    ["keep_count", 1001],
    ["remove_days", -1],
  ])("are refused with %s = %s, and nothing is stored", async (field, value) => {
    const user = await make.user();
    const json = { type: "npm", [field]: value };
    const answer = await call("POST", rulesOf(user), { as: user, json });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain(`[${field}]`);
    expect((await call("GET", rulesOf(user), { as: user })).body).toEqual([]);
  });

  it("are for administrators of the owner's packages, each under its own owner", async () => {
    const org = await make.org([owner]);
    const [writer, admin] = [await make.user(), await make.user()];
    await make.member(org, await make.team(org, { access: 0, units: { packages: 2 } }), writer);
    await make.member(org, await make.team(org, { access: ACCESS.admin }), admin);
    const rule = await makeCleanupRule(org, { isEnabled: false });
    const path = rulesOf(org, `/${rule.id}`);
    for (const as of [other, writer]) {
      for (const [method, at] of [
        ["GET", path],
        ["PATCH", path],
        ["DELETE", path],
        ["GET", `${path}/preview`],
        ["GET", rulesOf(org)],
      ] as const) {
        const sent = method === "PATCH" ? { as, json: { enabled: true } } : { as };
        expect((await call(method, at, sent)).status, `${method} ${at}`).toBe(403);
      }
    }
    const bound = await make.token(owner, { packages: ["**"] });
    expect((await call("DELETE", path, { token: bound })).status).toBe(403);
    expect((await call("GET", rulesOf(owner, `/${rule.id}`), { as: owner })).status).toBe(404);
    expect((await call("DELETE", rulesOf(owner, `/${rule.id}`), { as: owner })).status).toBe(404);
    expect(await ruleRow(rule)).toMatchObject({ isEnabled: false });
    expect((await call("GET", path, { as: admin })).status).toBe(200);
  });
});

/** Applies all rules that are due, when every test's rule is. */
const run = (now = Date.now()): Promise<void> => cleanUpPackages(systemCtx({}, now));

/**
 * The versions that are left of a package to which a rule was applied, after a preview that says
 * the same.
 */
async function leftAfter(
  fields: Partial<PackageCleanupRule>,
  versions: readonly string[],
  options: { type?: "container"; createdAt?: number } = {},
): Promise<string[]> {
  const user = await make.user();
  const pkg = await makePackage(user, { name: freshName("pkg"), versions, ...options });
  const rule = await makeCleanupRule(user, { type: options.type ?? "generic", ...fields });
  const preview = await call("GET", rulesOf(user, `/${rule.id}/preview?limit=50`), { as: user });
  expect(preview.status).toBe(200);
  const announced = (preview.body as { version: string }[]).map(({ version }) => version);
  expect(preview.headers.get("X-Total-Count")).toBe(String(announced.length));
  expect(await versionsOf(pkg.id)).toHaveLength(versions.length);
  await run();
  const left = (await versionsOf(pkg.id)).toReversed();
  expect(left).toEqual(versions.filter((each) => !announced.includes(each)));
  return left;
}

describe("a cleanup rule", () => {
  it.each([
    ["removes everything without conditions", {}, []],
    ["keeps the newest versions", { keepCount: 2 }, ["v2", "rc-1"]],
    ["keeps all of a package with fewer", { keepCount: 9 }, ["1.0", "v1", "v2", "rc-1"]],
    ["keeps what its pattern matches, in any case", { keepPattern: "V.+" }, ["v1", "v2"]],
    ["matches as a whole", { removePattern: "v" }, ["1.0", "v1", "v2", "rc-1"]],
    ["removes what its pattern matches", { removePattern: "v.+|rc.*" }, ["1.0"]],
    [
      "keeps rather than removes",
      { keepPattern: "v2", removePattern: "v.+" },
      ["1.0", "v2", "rc-1"],
    ],
    [
      "matches names too",
      { matchesFullName: true, removePattern: "pkg-.+/v1" },
      ["1.0", "v2", "rc-1"],
    ],
    [
      "does nothing while it is disabled by its time",
      { removeDays: 10 },
      ["1.0", "v1", "v2", "rc-1"],
    ],
  ] as [string, Partial<PackageCleanupRule>, string[]][])("%s", async (_, fields, left) => {
    const createdAt = Date.now() - 5 * DAY_MS;
    expect(await leftAfter(fields, ["1.0", "v1", "v2", "rc-1"], { createdAt })).toEqual(left);
  });

  it("removes what is older than its days", async () => {
    const createdAt = Date.now() - 11 * DAY_MS;
    expect(await leftAfter({ removeDays: 10 }, ["1", "2"], { createdAt })).toEqual([]);
  });

  it("keeps the tag latest of an image, and counts tags only", async () => {
    const untagged = `sha256:${"a".repeat(64)}`;
    const versions = ["latest", "1", "2", untagged];
    expect(await leftAfter({ keepCount: 1 }, versions, { type: "container" })).toEqual([
      "latest",
      "2",
      untagged,
    ]);
    expect(await leftAfter({}, versions, { type: "container" })).toEqual(["latest"]);
  });

  it("keeps an untagged manifest that an index names, and removes one that none names", async () => {
    const user = await make.user();
    const image = new TestImage(user, freshName("image"), user);
    const named = await image.push("digest", { layers: ["named"] });
    const loose = await image.push("digest", { layers: ["loose"] });
    expect((await image.publish("all", indexOf([named]))).status).toBe(201);
    await makeCleanupRule(user, { type: "container", keepPattern: "all" });
    await run();
    const statuses: number[] = [];
    for (const reference of ["all", digestOf(named), digestOf(loose)]) {
      statuses.push((await image.get(`manifests/${reference}`)).status);
    }
    expect(statuses).toEqual([200, 200, 404]);
    expect((await image.get(`blobs/${digestOf("named")}`)).status).toBe(200);
  });

  it("records each deletion, and is due again the next day", async () => {
    const user = await make.user();
    const pkg = await makePackage(user, { versions: ["1", "2"] });
    const rule = await makeCleanupRule(user);
    const disabled = await makeCleanupRule(user, { type: "npm", isEnabled: false });
    const kept = await makePackage(user, { type: "npm" });
    const now = Date.now();
    await run(now);
    expect(await versionsOf(kept.id)).toEqual(["1.0"]);
    expect(await ruleRow(disabled)).toMatchObject({ nextRunAt: 1000 });
    expect(await ruleRow(rule)).toMatchObject({ nextRunAt: now + DAY_MS, reachedPackageId: 0 });
    const recorded = await db.select().from(events).where(eq(events.ownerId, user.id));
    expect(
      recorded.map(({ type, payload, actorId }) => [type, payload["version"], actorId]),
    ).toEqual([
      ["package.deleted", "1", 0],
      ["package.deleted", "2", 0],
    ]);
    expect(recorded[0]?.payload["packageId"]).toBe(pkg.id);
    await makePackage(user);
    await run(now + 1000);
    expect(
      (await call("GET", `/packages/${user.name}?type=generic`, { as: user })).body,
    ).toHaveLength(1);
  });

  it("goes through packages and versions of more than one step", async () => {
    const user = await make.user();
    const many = await makePackage(user, {
      versions: Array.from({ length: 250 }, (_, at) => `v${at}`),
    });
    const others = [];
    for (let at = 0; at < 25; at++) others.push(await makePackage(user, { versions: ["v1", "1"] }));
    await makeCleanupRule(user, { removePattern: "v.*" });
    await run();
    expect(await versionsOf(many.id)).toEqual([]);
    for (const each of others) expect(await versionsOf(each.id)).toEqual(["1"]);
  });

  // A Worker may die after any call; the next run of the schedule goes on.
  it("loses nothing when a call of D1 fails", async () => {
    const calls = await failCalls(async (fault) => {
      const user = await make.user();
      const pkg = await makePackage(user, { versions: ["v1", "v2", "1"] });
      const rule = await makeCleanupRule(user, { removePattern: "v.*" });
      const faults = failing(fault);
      await cleanUpPackages(systemCtx(faults.bindings, Date.now())).catch(() => undefined);
      expect(await versionsOf(pkg.id)).toContain("1");
      await run(Date.now() + 2 * DAY_MS);
      expect(await versionsOf(pkg.id)).toEqual(["1"]);
      await db.delete(packageCleanupRules).where(eq(packageCleanupRules.id, rule.id));
      return faults;
    });
    expect(calls).toBeGreaterThan(4);
  });
});
