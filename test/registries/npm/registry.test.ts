import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { accessTokens, packages } from "../../../src/db/schema/index.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makePublication, publish, registryPath } from "./documents.ts";

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

describe("GET /-/v1/search", () => {
  let searched: TestUser;

  beforeAll(async () => {
    searched = await make.user();
    const description = "Counts sheep";
    const author = { name: "Ann" };
    await publish(searched, "alpha", "1.0.0", {
      manifest: { description, keywords: ["sleep"], author, homepage: "https://example.org" },
    });
    await publish(searched, "@team/beta", "1.0.0", { manifest: { keywords: ["night", "sleep"] } });
    await publish(searched, "gamma", "2.0.0");
    await publish(searched, "gamma", "1.0.1");
  });

  const search = async (query: string, as?: TestUser) =>
    (await visit("GET", registryPath(searched, `-/v1/search?${query}`), { ...(as && { as }) }))
      .body;
  const namesOf = async (query: string, as?: TestUser): Promise<string[]> =>
    (await search(query, as)).objects.map(
      (each: { package: { name: string } }) => each.package.name,
    );

  it("finds names, descriptions and keywords, by name", async () => {
    expect(await namesOf("text=")).toEqual(["@team/beta", "alpha", "gamma"]);
    expect(await namesOf("text=SHEEP")).toEqual(["alpha"]);
    expect(await namesOf("text=sleep")).toEqual(["@team/beta", "alpha"]);
    expect(await namesOf("text=sleep+bet")).toEqual(["@team/beta"]);
    expect(await namesOf("text=keywords:night,day")).toEqual(["@team/beta"]);
    expect(await namesOf("text=scope:team")).toEqual(["@team/beta"]);
    expect(await namesOf("text=author:ann")).toEqual(["alpha"]);
    expect(await search("text=none")).toMatchObject({ objects: [], total: 0 });
  });

  it("has the latest version of each", async () => {
    const { objects, total } = await search("text=alpha");
    expect(total).toBe(1);
    expect(objects[0].package).toMatchObject({
      scope: "unscoped",
      name: "alpha",
      version: "1.0.0",
      description: "Counts sheep",
      author: { name: "Ann" },
      keywords: ["sleep"],
      maintainers: [],
      publisher: { name: searched.name },
      date: expect.stringMatching(/Z$/),
      links: {
        npm: `https://forge.example/api/packages/${searched.name}/npm`,
        homepage: "https://example.org",
      },
    });
    expect((await search("text=gamma")).objects[0].package.version).toBe("1.0.1");
    expect((await search("text=beta")).objects[0].package.scope).toBe("@team");
  });

  it("is sent in pages", async () => {
    const { objects, total } = await search("text=&size=1&from=1");
    expect(objects).toMatchObject([{ package: { name: "alpha" } }]);
    expect(total).toBe(3);
    for (const query of ["size=x", "size=-1", "size=1e9", "from=x", "from=-1"]) {
      expect([query, await namesOf(`text=&${query}`)]).toEqual([
        query,
        ["@team/beta", "alpha", "gamma"],
      ]);
    }
  });

  // SECURITY: the kept catalog has packages of private repositories.
  it("shows a linked package to those who see the repository", async () => {
    const repo = await make.repo(searched, { visibility: "private", isPrivate: true });
    await publish(searched, "hidden", "1.0.0");
    await db.update(packages).set({ repoId: repo.id }).where(eq(packages.name, "hidden"));
    expect(await namesOf("text=hidden", searched)).toEqual(["hidden"]);
    expect(await namesOf("text=hidden")).toEqual([]);
    expect(await namesOf("text=hidden", owner)).toEqual([]);
    expect(await visit("GET", registryPath(searched, "hidden"))).toMatchObject({ status: 404 });
  });
});

describe("the registry itself", () => {
  it("answers to ping", async () => {
    expect(await visit("GET", registryPath(owner, "-/ping"))).toMatchObject({
      status: 200,
      body: {},
    });
  });

  it("says who the caller is", async () => {
    const path = registryPath(owner, "-/whoami");
    expect(await visit("GET", path, { as: owner })).toMatchObject({
      status: 200,
      body: { username: owner.name },
    });
    expect(await visit("GET", path)).toMatchObject({ status: 401 });
    expect(await visit("GET", path, { token: "wrong" })).toMatchObject({ status: 401 });
    expect(await visit("GET", registryPath(owner, "-/npm/v1/user"), { as: owner })).toMatchObject({
      status: 200,
      body: { name: owner.name },
    });
  });

  // An empty list of advisories would read as "found 0 vulnerabilities".
  it.each(["advisories/bulk", "audits/quick"])("has no advisories: %s", async (path) => {
    const answer = await visit("POST", registryPath(owner, `-/npm/v1/security/${path}`), {
      json: {},
    });
    expect(answer).toMatchObject({ status: 404, body: { error: expect.any(String) } });
  });
});

describe("PUT /-/user/org.couchdb.user:{name}", () => {
  const login = (name: string, json: unknown) =>
    visit("PUT", registryPath(owner, `-/user/org.couchdb.user:${name}`), { json });

  it("makes a token for packages of a password, which logging out deletes", async () => {
    const user = await make.userWithPassword();
    const { name, password } = user;
    const answer = await login(name, { name, password, type: "user", roles: [] });
    expect(answer).toMatchObject({ status: 201, body: { ok: true, token: expect.any(String) } });
    const { token } = answer.body;
    const rows = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(rows.find(({ name: each }) => each.startsWith("npm login"))).toMatchObject({
      scopes: "write:package",
    });
    const whoami = registryPath(owner, "-/whoami");
    expect(await visit("GET", whoami, { token })).toMatchObject({ status: 200 });
    const out = (secret: string) =>
      visit("DELETE", registryPath(owner, `-/user/token/${secret}`), { token });
    expect(await out(user.token)).toMatchObject({ status: 404 });
    expect(await out(token)).toMatchObject({ status: 200 });
    expect(await visit("GET", whoami, { token })).toMatchObject({ status: 401 });
  });

  // SECURITY: else a token that may only read would become one that may write.
  it("gives back a token that is sent as the password", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "read:package" });
    const before = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(await login(user.name, { name: user.name, password: token })).toMatchObject({
      status: 201,
      body: { token },
    });
    expect(await login(token, { name: token, password: "x" })).toMatchObject({ status: 401 });
    const after = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(after).toHaveLength(before.length);
  });

  it("refuses a wrong password, and a body that is no login", async () => {
    const { name, id } = await make.userWithPassword();
    expect(await login(name, { name, password: "wrong" })).toMatchObject({ status: 401 });
    for (const body of [{}, { name }, { name, password: 1 }, [], null]) {
      expect(await login(name, body)).toMatchObject({ status: 400 });
    }
    expect(await login("another", { name, password: "wrong" })).toMatchObject({ status: 400 });
    expect(await db.select().from(accessTokens).where(eq(accessTokens.userId, id))).toHaveLength(1);
  });
});

describe("provenance", () => {
  const predicateType = "https://slsa.dev/provenance/v1";
  const bundle = {
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.3",
    dsseEnvelope: { payload: btoa(JSON.stringify({ predicateType })), signatures: [] },
  };

  it("is kept beside the tarball and named in the version", async () => {
    const name = freshName("built");
    const json = await makePublication(name, "1.0.0");
    Object.assign(json["_attachments"] as object, {
      [`${name}-1.0.0.sigstore`]: { content_type: bundle.mediaType, data: JSON.stringify(bundle) },
    });
    expect(await visit("PUT", registryPath(owner, name), { as: owner, json })).toMatchObject({
      status: 201,
    });
    const { body } = await visit("GET", registryPath(owner, name));
    const { attestations } = body.versions["1.0.0"].dist;
    expect(attestations).toEqual({
      url: `https://forge.example${registryPath(owner, `-/npm/v1/attestations/${name}@1.0.0`)}`,
      provenance: { predicateType },
    });
    expect(await visit("GET", new URL(attestations.url).pathname)).toMatchObject({
      status: 200,
      body: { attestations: [{ predicateType, bundle }] },
    });
    // Not a tarball, though it is a file of the version.
    const path = registryPath(owner, `${name}/-/provenance.sigstore`);
    expect(await visit("GET", path)).toMatchObject({ status: 404 });
    const remove = await visit("DELETE", `${path}/-rev/1`, { as: owner });
    expect(remove.status).toBe(404);
  });

  it.each(["none", "{}", '{"dsseEnvelope":{"payload":"####"}}'])(
    "is refused as %s",
    async (data) => {
      const name = freshName("built");
      const json = await makePublication(name, "1.0.0");
      Object.assign(json["_attachments"] as object, { "a.sigstore": { data } });
      expect(await visit("PUT", registryPath(owner, name), { as: owner, json })).toMatchObject({
        status: 400,
      });
      expect(await db.select().from(packages).where(eq(packages.name, name))).toEqual([]);
    },
  );
});
