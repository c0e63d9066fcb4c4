import { beforeAll, describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";
import { publish, registryPath } from "./documents.ts";

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

const ABBREVIATED = "application/vnd.npm.install-v1+json";
const get = (path: string, headers: Record<string, string> = {}) =>
  visit("GET", registryPath(owner, path), { headers });

describe("GET /{name}", () => {
  const manifest = {
    description: "A tool",
    author: { name: "Ann" },
    license: "MIT",
    keywords: ["k"],
    dependencies: { dep: "^1.0.0" },
    engines: { node: ">=20" },
    os: ["linux"],
    cpu: ["x64"],
    funding: "https://example.org/fund",
    peerDependencies: { peer: "*" },
    peerDependenciesMeta: { peer: { optional: true } },
    scripts: { postinstall: "true", test: "false" },
    exports: { ".": "./index.js" },
    "x-unknown": { kept: true },
    readme: "Read me",
  };

  /** Those that installing needs. */
  const NEEDED = new Set([
    "dependencies",
    "engines",
    "os",
    "cpu",
    "funding",
    "peerDependencies",
    "peerDependenciesMeta",
  ]);

  it("has all fields of each version, its digests and the address of its tarball", async () => {
    const name = freshName("tool");
    await publish(owner, name, "1.0.0", { manifest });
    await publish(owner, name, "1.1.0-beta.1", { tag: "next" });
    const { status, body, headers } = await get(name);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("application/json");
    expect(headers.get("Vary")).toBe("Accept");
    const { readme: _, ...fields } = manifest;
    expect(body).toMatchObject({
      _id: name,
      _rev: expect.stringMatching(/^\d+-[0-9a-f]{16}$/),
      name,
      description: "A tool",
      license: "MIT",
      readme: "Read me",
      "dist-tags": { latest: "1.0.0", next: "1.1.0-beta.1" },
      time: {
        created: expect.any(String),
        modified: expect.any(String),
        "1.0.0": expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        "1.1.0-beta.1": expect.any(String),
      },
      versions: {
        "1.0.0": {
          ...fields,
          _id: `${name}@1.0.0`,
          dist: {
            integrity: expect.stringMatching(/^sha512-/),
            shasum: expect.stringMatching(/^[0-9a-f]{40}$/),
            fileCount: 2,
            unpackedSize: expect.any(Number),
            tarball: `https://forge.example/api/packages/${owner.name}/npm/${name}/-/1.0.0/${name}-1.0.0.tgz`,
          },
        },
      },
    });
    expect(body.versions["1.0.0"].readme).toBeUndefined();
  });

  it("has what installing needs, for those who ask for that", async () => {
    const name = freshName("tool");
    const files = [{ path: "package/npm-shrinkwrap.json", content: "{}" }];
    await publish(owner, name, "1.0.0", { manifest, files });
    const answer = await get(name, { Accept: `${ABBREVIATED}; q=1.0, */*; q=0.1` });
    const { headers } = answer;
    const body = JSON.parse(answer.body);
    expect(headers.get("Content-Type")).toBe(ABBREVIATED);
    const needed = Object.fromEntries(
      Object.entries(manifest).filter(([field]) => NEEDED.has(field)),
    );
    expect(Object.keys(body).toSorted()).toEqual(["dist-tags", "modified", "name", "versions"]);
    expect(body.versions["1.0.0"]).toEqual({
      ...needed,
      name,
      version: "1.0.0",
      dist: expect.objectContaining({ integrity: expect.any(String) }),
      hasInstallScript: true,
      _hasShrinkwrap: true,
    });
  });

  it("is found with its scope in one segment or in two", async () => {
    const name = `@scope/${freshName("tool")}`;
    await publish(owner, name, "1.0.0");
    for (const path of [name, name.replace("/", "%2f"), encodeURIComponent(name)]) {
      const { status, body } = await get(path);
      expect([path, status, body.name]).toEqual([path, 200, name]);
    }
    const { body } = await get(name);
    const { tarball } = body.versions["1.0.0"].dist;
    expect(await visit("GET", new URL(tarball).pathname)).toMatchObject({ status: 200 });
    const file = `${name.split("/")[1]}-1.0.0.tgz`;
    for (const path of [
      `${name}/-/${file}`,
      `${name}/-/1.0.0/${file}`,
      `${name}/-/@scope/${file}`,
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
  });

  it("is not sent again to a client that has it, until something changes", async () => {
    const name = freshName("tool");
    await publish(owner, name, "1.0.0");
    const etag = (await get(name)).headers.get("ETag") ?? "";
    expect(await get(name, { "If-None-Match": etag })).toMatchObject({ status: 304, body: "" });
    await publish(owner, name, "1.0.1");
    expect(await get(name, { "If-None-Match": etag })).toMatchObject({ status: 200 });
  });

  it("takes two round trips, and one once it is kept", async () => {
    const name = freshName("tool");
    await publish(owner, name, "1.0.0");
    const roundsOf = async (path: string) => (await logged(() => get(path))).line.d1Rounds;
    expect(await roundsOf(name)).toBeLessThanOrEqual(2);
    expect(await roundsOf(name)).toBe(1);
    // The second one counts downloads, after the response.
    expect(await roundsOf(`${name}/-/${name}-1.0.0.tgz`)).toBeLessThanOrEqual(2);
  });

  it("has the highest version as latest where none was set", async () => {
    const name = freshName("tool");
    await publish(owner, name, "1.0.0-rc.1", { tag: "rc" });
    expect((await get(name)).body["dist-tags"]).toEqual({ rc: "1.0.0-rc.1", latest: "1.0.0-rc.1" });
    await publish(owner, name, "0.9.0", { tag: "old" });
    expect((await get(name)).body["dist-tags"]).toMatchObject({ latest: "0.9.0" });
  });

  it("has an older version as latest if it is published so later", async () => {
    const name = freshName("tool");
    await publish(owner, name, "2.0.0");
    await publish(owner, name, "1.0.1");
    expect((await get(name)).body["dist-tags"]).toEqual({ latest: "1.0.1" });
    await publish(owner, name, "1.0.2", { tag: "legacy" });
    expect((await get(name)).body["dist-tags"]).toEqual({ latest: "1.0.1", legacy: "1.0.2" });
  });

  it("of a private owner is for those who see the owner", async () => {
    const [secret, other] = await Promise.all([make.user({ visibility: "private" }), make.user()]);
    const name = freshName("tool");
    await publish(secret, name, "1.0.0");
    const paths = [
      name,
      `${name}/1.0.0`,
      `${name}/-/${name}-1.0.0.tgz`,
      `-/package/${name}/dist-tags`,
      "-/v1/search?text=",
    ];
    for (const path of paths) {
      const at = registryPath(secret, path);
      const unseen = await visit("GET", at);
      expect([path, unseen.status]).toEqual([path, 401]);
      expect(unseen.headers.get("WWW-Authenticate")).toContain("Basic");
      expect([path, (await visit("GET", at, { as: other })).status]).toEqual([path, 404]);
      expect([path, (await visit("GET", at, { as: secret })).status]).toEqual([path, 200]);
    }
  });
});

describe("GET /{name}/{version}", () => {
  it("is the version of that number, or with that tag", async () => {
    const name = freshName("tool");
    await publish(owner, name, "1.0.0", { manifest: { readme: "One" } });
    await publish(owner, name, "2.0.0");
    expect(await get(`${name}/1.0.0`)).toMatchObject({
      status: 200,
      body: { name, version: "1.0.0", readme: "One", dist: { tarball: expect.any(String) } },
    });
    expect(await get(`${name}/latest`)).toMatchObject({ body: { version: "2.0.0" } });
  });

  it.each(["3.0.0", "none", "^1.0.0", "%00", "__proto__", "constructor"])(
    "is not found for %s",
    async (version) => {
      const name = freshName("tool");
      await publish(owner, name, "1.0.0");
      expect(await get(`${name}/${version}`)).toMatchObject({
        status: 404,
        body: { error: expect.any(String) },
      });
    },
  );
});

it.each([
  "none",
  "@scope/none",
  "none/-/none-1.0.0.tgz",
  "none/1.0.0",
  "-/package/none/dist-tags",
  "-/npm/v1/attestations/none@1.0.0",
  "-/none",
  "-/npm/v1/keys",
])("answers 404 in its own form for %s", async (path) => {
  expect(await get(path)).toMatchObject({ status: 404, body: { error: expect.any(String) } });
});
