import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { repositories, repositoryTransfers, users } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeFiles } from "../../support/files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const BAD = `"><script>alert(1)</script>`;
const PEOPLE = { headers: { Accept: "text/html" } };

let user: TestUser;
let browser: Browser;
beforeAll(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});

const findRepo = async (ownerId: number, name: string) => {
  const isNamed = and(eq(repositories.ownerId, ownerId), eq(repositories.lowerName, name));
  return (await db.select().from(repositories).where(isNamed))[0];
};

const findAccount = async (name: string) =>
  (await db.select().from(users).where(eq(users.lowerName, name)))[0];

/** A repository with a file, of somebody else. */
async function makeSource(fields: Parameters<typeof make.repo>[1] = {}): Promise<TestRepo> {
  const repo = await make.repo(await make.user(), { visibility: "public", ...fields });
  const { oid, pack } = makeFiles({ "README.md": "# A source" });
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
  return repo;
}

describe("the form of a new repository", () => {
  it("creates one with its first files, and leads to it", async () => {
    const name = freshName("new");
    const { status, headers } = await browser.submit("/repo/create", {
      owner: user.name,
      name,
      description: " About it ",
      visibility: "private",
      "gitignore-Ada": "on",
      "gitignore-Node": "on",
      license: "MIT",
      issue_labels: "Default",
      default_branch: "trunk",
    });
    expect([status, headers.get("Location")]).toEqual([303, `/${user.name}/${name}`]);
    expect(await findRepo(user.id, name)).toMatchObject({
      description: "About it",
      isPrivate: true,
      isTemplate: false,
      defaultBranch: "trunk",
      isEmpty: false,
    });
    const { body } = await browser.get(`/${user.name}/${name}`);
    for (const file of [".gitignore", "LICENSE", "README.md"])
      expect(body).toContain(`>${file}</a>`);
    const ignored = await browser.get(`/${user.name}/${name}/raw/branch/trunk/.gitignore`);
    for (const template of ["Ada", "Node"]) expect(ignored.body).toContain(`# ---> ${template}`);
  });

  it("creates one that ends by itself", async () => {
    const fields = { owner: user.name, visibility: "public", expiry_action: "delete" };
    const name = freshName("ending");
    const refused = await browser.submit("/repo/create", { ...fields, name, days: "4000" });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="days-fault"');
    expect(await findRepo(user.id, name)).toBeUndefined();
    const created = await browser.submit("/repo/create", { ...fields, name, days: "2" });
    expect(created.status).toBe(303);
    const { expiry, createdAt } = (await findRepo(user.id, name)) ?? {};
    expect(expiry).toMatchObject({
      expiresAt: (createdAt ?? 0) + 2 * 24 * 60 * 60 * 1000,
      action: "delete",
      extensionMs: null,
    });
    const source = await makeSource({ isTemplate: true });
    const generated = freshName("generated");
    await browser.submit("/repo/create", {
      ...fields,
      name: generated,
      template_id: String(source.id),
      git_content: "on",
      days: "1",
      expiry_action: "archive",
      extends_on_push: "on",
    });
    expect((await findRepo(user.id, generated))?.expiry).toMatchObject({
      action: "archive",
      extensionMs: 24 * 60 * 60 * 1000,
    });
  });

  it("creates one in an organization, which an address may choose", async () => {
    const org = await make.org([user]);
    const page = String((await browser.get(`/repo/create?org=${org.id}`)).body);
    expect(page).toContain(`<option value="${org.name}" selected="">`);
    const name = freshName("new");
    await browser.submit("/repo/create", { owner: org.name, name, visibility: "public" });
    expect(await findRepo(org.id, name)).toMatchObject({ isPrivate: false, isEmpty: true });
  });

  it("offers the organizations in which the reader may create repositories, and no others", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), user);
    expect((await browser.get("/repo/create")).body).not.toContain(org.name);
    const fields = { owner: org.name, name: "x", visibility: "public" };
    const { status, body } = await browser.submit("/repo/create", fields);
    expect(status).toBe(403);
    expect(body).toContain('id="owner-fault"');
    expect(await findRepo(org.id, "x")).toBeUndefined();
  });

  it("creates one for somebody else, by an administrator of the service alone", async () => {
    const admin = await Browser.signedIn(await make.userWithPassword({ isAdmin: true }));
    const other = await make.user({ repoCountMax: 0 });
    const at = `/repo/create?owner=${other.name}`;
    expect((await browser.get(at)).body).not.toContain(`<option value="${other.name}"`);
    const fields = { owner: other.name, name: freshName("given"), visibility: "public" };
    expect((await browser.submit("/repo/create", fields)).status).toBe(403);
    expect(await findRepo(other.id, fields.name)).toBeUndefined();

    expect((await admin.get(at)).body).toContain(`<option value="${other.name}" selected="">`);
    const { status, headers } = await admin.submit("/repo/create", fields);
    expect([status, headers.get("Location")]).toEqual([303, `/${other.name}/${fields.name}`]);
    expect(await findRepo(other.id, fields.name)).toMatchObject({ isPrivate: false });
    const taken = await admin.submit("/repo/create", fields);
    expect(taken.status).toBe(409);
    expect(taken.body).toContain(`<option value="${other.name}" selected="">`);
  });

  it.each([
    ["name", { name: "a b" }, 422],
    ["name", { name: "a.git" }, 422],
    ["name", { name: "x".repeat(101) }, 422],
    ["description", { description: "x".repeat(2049) }, 422],
    ["default_branch", { default_branch: "a..b" }, 422],
    ["license", { license: "none" }, 422],
    ["gitignores", { "gitignore-none": "on" }, 422],
  ])(
    "says at %s why it is refused, and keeps what was typed: %j",
    async (field, fields, status) => {
      const typed = {
        owner: user.name,
        name: "typed",
        description: `Typed ${BAD}`,
        visibility: "private",
        ...fields,
      };
      const answer = await browser.submit("/repo/create", typed);
      const body = String(answer.body);
      expect(answer.status).toBe(status);
      expect(body).toContain(`id="${field}-fault" role="alert"`);
      expect(body.match(/role="alert"/g)).toHaveLength(1);
      expect(body).toContain(`value="${typed.name}"`);
      expect(body).toMatch(/value="private" checked/);
      expect(body).not.toContain(BAD);
      expect(await findRepo(user.id, typed.name)).toBeUndefined();
    },
  );

  it("refuses a name that is taken", async () => {
    const { name } = await make.repo(user);
    const fields = { owner: user.name, name, visibility: "public" };
    const { status, body } = await browser.submit("/repo/create", fields);
    expect(status).toBe(409);
    expect(body).toContain('id="name-fault"');
  });

  it("uses a template, with what is chosen of it", async () => {
    const template = await makeSource({ isTemplate: true, topics: ["looms"] });
    const at = `/repo/create?template_id=${template.id}`;
    expect((await browser.get(at)).body).toContain(`href="/${template.owner}/${template.name}"`);
    const page = (await browser.get(`/${template.owner}/${template.name}`)).body;
    expect(page).toContain(`href="${at}"`);

    const name = freshName("new");
    const fields = { owner: user.name, name, visibility: "public" };
    const refused = await browser.submit(at, fields);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain("Choose at least one part of the template.");
    const { status } = await browser.submit(at, { ...fields, git_content: "on", topics: "on" });
    expect(status).toBe(303);
    expect(await findRepo(user.id, name)).toMatchObject({ isEmpty: false, topics: ["looms"] });
  });

  it("knows no template that the reader may not see, and no other repository", async () => {
    const hidden = await makeSource({ isTemplate: true, isPrivate: true, visibility: "private" });
    const plain = await makeSource();
    for (const id of [hidden.id, plain.id, 1_000_000_000, "x"]) {
      expect((await browser.get(`/repo/create?template_id=${id}`)).status, String(id)).toBe(404);
    }
  });

  it("is for people who are signed in, and needs the token of its page", async () => {
    for (const path of ["/repo/create", "/org/create"]) {
      expect((await visit("GET", path)).headers.get("Location")).toContain("/user/login");
      expect((await browser.post(path, { name: "x", username: "x" })).status).toBe(403);
    }
  });
});

describe("the form of a fork", () => {
  it("forks for the reader, under a name and a description", async () => {
    const source = await makeSource();
    const at = `/${source.owner}/${source.name}/fork`;
    expect((await browser.get(at)).body).toContain(`value="${source.name}"`);
    const name = freshName("fork");
    const { status, headers } = await browser.submit(at, {
      owner: user.name,
      name,
      description: "Mine",
    });
    expect([status, headers.get("Location")]).toEqual([303, `/${user.name}/${name}`]);
    expect(await findRepo(user.id, name)).toMatchObject({
      isFork: true,
      parentId: source.id,
      description: "Mine",
    });
    const again = await browser.submit(at, { owner: user.name, name: freshName("fork") });
    expect(again.status).toBe(409);
    expect(again.body).toContain('id="owner-fault"');
    expect((await browser.get(`/${user.name}/${name}`)).body).toContain("Forked from");
  });

  it("forks into an organization, and not into another's", async () => {
    const source = await makeSource();
    const at = `/${source.owner}/${source.name}/fork`;
    const [own, other] = [await make.org([user]), await make.org([await make.user()])];
    const refused = await browser.submit(at, { owner: other.name, name: source.name });
    expect(refused.status).toBe(403);
    expect(await findRepo(other.id, source.lowerName)).toBeUndefined();
    expect((await browser.submit(at, { owner: own.name, name: source.name })).status).toBe(303);
    expect(await findRepo(own.id, source.lowerName)).toMatchObject({ parentId: source.id });
  });

  it("refuses a name at its field", async () => {
    const source = await makeSource();
    const at = `/${source.owner}/${source.name}/fork`;
    const { status, body } = await browser.submit(at, { owner: user.name, name: "a b" });
    expect(status).toBe(422);
    expect(body).toContain('id="name-fault"');
  });

  it("does not offer the owner of the repository", async () => {
    const own = await make.repo(user, { visibility: "public" });
    const { body } = await browser.get(`/${user.name}/${own.name}/fork`);
    expect(body).not.toContain(`<option value="${user.name}"`);
  });

  it("leads who is not signed in to the sign-in", async () => {
    const source = await makeSource();
    const at = `/${source.owner}/${source.name}/fork`;
    const { status, headers } = await visit("GET", at, PEOPLE);
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe(`/user/login?redirect_to=${encodeURIComponent(at)}`);
  });
});

describe("the form of a new organization", () => {
  it("creates one, and leads to it", async () => {
    const name = freshName("org");
    const { status, headers } = await browser.submit("/org/create", {
      username: name,
      full_name: "A & B",
      website: "https://site.example",
      visibility: "limited",
    });
    expect([status, headers.get("Location")]).toEqual([303, `/${name}`]);
    const org = await findAccount(name);
    expect(org).toMatchObject({ kind: "organization", fullName: "A & B", visibility: "limited" });
  });

  it.each([
    ["username", { username: "a b" }],
    ["username", { username: "api" }],
    ["website", { website: "javascript:alert(1)" }],
    ["location", { location: "x".repeat(51) }],
  ])("says at %s why it is refused: %j", async (field, fields) => {
    const typed = { username: freshName("org"), full_name: BAD, visibility: "public", ...fields };
    const { status, body } = await browser.submit("/org/create", typed);
    expect(status).toBe(422);
    expect(body).toContain(`id="${field}-fault"`);
    expect(body).not.toContain(BAD);
    const found = await findAccount(typed.username);
    expect(found).toBeUndefined();
  });

  it("creates one for somebody else, by an administrator of the service alone", async () => {
    const admin = await Browser.signedIn(await make.userWithPassword({ isAdmin: true }));
    const other = await make.userWithPassword();
    const at = `/org/create?owner=${other.name}`;
    const fields = { username: freshName("given"), visibility: "public" };
    expect((await browser.get(at)).status).toBe(403);
    const own = { ...fields, owner: other.name };
    expect((await browser.submit("/org/create", own)).status).toBe(403);
    const unknown = { ...fields, owner: "nobody-at-all" };
    expect((await admin.submit("/org/create", unknown)).status).toBe(404);
    expect(await findAccount(fields.username)).toBeUndefined();

    expect((await admin.submit(at, fields, "/org/create")).status).toBe(303);
    expect((await findAccount(fields.username))?.kind).toBe("organization");
    const settings = `/org/${fields.username}/settings`;
    expect((await (await Browser.signedIn(other)).get(settings)).status).toBe(200);
  });

  it("is refused to people who may not create organizations", async () => {
    const other = await make.userWithPassword({ canCreateOrganization: false });
    const fields = { username: freshName("org"), visibility: "public" };
    const { status, body } = await (await Browser.signedIn(other)).submit("/org/create", fields);
    expect(status).toBe(403);
    expect(body).toContain('role="alert"');
  });
});

describe("the banners of a repository", () => {
  it("say that it is archived, and when a mirror was synchronized", async () => {
    const origin = {
      url: "https://elsewhere.example/a.git",
      mirror: { intervalSeconds: 600, syncedAt: Date.now() - 3_700_000, parts: [] },
    };
    const repo = await makeSource({ archivedAt: 1000, isMirror: true, origin });
    const { body } = await visit("GET", `/${repo.owner}/${repo.name}`, PEOPLE);
    expect(body).toContain("This repository was archived");
    expect(body).toMatch(/Mirror of https:\/\/elsewhere\.example\/a\.git[^]*1 hour ago/);
  });

  it("let the recipient of a transfer accept and decline it, and nobody else", async () => {
    const owner = await make.user();
    const transferred = async () => {
      const repo = await make.repo(owner, { visibility: "public" });
      const at = `/repos/${owner.name}/${repo.name}/transfer`;
      await call("POST", at, { as: owner, json: { new_owner: user.name } });
      return { repo, path: `/${owner.name}/${repo.name}` };
    };
    const [first, second] = [await transferred(), await transferred()];
    const stranger = await Browser.signedIn(await make.userWithPassword());
    expect((await stranger.get(first.path)).body).not.toContain("offer");
    const action = `${first.path}/action/accept_transfer`;
    const { body: other } = await stranger.get("/");
    const [, token = ""] = /name="_csrf" value="([^"]+)"/.exec(String(other)) ?? [];
    expect((await stranger.post(action, { _csrf: token })).status).toBe(403);

    const accepted = await browser.submit(first.path, {}, action);
    expect([accepted.status, accepted.headers.get("Location")]).toEqual([
      303,
      `/${user.name}/${first.repo.name}`,
    ]);
    const declined = await browser.submit(second.path, {}, `${second.path}/action/reject_transfer`);
    expect([declined.status, declined.headers.get("Location")]).toEqual([303, "/"]);
    expect(await findRepo(owner.id, second.repo.lowerName)).toBeDefined();
    expect(
      await db.$count(repositoryTransfers, eq(repositoryTransfers.repoId, second.repo.id)),
    ).toBe(0);
  });
});
