import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { ACCESS, events, packages, users } from "../../../src/db/schema/index.ts";
import { call, type Answer } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makePackage, versionsOf } from "../../support/packages.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const pathOf = (pkg: { owner: string; type: string; name: string }, rest = ""): string =>
  `/packages/${pkg.owner}/${pkg.type}/${encodeURIComponent(pkg.name)}${rest}`;

const namesOf = ({ body }: Answer): string[] =>
  (body as { name: string; version: string }[]).map(({ name, version }) => `${name}@${version}`);

describe("GET /packages/{owner}", () => {
  it("lists the versions of all packages, newest first, by pages", async () => {
    const user = await make.user();
    const first = await makePackage(user, { name: "Alpha", versions: ["1", "2"] });
    await makePackage(user, { name: "beta", type: "npm", creatorId: null });
    const list = (query = "") => call("GET", `/packages/${user.name}${query}`, { as: other });
    const all = await list();
    expect(all.status).toBe(200);
    expect(namesOf(all)).toEqual(["beta@1.0", "Alpha@2", "Alpha@1"]);
    expect(all.body[1]).toMatchObject({
      id: first.versions[1]?.id,
      type: "generic",
      repository: null,
      owner: { login: user.name },
      creator: { login: user.name },
      html_url: `https://forge.example/${user.name}/-/packages/generic/Alpha/2`,
      created_at: "1970-01-01T00:00:01Z",
    });
    expect(all.body[0]).toMatchObject({ creator: { login: "Ghost" } });
    const second = await list("?limit=1&page=2");
    expect(namesOf(second)).toEqual(["Alpha@2"]);
    expect(second.headers.get("X-Total-Count")).toBe("3");
    expect(second.headers.get("Link")).toContain('rel="next"');
    expect(namesOf(await list("?type=npm"))).toEqual(["beta@1.0"]);
    expect(namesOf(await list("?q=ALPH"))).toEqual(["Alpha@2", "Alpha@1"]);
    expect(namesOf(await list("?q=alpha&type=npm"))).toEqual([]);
    expect(namesOf(await list("?type=no-such-type"))).toEqual([]);
  });

  it("is for signed-in callers, as in Gitea", async () => {
    expect((await call("GET", `/packages/${owner.name}`)).status).toBe(401);
  });

  it("is the same for a private owner as for one that does not exist", async () => {
    const hidden = await make.user({ visibility: "private" });
    await makePackage(hidden);
    const answer = await call("GET", `/packages/${hidden.name}`, { as: other });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(
      (await call("GET", `/packages/${freshName("nobody")}`, { as: other })).body,
    );
    expect((await call("GET", `/packages/${hidden.name}`, { as: hidden })).body).toHaveLength(1);
  });

  it("leads to the present name of a renamed owner", async () => {
    const user = await make.user();
    const admin = await make.admin();
    const name = freshName("renamed");
    const renaming = { as: admin, json: { new_username: name } };
    expect((await call("POST", `/admin/users/${user.name}/rename`, renaming)).status).toBe(204);
    const answer = await call("GET", `/packages/${user.name}?q=a`, { as: other });
    expect(answer.status).toBe(307);
    expect(answer.headers.get("Location")).toBe(
      `https://forge.example/api/v1/packages/${name}?q=a`,
    );
  });
});

describe("packages that are linked to a private repository", () => {
  it("are hidden with it, from lists, totals and paths", async () => {
    const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const user = await make.user();
    const name = freshName("linked");
    const pkg = await makePackage(owner, { name, repoId: repo.id });
    const list = (as: TestUser) => call("GET", `/packages/${owner.name}?q=${name}`, { as });
    expect(namesOf(await list(owner))).toEqual([`${name}@1.0`]);
    expect((await list(owner)).body[0].repository).toMatchObject({ id: repo.id, private: true });
    const hidden = await list(user);
    expect(hidden.body).toEqual([]);
    expect(hidden.headers.get("X-Total-Count")).toBe("0");
    expect((await call("GET", pathOf(pkg), { as: user })).body).toEqual([]);
    for (const rest of ["/1.0", "/-/latest", "/1.0/files"]) {
      expect((await call("GET", pathOf(pkg, rest), { as: user })).status, rest).toBe(404);
      expect((await call("GET", pathOf(pkg, rest), { as: owner })).status, rest).toBe(200);
    }
    await make.collaborator(repo, user, ACCESS.read);
    expect(namesOf(await list(user))).toEqual([`${name}@1.0`]);
    expect((await call("GET", pathOf(pkg, "/1.0"), { as: user })).status).toBe(200);
  });

  // Otherwise the deletion of a repository would publish what only its readers were to see.
  it.each(["deleted", "transferred"])(
    "stay with those who may write, after it is %s",
    async (how) => {
      const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
      const name = freshName("remains");
      const pkg = await makePackage(owner, { name, repoId: repo.id });
      const path = `/repos/${owner.name}/${repo.name}`;
      const org = await make.org([owner]);
      const answer =
        how === "deleted"
          ? await call("DELETE", path, { as: owner })
          : await call("POST", `${path}/transfer`, { as: owner, json: { new_owner: org.name } });
      expect(answer.status).toBeLessThan(300);
      const [row] = await db.select().from(packages).where(eq(packages.id, pkg.id));
      expect(row).toMatchObject({ repoId: null, isRestricted: true });
      const list = (as: TestUser) => call("GET", `/packages/${owner.name}?q=${name}`, { as });
      expect(namesOf(await list(owner))).toEqual([`${name}@1.0`]);
      expect((await list(owner)).body[0].repository).toBeNull();
      expect((await list(other)).body).toEqual([]);
      expect((await call("GET", pathOf(pkg, "/1.0"), { as: other })).status).toBe(404);
    },
  );

  it("are seen by everybody again after a public repository is deleted", async () => {
    const repo = await make.repo(owner);
    const pkg = await makePackage(owner, { repoId: repo.id });
    await call("DELETE", `/repos/${owner.name}/${repo.name}`, { as: owner });
    const answer = await call("GET", pathOf(pkg, "/1.0"), { as: other });
    expect(answer).toMatchObject({ status: 200, body: { repository: null } });
  });

  it("follow its visibility and its name", async () => {
    const repo = await make.repo(owner);
    const pkg = await makePackage(owner, { repoId: repo.id });
    const edit = (json: object) =>
      call("PATCH", `/repos/${owner.name}/${repo.name}`, { as: owner, json });
    expect((await call("GET", pathOf(pkg, "/1.0"), { as: other })).status).toBe(200);
    expect((await edit({ private: true })).status).toBe(200);
    expect((await call("GET", pathOf(pkg, "/1.0"), { as: other })).status).toBe(404);
    const name = freshName("renamed");
    expect((await edit({ private: false, name })).status).toBe(200);
    expect((await call("GET", pathOf(pkg, "/1.0"), { as: other })).body).toMatchObject({
      repository: { name },
    });
  });
});

describe("GET /packages/{owner}/{type}/{name}", () => {
  it("lists its versions and those of no other package, newest first", async () => {
    const pkg = await makePackage(owner, { name: "@scope/Lib", versions: ["1", "2", "3"] });
    await makePackage(owner, { name: "@scope/Lib", type: "npm" });
    const answer = await call("GET", `${pathOf(pkg)}?limit=2`, { as: other });
    expect(namesOf(answer)).toEqual(["@scope/Lib@3", "@scope/Lib@2"]);
    expect(answer.headers.get("X-Total-Count")).toBe("3");
    const lower = await call("GET", pathOf({ ...pkg, name: "@SCOPE/lib" }), { as: other });
    expect(lower.body).toHaveLength(3);
  });

  it.each([
    ["an unknown name", "generic"],
    ["an unknown type", "no-such-type"],
  ])("is empty for %s, as in Gitea", async (_, type) => {
    const answer = await call("GET", `/packages/${owner.name}/${type}/nothing`, { as: other });
    expect(answer).toMatchObject({ status: 200, body: [] });
    expect(answer.headers.get("X-Total-Count")).toBe("0");
  });
});

describe("a version", () => {
  it("is found by its name, and the latest without one", async () => {
    const pkg = await makePackage(owner, { versions: ["2.0-RC", "1.0"] });
    const get = (rest: string) => call("GET", pathOf(pkg, rest), { as: other });
    expect((await get("/2.0-RC")).body).toMatchObject({ version: "2.0-RC" });
    expect((await get("/-/latest")).body).toMatchObject({ version: "1.0" });
    expect((await get("/3.0")).status).toBe(404);
    expect((await call("GET", pathOf({ ...pkg, name: "no" }, "/1.0"), { as: other })).status).toBe(
      404,
    );
  });

  it("lists its files with their digests", async () => {
    const pkg = await makePackage(owner, { versions: ["1", "2"] });
    const answer = await call("GET", pathOf(pkg, "/2/files"), { as: other });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([
      {
        id: expect.any(Number),
        size: 7,
        name: "2.bin",
        md5: expect.stringMatching(/^[0-9a-f]+$/),
        sha1: expect.any(String),
        sha256: expect.any(String),
        sha512: expect.any(String),
      },
    ]);
    expect(answer.headers.get("X-Total-Count")).toBe("1");
    expect((await call("GET", pathOf(pkg, "/3/files"), { as: other })).status).toBe(404);
  });

  it("is deleted with its event, and the package with the last one", async () => {
    const pkg = await makePackage(owner, { versions: ["1", "2"] });
    const remove = (version: string) => call("DELETE", pathOf(pkg, `/${version}`), { as: owner });
    expect((await remove("1")).status).toBe(204);
    expect(await versionsOf(pkg.id)).toEqual(["2"]);
    expect((await remove("1")).status).toBe(404);
    expect((await remove("2")).status).toBe(204);
    expect(await db.select().from(packages).where(eq(packages.id, pkg.id))).toEqual([]);
    const recorded = await db.select().from(events).where(eq(events.type, "package.deleted"));
    const own = recorded.filter(({ payload }) => payload["packageId"] === pkg.id);
    expect(own.map(({ payload }) => payload["version"])).toEqual(["1", "2"]);
  });

  it("is not deleted by others than writers of the owner's packages", async () => {
    const org = await make.org([owner]);
    const pkg = await makePackage(org);
    const [reader, writer] = [await make.user(), await make.user()];
    const everything = await make.team(org, { access: ACCESS.none, units: { packages: 2 } });
    await make.member(org, everything, writer);
    const code = await make.team(org, { access: ACCESS.none, units: { code: 2, packages: 1 } });
    await make.member(org, code, reader);
    const remove = (sending: object) => call("DELETE", pathOf(pkg, "/1.0"), sending);
    expect((await remove({})).status).toBe(401);
    expect((await remove({ as: other })).status).toBe(403);
    expect((await remove({ as: reader })).status).toBe(403);
    const read = await make.token(writer, { scopes: "read:package" });
    expect((await remove({ token: read })).status).toBe(403);
    expect(await versionsOf(pkg.id)).toEqual(["1.0"]);
    expect((await remove({ as: writer })).status).toBe(204);
  });
});

describe("tokens that are bound", () => {
  it("list and reach the packages of their patterns only", async () => {
    const [name, hidden] = [freshName("bound"), freshName("beyond")];
    const pkg = await makePackage(owner, { name });
    const beyond = await makePackage(owner, { name: hidden });
    const token = await make.token(owner, { packages: [`${owner.name}/generic/${name}`] });
    const list = await call("GET", `/packages/${owner.name}`, { token });
    expect(namesOf(list)).toEqual([`${name}@1.0`]);
    expect(list.headers.get("X-Total-Count")).toBe("1");
    expect((await call("GET", pathOf(pkg, "/1.0"), { token })).status).toBe(200);
    expect((await call("GET", pathOf(beyond), { token })).status).toBe(404);
    expect((await call("DELETE", pathOf(beyond, "/1.0"), { token })).status).toBe(404);
    expect(await versionsOf(beyond.id)).toEqual(["1.0"]);
    expect((await call("DELETE", pathOf(pkg, "/1.0"), { token })).status).toBe(204);
  });

  it("to repositories list and reach the packages of those", async () => {
    const user = await make.user();
    const repo = await make.repo(user, { isPrivate: true, visibility: "private" });
    const linked = await makePackage(user, { repoId: repo.id });
    const loose = await makePackage(user);
    const token = await make.token(user, { repos: [repo] });
    const list = await call("GET", `/packages/${user.name}`, { token });
    expect(namesOf(list)).toEqual([`${linked.name}@1.0`]);
    expect(list.headers.get("X-Total-Count")).toBe("1");
    expect((await call("GET", pathOf(linked, "/1.0"), { token })).status).toBe(200);
    expect((await call("GET", pathOf(loose, "/1.0"), { token })).status).toBe(404);
  });

  it("to refs change no package", async () => {
    const pkg = await makePackage(owner);
    const token = await make.token(owner, { refs: ["refs/heads/main"] });
    expect((await call("DELETE", pathOf(pkg, "/1.0"), { token })).status).toBe(403);
    expect(await versionsOf(pkg.id)).toEqual(["1.0"]);
  });

  it("to what is public see no private owner, not even their own", async () => {
    const hidden = await make.user({ visibility: "private" });
    const pkg = await makePackage(hidden);
    const token = await make.token(hidden, { scopes: "public-only,write:package" });
    expect((await call("GET", `/packages/${hidden.name}`, { token })).status).toBe(404);
    expect((await call("DELETE", pathOf(pkg, "/1.0"), { token })).status).toBe(404);
    await db.update(users).set({ visibility: "public" }).where(eq(users.id, hidden.id));
    expect((await call("GET", `/packages/${hidden.name}`, { token })).body).toHaveLength(1);
  });
});
