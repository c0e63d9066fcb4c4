import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { auditEvents } from "../../../../src/db/schema/index.ts";
import { sweepAudit } from "../../../../src/domain/people/audit/sweep-audit.ts";
import { auditKindsOf, auditOf } from "../../../support/audit.ts";
import { call, type Sending } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { makeSshKey } from "../../../support/keys.ts";
import { freshName, make, type TestUser } from "../../../support/make.ts";
import { doorsWith, serviceWith } from "../../../support/service.ts";
import { systemCtx } from "../../../support/system.ts";

const ADDRESS = "203.0.113.7";
/** Waits for deferred writes, which sign-ins are. */
const serve = serviceWith({});
const visit = doorsWith({});

const basic = (name: string, password: string): Sending => ({
  headers: {
    Authorization: `Basic ${btoa(`${name}:${password}`)}`,
    "CF-Connecting-IP": ADDRESS,
  },
});

describe("an entry of the audit log", () => {
  it("says who did what, with which credential, from where, and in which request", async () => {
    const user = await make.user();
    const answer = await call("POST", `/users/${user.name}/tokens`, {
      as: user,
      headers: { "CF-Connecting-IP": ADDRESS },
      json: { name: "laptop", scopes: ["read:user"] },
    });
    expect(answer.status).toBe(201);

    expect(await auditOf(user)).toMatchObject([
      {
        kind: "access_token.created",
        actorId: user.id,
        actorName: user.name,
        sudoerId: null,
        credential: "token",
        tokenId: expect.any(Number),
        ownerId: user.id,
        ownerName: user.name,
        target: "laptop",
        details: {
          tokenId: answer.body.id,
          scopes: "read:user",
          expiresAt: null,
          repositories: null,
        },
        address: ADDRESS,
        requestId: answer.headers.get("X-Request-Id"),
      },
    ]);
  });

  // A log that named the user would accuse them of what an administrator did.
  it("names the administrator who acts as a user by sudo", async () => {
    const admin = await make.admin();
    const user = await make.user();
    await call("POST", "/user/emails", {
      as: admin,
      headers: { Sudo: user.name },
      json: { emails: [`${freshName("mail")}@example.com`] },
    });
    expect(await auditOf(user)).toMatchObject([
      { kind: "email.added", actorId: user.id, sudoerId: admin.id, sudoerName: admin.name },
    ]);
  });

  it("is not written for a refused request", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "read:user" });
    const refused = await call("POST", "/user/emails", {
      token,
      json: { emails: ["a@b.example"] },
    });
    expect(refused.status).toBe(403);
    const taken = await call("POST", "/user/emails", { as: user, json: { emails: [user.email] } });
    expect(taken.status).toBe(422);
    expect(await auditOf(user)).toEqual([]);
  });

  it("is not written where the log is switched off", async () => {
    const user = await make.user();
    const service = serviceWith({ AUDIT_ENABLED: "false" });
    const json = { emails: [`${freshName("mail")}@example.com`] };
    expect((await service("POST", "/user/emails", { as: user, json })).status).toBe(201);
    expect(await auditOf(user)).toEqual([]);
  });
});

describe("the audit log records", () => {
  it("tokens, with those that end with one, in the accounts of both", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const path = (of: TestUser) => `/users/${of.name}/tokens`;
    const json = { name: "first", scopes: ["all"] };
    const { body: first } = await call("POST", path(admin), { as: admin, json });
    await call("POST", path(user), {
      token: first.sha1,
      json: { name: "second", scopes: ["read:user"] },
    });
    await call("DELETE", `${path(admin)}/first`, { as: admin });

    expect((await auditOf(admin)).map(({ kind, target }) => [kind, target])).toEqual([
      ["access_token.created", "first"],
      ["access_token.deleted", "first"],
    ]);
    expect((await auditOf(user)).map(({ kind, target }) => [kind, target])).toEqual([
      ["access_token.created", "second"],
      ["access_token.deleted", "second"],
    ]);
  });

  it("keys of accounts and of repositories", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const key = { title: "k", key: makeSshKey().line };
    const { body } = await call("POST", "/user/keys", { as: user, json: key });
    await call("DELETE", `/user/keys/${body.id}`, { as: user });
    const keys = `/repos/${user.name}/${repo.name}/keys`;
    const { body: deployed } = await call("POST", keys, { as: user, json: key });
    await call("DELETE", `${keys}/${deployed.id}`, { as: user });
    expect(await auditOf(user)).toMatchObject([
      { kind: "public_key.added", target: body.fingerprint, repoId: null },
      { kind: "public_key.removed" },
      { kind: "deploy_key.added", repoId: repo.id, repoName: `${user.name}/${repo.name}` },
      { kind: "deploy_key.removed" },
    ]);
  });

  it("members of teams, in the log of the organization, and for the member", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org);
    const path = `/teams/${team.id}/members/${member.name}`;
    for (const method of ["PUT", "PUT", "DELETE", "DELETE"]) {
      await call(method, path, { as: owner });
    }
    const entries = [
      { kind: "team.member_added", ownerId: org.id, userId: member.id, target: team.name },
      { kind: "team.member_removed", ownerId: org.id, userId: member.id, userName: member.name },
    ];
    expect(await auditOf(org)).toMatchObject(entries);
    expect(await auditOf(member)).toMatchObject(entries);
  });

  it("repositories: created, edited, renamed, hidden and deleted, by name", async () => {
    const user = await make.user();
    await call("POST", "/user/repos", { as: user, json: { name: "one" } });
    const path = `/repos/${user.name}`;
    await call("PATCH", `${path}/one`, { as: user, json: { name: "two", private: true } });
    await call("DELETE", `${path}/two`, { as: user });
    expect(await auditOf(user)).toMatchObject([
      { kind: "repository.created", repoName: `${user.name}/one` },
      { kind: "repository.edited", details: { changed: ["isPrivate", "name"] } },
      { kind: "repository.renamed", details: { from: "one", to: "two" } },
      { kind: "repository.visibility_changed", details: { isPrivate: true } },
      { kind: "repository.deleted", target: `${user.name}/two` },
    ]);
  });

  it("roles and restrictions that an administrator sets, apart from other edits", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const edit = (json: object) => call("PATCH", `/admin/users/${user.name}`, { as: admin, json });
    await edit({ full_name: "Somebody" });
    await edit({ admin: true, prohibit_login: true });
    expect(await auditOf(user)).toMatchObject([
      { kind: "user.edited", actorId: admin.id, details: { changed: ["fullName"] } },
      { kind: "user.edited" },
      { kind: "user.role_changed", details: { isAdmin: true, isLoginProhibited: true } },
    ]);
  });

  // SECURITY: administrators and owners of organizations read the log.
  it("no secret", async () => {
    const user = await make.userWithPassword({ isAdmin: true });
    const password = freshName("Secret-password");
    const { body: token } = await call("POST", `/users/${user.name}/tokens`, {
      as: user,
      json: { name: "t", scopes: ["all"] },
    });
    await call("PATCH", `/admin/users/${user.name}`, { as: user, json: { password } });
    const config = {
      url: "https://hooks.example/services/secret-path",
      content_type: "json",
      secret: "secret-of-the-hook",
    };
    const sealing = serviceWith({ SEALING_KEYS: `a:${"A".repeat(43)}=` });
    const hook = await sealing("POST", "/user/hooks", {
      as: user,
      json: { type: "gitea", config, authorization_header: "Bearer secret-header" },
    });
    expect(hook.status).toBe(201);
    await serve("GET", "/user", basic(user.name, `${password}-wrong`));
    await serve("GET", "/user", basic(`${password}-as-name`, "x"));

    const entries = await db.select().from(auditEvents).where(eq(auditEvents.actorId, user.id));
    expect(entries.map(({ kind }) => kind)).toEqual([
      "access_token.created",
      "user.edited",
      "hook.created",
    ]);
    const text = JSON.stringify(await db.select().from(auditEvents));
    const ofTheHook = ["secret-path", "secret-of-the-hook", "secret-header"];
    for (const secret of [password, token.sha1, ...ofTheHook, "Bearer"]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("sign-ins by password", () => {
  it("are recorded once an hour for each address", async () => {
    const user = await make.userWithPassword();
    const sent = basic(user.name, user.password);
    expect((await serve("GET", "/user", sent)).status).toBe(200);
    await serve("GET", "/user", sent);
    // Through another door, whose isolate may not know of the first.
    await visit("GET", `/${user.name}/none.git/info/refs?service=git-upload-pack`, sent);
    expect(await auditOf(user)).toMatchObject([
      {
        kind: "sign_in.succeeded",
        actorId: user.id,
        credential: "basic",
        address: ADDRESS,
        details: { by: "password" },
      },
    ]);
  });

  it("that fail are recorded for the account, and without the name as sent", async () => {
    const user = await make.userWithPassword();
    await serve("GET", "/user", basic(user.name, "wrong"));
    expect(await auditOf(user)).toMatchObject([
      { kind: "sign_in.failed", actorId: 0, actorName: "", address: ADDRESS, target: "" },
    ]);
  });

  it("of an account that is prohibited from it are recorded as refused", async () => {
    const user = await make.userWithPassword({ isLoginProhibited: true });
    const answer = await serve("GET", "/user", basic(user.name, user.password));
    expect(answer.status).toBe(403);
    expect(await auditOf(user)).toMatchObject([
      { kind: "sign_in.refused", details: { because: "prohibited" } },
    ]);
  });

  // A flood of wrong passwords must not become a flood of writes.
  it("that fail are not recorded beyond the limit of wrong passwords", async () => {
    const user = await make.userWithPassword();
    const limiter = (countMax: number) => {
      let count = 0;
      return { limit: () => Promise.resolve({ success: ++count <= countMax }) };
    };
    const limited = serviceWith(
      {},
      { SIGN_IN_ACCOUNT_FAILURES: limiter(2), SIGN_IN_ADDRESS_FAILURES: limiter(100) },
    );
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      statuses.push((await limited("GET", "/user", basic(user.name, `wrong-${attempt}`))).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
    expect(await auditKindsOf(user)).toEqual(Array(3).fill("sign_in.failed"));
  });
});

describe("the retention of the audit log", () => {
  const DAY_MS = 24 * 60 * 60 * 1000;

  it("deletes expired entries in bounded steps, and keeps the others", async () => {
    const user = await make.user();
    const now = Date.now();
    const row = {
      kind: "email.added",
      actorId: user.id,
      actorName: user.name,
      credential: "token",
      ownerId: user.id,
      ownerName: user.name,
      details: {},
      requestId: "",
    };
    const ages = [...Array(25).fill(31), 29, 0];
    for (const days of ages) {
      await db.insert(auditEvents).values({ ...row, createdAt: now - days * DAY_MS });
    }
    const ctx = systemCtx({ DB: env.DB }, now, { AUDIT_DAYS: "30" });
    await sweepAudit(ctx, 2);
    expect((await auditOf(user)).length).toBe(27 - 20);
    await sweepAudit(ctx, 2);
    expect((await auditOf(user)).map(({ createdAt }) => (now - createdAt) / DAY_MS)).toEqual([
      29, 0,
    ]);
  });
});
