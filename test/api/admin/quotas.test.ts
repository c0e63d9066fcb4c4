import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accessTokens, attachments, users } from "../../../src/db/schema/index.ts";
import { auditKindsOf } from "../../support/audit.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { makeLargeFile, objectsOf, upload } from "../../support/large-files.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makeCommit, push, refsOf } from "../../support/push.ts";
import { serviceWith } from "../../support/service.ts";

const quotaOf = (name: string): string => `/admin/users/${name}/quota`;

const limit = async (account: { name: string }, json: object): Promise<void> => {
  const admin = await make.admin();
  const { status } = await call("PATCH", quotaOf(account.name), { as: admin, json });
  expect(status).toBe(200);
};

const rowOf = async ({ id }: { id: number }) =>
  (await db.select().from(users).where(eq(users.id, id)))[0];

describe("/admin/users/{username}/quota", () => {
  it("shows what an account has and may have, and limits it", async () => {
    const admin = await make.admin();
    const user = await make.user();
    await make.repo(user, { sizeBytes: 1000, lfsSizeBytes: 200, wikiSizeBytes: 30 });
    const repo = await make.repo(user, { sizeBytes: 4 });
    await db.insert(attachments).values({
      uuid: crypto.randomUUID(),
      repoId: repo.id,
      name: "a.txt",
      sizeBytes: 10_000,
      createdAt: 1000,
    });
    const used = { repositories: 2, bytes: 11_234, tokens: 1 };
    const shown = await call("GET", quotaOf(user.name), { as: admin });
    expect(shown).toMatchObject({
      status: 200,
      body: {
        repositories: { limit: -1, used: used.repositories },
        bytes: { limit: -1, used: used.bytes },
        tokens: { limit: -1, used: used.tokens },
      },
    });
    const json = { repositories: 3, bytes: 20_000, tokens: 0 };
    const limited = await call("PATCH", quotaOf(user.name), { as: admin, json });
    expect(limited.body).toMatchObject({
      repositories: { limit: 3, used: 2 },
      bytes: { limit: 20_000, used: 11_234 },
      tokens: { limit: 0, used: 1 },
    });
    const kept = await call("PATCH", quotaOf(user.name), { as: admin, json: { bytes: -1 } });
    expect(kept.body).toMatchObject({ bytes: { limit: -1 }, tokens: { limit: 0 } });
    await call("PATCH", quotaOf(user.name), { as: admin, json: { repositories: -1, tokens: -1 } });
    expect(await rowOf(user)).toMatchObject({ quota: null, repoCountMax: -1 });
    expect(await auditKindsOf(user)).toEqual(["user.edited", "user.edited", "user.edited"]);
  });

  it("is for organizations, too", async () => {
    const org = await make.org([await make.user()]);
    await limit(org, { bytes: 5 });
    expect((await rowOf(org))?.quota).toEqual({ bytesMax: 5 });
    expect(await auditKindsOf(org)).toEqual(["organization.edited"]);
  });

  it("is for administrators of the service alone, and changes nothing for others", async () => {
    const user = await make.user();
    for (const method of ["GET", "PATCH"]) {
      const json = method === "PATCH" ? { json: { bytes: 5 } } : {};
      expect((await call(method, quotaOf(user.name), { as: user, ...json })).status).toBe(403);
      expect((await call(method, quotaOf(user.name), json)).status).toBe(401);
    }
    const admin = await make.admin();
    expect((await call("GET", quotaOf(freshName("none")), { as: admin })).status).toBe(404);
    for (const json of [{ bytes: -2 }, { bytes: 1.5 }, { tokens: "5" }, { repositories: 1e12 }]) {
      expect((await call("PATCH", quotaOf(user.name), { as: admin, json })).status).toBe(422);
    }
    expect((await rowOf(user))?.quota).toBeNull();
  });
});

describe("an owner who stores as much as they may", () => {
  /** An owner with a repository, and little room. */
  async function makeFull(bytes = 10) {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await limit(owner, { bytes });
    return { owner, repo };
  }

  it("pushes nothing more, and deletes", async () => {
    const { owner, repo } = await makeFull();
    const { oid, pack } = makeCommit("text");
    expect((await push(owner, repo, oid, pack)).body).toContain("quota exceeded");
    expect(await refsOf(repo)).toEqual([]);
    const path = `/repos/${repo.owner}/${repo.name}/contents/a.txt`;
    const json = { content: btoa("text"), message: "Add" };
    const written = await call("POST", path, { as: owner, json });
    expect(written.status).toBeGreaterThanOrEqual(400);
    expect(written.body.message).toContain("quota exceeded");
    await limit(owner, { bytes: 100_000 });
    expect((await push(owner, repo, oid, pack)).body).toContain("ok refs/heads/main");
    await limit(owner, { bytes: 0 });
    const topic = await call("POST", `/repos/${repo.owner}/${repo.name}/branches`, {
      as: owner,
      json: { new_branch_name: "topic", old_ref_name: "main" },
    });
    expect(topic.status).toBe(201);
    const gone = await call("DELETE", `/repos/${repo.owner}/${repo.name}/branches/topic`, {
      as: owner,
    });
    expect(gone.status).toBe(204);
  });

  it("uploads no large file", async () => {
    const { owner, repo } = await makeFull();
    const file = makeLargeFile(freshName("large file"));
    expect((await upload(owner, repo, file)).status).toBe(413);
    expect(await objectsOf(repo)).toEqual([]);
    await limit(owner, { bytes: 100_000 });
    expect((await upload(owner, repo, file)).status).toBe(200);
  });

  it("attaches no file", async () => {
    const { owner, repo } = await makeFull();
    const issue = await makeIssue(repo);
    const attach = async (): Promise<number> => {
      const body = new FormData();
      body.append("attachment", new Blob(["text of the file"]), "a.txt");
      const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}/assets`;
      return (await call("POST", path, { as: owner, body })).status;
    };
    expect(await attach()).toBe(413);
    expect(await db.select().from(attachments).where(eq(attachments.repoId, repo.id))).toEqual([]);
    await limit(owner, { bytes: 100_000 });
    expect(await attach()).toBe(201);
  });

  it("forks nothing that is larger, and makes an empty repository", async () => {
    const { owner } = await makeFull();
    const large = await make.repo(await make.user(), { sizeBytes: 1000 });
    const fork = await call("POST", `/repos/${large.owner}/${large.name}/forks`, {
      as: owner,
      json: {},
    });
    expect(fork.status).toBe(413);
    const json = { name: freshName("empty") };
    expect((await call("POST", "/user/repos", { as: owner, json })).status).toBe(201);
  });

  it("takes over no repository that is larger", async () => {
    const { owner } = await makeFull();
    const former = await make.user();
    const repo = await make.repo(former, { sizeBytes: 10, lfsSizeBytes: 20, wikiSizeBytes: 30 });
    const path = `/repos/${repo.owner}/${repo.name}/transfer`;
    const offer = await call("POST", path, { as: former, json: { new_owner: owner.name } });
    expect(offer.status).toBe(201);
    const accept = () => call("POST", `${path}/accept`, { as: owner });
    expect(await accept()).toMatchObject({
      status: 413,
      body: { message: "quota exceeded: the owner stores as much as is allowed" },
    });
    const kept = await call("GET", `/repos/${repo.owner}/${repo.name}`, { as: former });
    expect(kept.body).toMatchObject({
      owner: { login: former.name },
      repo_transfer: { recipient: { login: owner.name } },
    });
    await limit(owner, { bytes: 60 });
    expect(await accept()).toMatchObject({ status: 202, body: { owner: { login: owner.name } } });
  });

  it("counts packages, and publishes none", async () => {
    const { owner } = await makeFull();
    const put = async (): Promise<number> => {
      const path = `/api/packages/${owner.name}/generic/${freshName("pkg")}/1.0/a.bin`;
      return (await visit("PUT", path, { as: owner, body: "twenty bytes of text" })).status;
    };
    expect(await put()).toBe(413);
    await limit(owner, { bytes: 30 });
    expect(await put()).toBe(201);
    expect(await put()).toBe(201);
  });

  it("is limited by the service's setting, unless the account has its own", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { sizeBytes: 500 });
    const service = serviceWith({ MAX_BYTES_PER_OWNER: "600", MAX_TOKENS_PER_USER: "1" });
    const file = (name: string) =>
      service("POST", `/repos/${repo.owner}/${repo.name}/contents/${name}`, {
        as: owner,
        json: { content: btoa("text"), message: "Add" },
      });
    expect((await file("a")).body.message).toContain("quota exceeded");
    await limit(owner, { bytes: 1_000_000 });
    expect((await file("a")).status).toBe(201);
  });
});

describe("a user with as many access tokens as they may have", () => {
  const create = (as: TestUser, name: string) =>
    call("POST", `/users/${as.name}/tokens`, {
      as,
      json: { name, scopes: ["read:user"] },
    });

  it("makes no more, also at once", async () => {
    const user = await make.user();
    await limit(user, { tokens: 3 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => create(user, `token-${at}`)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]));
    expect(refused[0]?.body.message).toContain("quota exceeded");
    expect(
      await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id)),
    ).toHaveLength(3);
  });
});
