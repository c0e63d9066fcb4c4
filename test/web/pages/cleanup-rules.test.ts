import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { ACCESS, auditEvents, packageCleanupRules } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeCleanupRule, makePackage, versionsOf } from "../../support/packages.ts";
import { doorsWith } from "../../support/service.ts";

const BAD = `"><script>alert(1)</script>`;
const OWN = "/user/settings/packages";

let owner: TestUser;
let browser: Browser;
let stranger: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  stranger = await Browser.signedIn(await make.userWithPassword());
});

const read = async (path: string, by = browser): Promise<string> => {
  const { status, body } = await by.get(path);
  expect(status, path).toBe(200);
  return String(body);
};

const rulesOf = ({ id }: { id: number }) =>
  db.select().from(packageCleanupRules).where(eq(packageCleanupRules.ownerId, id));

const FIELDS = {
  keep_count: "5",
  keep_pattern: "v1.*",
  remove_days: "30",
  remove_pattern: "",
  match_full_name: "on",
};

/** An organization with a team of administrators and one of readers. */
async function makeOrganization() {
  const org = await make.org([owner]);
  const [admin, member] = [await make.userWithPassword(), await make.userWithPassword()];
  await make.member(org, await make.team(org, { access: ACCESS.admin }), admin);
  await make.member(org, await make.team(org, { access: ACCESS.read }), member);
  const at = `/org/${org.name}/settings/packages`;
  return { org, admin: await Browser.signedIn(admin), member: await Browser.signedIn(member), at };
}

describe("the cleanup rules of an account", () => {
  it("are listed, made, edited and deleted", async () => {
    const user = await make.userWithPassword();
    const by = await Browser.signedIn(user);
    expect(await read(OWN, by)).toContain("all versions stay");
    const form = await read(`${OWN}/rules/add`, by);
    expect(form).toContain('<option value="npm">');
    // What a new rule deletes is looked at before it does so.
    expect(form).not.toMatch(/name="enabled"[^>]*checked/);
    const made = await by.submit(`${OWN}/rules/add`, { type: "npm", ...FIELDS });
    const [rule] = await rulesOf(user);
    expect(rule).toMatchObject({
      type: "npm",
      isEnabled: false,
      keepCount: 5,
      keepPattern: "v1.*",
      removeDays: 30,
      removePattern: "",
      matchesFullName: true,
    });
    const at = `${OWN}/rules/${rule?.id}`;
    expect([made.status, made.headers.get("location")]).toEqual([303, at]);
    expect(await read(OWN, by)).toMatch(
      /npm<[^]*Disabled[^]*Deletes what is older than 30 days, but keeps the newest 5 of each package and what matches v1\.\*\./,
    );
    expect(await read(`${OWN}/rules/add`, by)).not.toContain('<option value="npm">');

    const shown = await read(at, by);
    expect(shown).toMatch(/name="keep_pattern"[^>]*value="v1\.\*"/);
    expect(shown).toMatch(/name="match_full_name"[^>]*checked/);
    const edited = { ...FIELDS, action: "save", enabled: "on", keep_pattern: "" };
    expect((await by.submit(at, edited)).headers.get("location")).toBe(at);
    expect(await rulesOf(user)).toMatchObject([{ isEnabled: true, keepPattern: "" }]);
    expect(await read(OWN, by)).toMatch(/Enabled[^]*It runs next/);

    const removed = await by.submit(at, { action: "remove" });
    expect(removed.headers.get("location")).toBe(OWN);
    expect(await rulesOf(user)).toEqual([]);
    const audited = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));
    expect(audited.map(({ kind }) => kind).filter((kind) => kind.includes("cleanup"))).toEqual([
      "package_cleanup_rule.created",
      "package_cleanup_rule.edited",
      "package_cleanup_rule.deleted",
    ]);
  });

  it("say what they would delete now, and delete nothing by it", async () => {
    const user = await make.userWithPassword();
    const by = await Browser.signedIn(user);
    const pkg = await makePackage(user, { versions: ["1.0", "1.1", "2.0"] });
    const rule = await makeCleanupRule(user, {
      isEnabled: false,
      keepCount: 1,
      keepPattern: "1.0",
    });
    const preview = await read(`${OWN}/rules/${rule.id}/preview`, by);
    expect(preview).toContain("would delete 1 version now");
    expect(preview).toContain(`/${pkg.name}/1.1"`);
    expect(preview).not.toContain(`/${pkg.name}/2.0"`);
    expect(await versionsOf(pkg.id)).toEqual(["2.0", "1.1", "1.0"]);
    const other = await make.userWithPassword();
    const empty = await makeCleanupRule(other, {});
    const none = await Browser.signedIn(other);
    expect(await read(`${OWN}/rules/${empty.id}/preview`, none)).toContain("Nothing would be");
  });

  it("keep what was typed where it is refused", async () => {
    const user = await make.userWithPassword();
    const by = await Browser.signedIn(user);
    const taken = await makeCleanupRule(user, { type: "npm" });
    const before = await rulesOf(user);
    const whole = { ...FIELDS, type: "pypi" };
    for (const [fields, status, fault] of [
      [{ type: "none" }, 422, "type"],
      [{ type: "npm" }, 409, "type"],
      [{ keep_count: "-1" }, 422, "keep_count"],
      [{ keep_count: "1001" }, 422, "keep_count"],
      [{ remove_days: "36501" }, 422, "remove_days"],
      [{ remove_days: "a" }, 422, "remove_days"],
      [{ keep_pattern: "(" }, 422, "keep_pattern"],
      [{ remove_pattern: "a".repeat(256) }, 422, "remove_pattern"],
    ] as const) {
      const sent = { ...whole, keep_pattern: BAD, ...fields };
      const answer = await by.submit(`${OWN}/rules/add`, sent);
      expect(answer.status, JSON.stringify(fields)).toBe(status);
      expect(String(answer.body)).toMatch(new RegExp(`id="${fault}-fault"`));
      expect(String(answer.body)).not.toContain("<script>alert");
      expect(String(answer.body)).toMatch(/name="match_full_name"[^>]*checked/);
    }
    const at = `${OWN}/rules/${taken.id}`;
    expect((await by.submit(at, { ...FIELDS, keep_count: "x" })).status).toBe(422);
    expect(await rulesOf(user)).toEqual(before);
  });

  it("are their owner's alone", async () => {
    const rule = await makeCleanupRule(owner, { type: "go" });
    const before = await rulesOf(owner);
    for (const path of [OWN, `${OWN}/rules/add`, `${OWN}/rules/${rule.id}`]) {
      expect((await visit("GET", path)).headers.get("location")).toContain("/user/login");
    }
    const at = `${OWN}/rules/${rule.id}`;
    expect((await stranger.get(at)).status).toBe(404);
    expect((await stranger.get(`${at}/preview`)).status).toBe(404);
    for (const id of ["0", "x", "99999999"]) {
      expect((await browser.get(`${OWN}/rules/${id}`)).status).toBe(404);
    }
    const filled = { ...FIELDS, action: "remove" };
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(await read(OWN, stranger)) ?? [];
    expect((await stranger.post(at, { ...filled, _csrf: token })).status).toBe(404);
    expect((await browser.post(at, filled)).status).toBe(403);
    expect(await rulesOf(owner)).toEqual(before);
  });
});

describe("the cleanup rules of an organization", () => {
  it("are for those who administer its packages", async () => {
    const { org, admin, member, at } = await makeOrganization();
    expect(await read(`/org/${org.name}/settings`)).toContain(`href="${at}"`);
    expect(await read(`/${org.name}`, admin)).toContain(`href="${at}"`);
    for (const [n, by] of [browser, admin].entries()) {
      const type = ["npm", "go"][n] ?? "";
      const made = await by.submit(`${at}/rules/add`, { ...FIELDS, type });
      expect(made.status).toBe(303);
      expect(await read(at, by)).toContain(`<strong>${type}</strong>`);
    }
    const rules = await rulesOf(org);
    expect(rules).toHaveLength(2);
    const path = `${at}/rules/${rules[0]?.id}`;
    for (const by of [member, stranger]) {
      const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(await read(OWN, by)) ?? [];
      for (const each of [at, `${at}/rules/add`, path, `${path}/preview`]) {
        expect((await by.get(each)).status, each).toBe(404);
      }
      for (const each of [`${at}/rules/add`, path]) {
        const fields = { ...FIELDS, type: "pypi", action: "remove", _csrf: token };
        expect((await by.post(each, fields)).status, each).toBe(404);
      }
      expect(await read(`/${org.name}`, by)).not.toContain(at);
    }
    const anonymous = await visit("GET", at, { headers: { Accept: "text/html" } });
    expect(anonymous.headers.get("location")).toContain("/user/login");
    // A rule of another owner is none of the organization's.
    const foreign = await makeCleanupRule(owner, { type: "helm" });
    expect((await browser.get(`${at}/rules/${foreign.id}`)).status).toBe(404);
    expect(await rulesOf(org)).toEqual(rules);
    expect((await admin.submit(path, { action: "remove" })).headers.get("location")).toBe(at);
    expect(await rulesOf(org)).toHaveLength(1);
  });

  it("are none where packages are switched off", async () => {
    const { org, at } = await makeOrganization();
    const off = new Browser(doorsWith({ PACKAGES_ENABLED: "false" }));
    for (const [name, value] of browser.cookies) off.cookies.set(name, value);
    expect((await off.get(at)).status).toBe(404);
    expect((await off.get(OWN)).status).toBe(404);
    expect(String((await off.get(`/${org.name}`)).body)).not.toContain(at);
  });
});
