import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";

import { and, eq } from "drizzle-orm";
import { createMessage, readCleartextMessage, readKey, readSignature, verify } from "openpgp";
import { beforeAll, describe, expect, it } from "vitest";

import { packageRegistries, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { parseBase64 } from "../../../src/lib/base64.ts";
import { makeTarGz } from "../../support/archives.ts";
import { answer, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeAr, makeControl, makeDeb, makeDebOf } from "../../support/debs.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { visitSealing } from "../../support/sealing.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/debian${path}`;

const put = (body: BodyInit, place = "stable/main", as: TestUser = owner) =>
  visit("PUT", at(`/pool/${place}/upload`, as), { as, body });

const debOf = (name: string, fields: Readonly<Record<string, string>> = {}) =>
  makeDeb(makeControl({ Package: name, ...fields }));

const freshPackage = (): string => freshName("tool").toLowerCase();

const versionsOf = (name: string) =>
  db
    .select({ version: packageVersions })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)))
    .then((rows) => rows.map(({ version }) => version));

/** The bytes that a path answers with. */
const bytesAt = async (path: string): Promise<Uint8Array> =>
  new Uint8Array(await (await answer(new Request(`https://forge.example${path}`))).arrayBuffer());

/** The text that a path answers with, or the status of a refusal. */
async function textAt(path: string, as?: TestUser): Promise<string> {
  const { status, body } = await visitSealing("GET", path, { ...(as && { as }) });
  return status === 200 ? String(body) : `${status}`;
}

describe("a package", () => {
  it("is published and read by anybody", async () => {
    const name = freshPackage();
    const deb = await debOf(name, { Version: "1:2.0-1", Depends: "libc6 (>= 2.3),\n zlib1g" });
    expect(await put(deb)).toMatchObject({ status: 201 });
    const path = `/pool/stable/main/${name}_1%3A2.0-1_amd64.deb`;
    const { status, headers } = await visit("GET", at(path));
    expect([status, headers.get("Content-Length")]).toEqual([200, String(deb.length)]);
    expect((await visit("HEAD", at(path.replace("%3A", ":")))).status).toBe(200);
    const [version] = await versionsOf(name);
    expect(version).toMatchObject({
      version: "1:2.0-1",
      metadata: {
        maintainer: "A <a@example.com>",
        description: "A package\n of a test",
        dependencies: ["libc6 (>= 2.3)", "zlib1g"],
      },
    });
  });

  it.each([
    [
      "xz",
      "/Td6WFoAAATm1rRGBMDmAYBQIQEWAAAAAAAAACmIRYPgJ/8A3l0AFwu8HH0BlcAdSj55FcLMJqNjG11PucyDwj51ba7ULco/KVpLLdAnsC3Bjw/9v6zbKXve3/NDaBjRSsa8bZ1v7RS6LcZxbSezc8SikU9pP0VhNqDO7C4IdL39o3A1BlmnyDe/PazMTv/U656xJMr95BLnFPEJMH2/19Hz6Txo3+H6UxJnlBNxLnC9l+pJC6AHP54jQH/GdtecDSIHSGwq1XYqblbce2C32Ymct84cyGotCe4knVA+JR4odnifCkGQA8rMGFjQ+JFaHjaykC56MvBAfHd0V18ROjQJqkkAAAAAXSip3Qobd2gAAYICgFAAAOWqCGuxxGf7AgAAAAAEWVo=",
    ],
    [
      "zst",
      "KLUv/WQAJ+UFAEJKIR5wp3UA60lbfgWKKIh8UAwjGULxlNbEkOIJpf+7kQFH2V5E7jGV927xwykk0iGHStKNG5qwx7b3+HrG1wAHwt7mfD4C98dhlLZF+ZZ3gePPzOYh23ygC1wH8GoaFCkVRlLKUCh/RukIpFPK193vuTC6Vo3EGLOqxVgx5mIlZea1GDOzEigTACcj5wFgb7puYLuiLolwxT0tAgbUCGQ3QNbJV2APTEgDFAyFAyD8AcgGKwA4Vi7jExgCWF7Dog==",
    ],
  ])("may have control files that are packed by %s", async (ending, base64) => {
    const member = (data: string) =>
      makeAr([
        { name: "debian-binary", content: "2.0\n" },
        { name: `control.tar.${ending}`, content: parseBase64(base64) ?? "" },
        { name: `data.tar.${ending}`, content: data },
      ]);
    expect(await put(member("any"), `${ending}/main`)).toMatchObject({ status: 201 });
    expect(await textAt(at(`/dists/${ending}/main/binary-all/Packages`))).toContain(
      "Package: fixture\nVersion: 1.0\nArchitecture: all\n",
    );
  });

  it("is there once in each place, also of two published at once", async () => {
    const name = freshPackage();
    const [one, two] = [await debOf(name), await debOf(name, { Section: "misc" })];
    const before = await listLooseBlobs();
    const answers = await Promise.all([put(one), put(two)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(await put(one)).toMatchObject({ status: 409 });
    await expect.poll(() => looseBlobsSince(before), { timeout: 5000 }).toEqual([]);
    expect(await put(one, "stable/contrib")).toMatchObject({ status: 201 });
    expect(await put(one, "testing/main")).toMatchObject({ status: 201 });
    expect(await put(await debOf(name, { Architecture: "arm64" }))).toMatchObject({ status: 201 });
    expect(await versionsOf(name)).toHaveLength(1);
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined],
    ["another user", (): TestUser | undefined => other],
  ] as const)("is not published by %s", async (_, who) => {
    const name = freshPackage();
    const as = who();
    const body = await debOf(name);
    const path = at("/pool/stable/main/upload");
    const { status, headers } = await visit("PUT", path, { ...(as && { as }), body });
    expect([status, headers.get("WWW-Authenticate")]).toEqual([
      401,
      expect.stringMatching(/^Basic/),
    ]);
    expect(await versionsOf(name)).toHaveLength(0);
  });

  it(
    "is listed whole or not at all, whichever storage call fails",
    { timeout: 240_000 },
    async () => {
      const deb = await debOf("tool");
      const outcomes = await listWholeOrNothing(
        (who, serve) => serve(requestOf(who, "PUT", at("/pool/a/b/upload", who), deb)),
        1,
      );
      expect(outcomes).toEqual([0, 1]);
    },
  );

  const control = (fields: Readonly<Record<string, string>>) => () =>
    makeDeb(makeControl({ Package: "refused", ...fields }));
  const members = (...list: readonly (readonly [string, string | Uint8Array, string?])[]) =>
    makeAr(list.map(([name, content, size]) => ({ name, content, size })));
  const inTar = (path: string, type: "symlink" | "link", linkname: string) => () =>
    makeDebOf([
      {
        path: "./control",
        tar: { type, linkname },
      },
      { path },
    ]);

  it.each<[string, () => BodyInit | Promise<BodyInit>]>([
    ["nothing", () => ""],
    ["no archive", () => "text"],
    ["the start of an archive", () => "!<arch>\n"],
    ["no control files", () => members(["debian-binary", "2.0\n"], ["data.tar", "x"])],
    ["no format", async () => members(["control.tar.gz", await makeTarGz([])], ["data.tar", ""])],
    [
      "another format",
      async () =>
        members(
          ["debian-binary", "3.0\n"],
          ["control.tar.gz", await makeTarGz([])],
          ["data.tar", ""],
        ),
    ],
    [
      "control files of another packing",
      () => members(["debian-binary", "2.0\n"], ["control.tar.bz2", "x"], ["data.tar", ""]),
    ],
    [
      "control files that are none",
      () => members(["debian-binary", "2.0\n"], ["control.tar.gz", "x"], ["data.tar", ""]),
    ],
    ["no control file", () => makeDebOf([{ path: "./md5sums", content: "" }])],
    [
      "a member that claims more than there is",
      async () =>
        members(
          ["debian-binary", "2.0\n"],
          [
            "control.tar.gz",
            await makeTarGz([{ path: "control", content: makeControl({ Package: "refused" }) }]),
          ],
          ["data.tar.gz", "data", "99999"],
        ),
    ],
    ["a member without a size", () => members(["debian-binary", "2.0\n", "-4"])],
    ["a link for a control file", inTar("./a", "symlink", "/etc/passwd")],
    ["a path that leaves the archive", () => makeDebOf([{ path: "../control", content: "" }])],
    ["an empty control file", () => makeDebOf([{ path: "./control", content: "" }])],
    ["no name", () => makeDeb(makeControl({}))],
    ["a name in capitals", control({ Package: "Refused" })],
    ["a name that is a path", control({ Package: "../refused" })],
    ["a version that is a path", control({ Version: "1/../2" })],
    ["a version with an underscore", control({ Version: "1_2" })],
    ["a version with a new line", control({ Version: "1\n\nPackage: other" })],
    ["no version", control({ Version: "" })],
    ["a pattern for an architecture", control({ Architecture: "any" })],
    ["a source's architecture", control({ Architecture: "source" })],
    ["a second paragraph", control({ Section: "a\n\nPackage: other" })],
    ["a field twice", control({ section: "a", Section: "b" })],
    ["a carriage return", control({ Section: "a\rPackage: other" })],
    ["a line that is no field", control({ Section: "a\nno field" })],
    [
      "bytes that are not text",
      () => makeDebOf([{ path: "./control", content: new Uint8Array([255]) }]),
    ],
    [
      "too many fields",
      () =>
        makeDeb(
          makeControl({
            Package: "refused",
            ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`X-${n}`, "y"])),
          }),
        ),
    ],
  ])("is refused with %s, and nothing is listed", async (_, makeBody) => {
    const body = await makeBody();
    expect(await put(body)).toMatchObject({ status: 400 });
    expect(await versionsOf("refused")).toHaveLength(0);
  });

  it("is refused with control files that are too large", async () => {
    const large = makeControl({ Package: "refused", "X-Text": "x".repeat(70_000) });
    expect((await put(await makeDeb(large))).status).toBe(413);
    const bomb = [{ path: "./a", content: new Uint8Array(10_000_000) }];
    const small = { path: "./control", content: makeControl({ Package: "refused" }) };
    expect((await put(await makeDebOf([...bomb, small]))).status).toBe(413);
    expect(await versionsOf("refused")).toHaveLength(0);
  });

  it.each(["..%2Fa/main", "stable/ma%2Fin", "-a/main", "a%20b/main"])(
    "is not published in %s",
    async (place) => {
      const { status } = await put(await debOf("refused"), place);
      expect([400, 404]).toContain(status);
      expect(await versionsOf("refused")).toHaveLength(0);
    },
  );

  it("is deleted from one place, and with its last file", async () => {
    const name = freshPackage();
    const deb = await debOf(name);
    await put(deb, "stable/main");
    await put(deb, "testing/main");
    const path = (place: string) => at(`/pool/${place}/${name}/1.0/amd64`);
    expect((await visit("DELETE", path("stable/main"), { as: other })).status).toBe(401);
    expect((await visit("DELETE", path("stable/other"), { as: owner })).status).toBe(404);
    expect((await visit("DELETE", path("stable/main"), { as: owner })).status).toBe(204);
    expect(await versionsOf(name)).toHaveLength(1);
    expect((await visit("GET", at(`/pool/stable/main/${name}_1.0_amd64.deb`))).status).toBe(404);
    expect((await visit("GET", at(`/pool/testing/main/${name}_1.0_amd64.deb`))).status).toBe(200);
    expect((await visit("DELETE", path("testing/main"), { as: owner })).status).toBe(204);
    expect(await versionsOf(name)).toHaveLength(0);
  });
});

/** The digests in a Release file, by path. */
function readRelease(text: string, field: string): Map<string, { hash: string; size: number }> {
  const section = new RegExp(`^${field}:\n((?: .*\n)+)`, "m").exec(text)?.[1] ?? "";
  return new Map(
    section
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [hash = "", size = "", path = ""] = line.trim().split(" ");
        return [path, { hash, size: Number(size) }];
      }),
  );
}

describe("a distribution", () => {
  async function makeDistribution() {
    const user = await make.user();
    for (const [name, fields, place] of [
      ["beta", {}, "stable/main"],
      ["alpha", { Architecture: "arm64", Filename: "pool/evil.deb", SHA256: "0" }, "stable/main"],
      ["common", { Architecture: "all" }, "stable/contrib"],
      ["elsewhere", {}, "stable2/main"],
    ] as const) {
      await put(await debOf(name, fields), place, user);
    }
    return user;
  }

  it("lists its packages by component and architecture, and its lists by their digests", async () => {
    const user = await makeDistribution();
    const release = await textAt(at("/dists/stable/Release", user));
    expect(release).toMatch(
      /^Origin: Edgeforge\nLabel: Edgeforge\nSuite: stable\nCodename: stable\n/,
    );
    expect(release).toContain("\nComponents: contrib main\nArchitectures: all amd64 arm64\n");
    expect(release).toMatch(
      /\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d UTC\nAcquire-By-Hash: yes\n/,
    );
    for (const [field, digest] of [
      ["MD5Sum", "md5"],
      ["SHA1", "sha1"],
      ["SHA256", "sha256"],
      ["SHA512", "sha512"],
    ] as const) {
      const lists = readRelease(release, field);
      expect([...lists.keys()]).toHaveLength(12);
      for (const [path, { hash, size }] of lists) {
        const bytes = await bytesAt(at(`/dists/stable/${path}`, user));
        expect([path, bytes.length, createHash(digest).update(bytes).digest("hex")]).toEqual([
          path,
          size,
          hash,
        ]);
        const directory = path.slice(0, path.lastIndexOf("/"));
        const byHash = at(`/dists/stable/${directory}/by-hash/${field}/${hash}`, user);
        expect(await bytesAt(byHash)).toEqual(bytes);
      }
    }
    const arm = await textAt(at("/dists/stable/main/binary-arm64/Packages", user));
    expect(arm).toContain("Package: alpha");
    expect(arm).not.toContain("evil");
    expect(arm).not.toContain("Package: beta");
    expect(arm).toMatch(
      /\nFilename: pool\/stable\/main\/alpha_1\.0_arm64\.deb\nSize: \d+\nMD5sum: [0-9a-f]{32}\nSHA1: [0-9a-f]{40}\nSHA256: [0-9a-f]{64}\nSHA512: [0-9a-f]{128}\n$/,
    );
    const contrib = await textAt(at("/dists/stable/contrib/binary-amd64/Packages", user));
    expect(contrib).toContain("Package: common");
    for (const path of [
      "/dists/none/Release",
      "/dists/stable/none/binary-amd64/Packages",
      "/dists/stable/main/binary-none/Packages",
      "/dists/stable/main/binary-amd64/Packages.xz",
      `/dists/stable/main/binary-amd64/by-hash/SHA256/${"0".repeat(64)}`,
      "/dists/stable/main/binary-amd64/by-hash/None/0",
    ]) {
      expect(await textAt(at(path, user))).toBe("404");
    }
  });

  it("packs its lists by gzip", async () => {
    const user = await makeDistribution();
    const packed = await bytesAt(at("/dists/stable/main/binary-amd64/Packages.gz", user));
    expect(new TextDecoder().decode(gunzipSync(packed))).toBe(
      await textAt(at("/dists/stable/main/binary-amd64/Packages", user)),
    );
  });

  it("is signed by the owner's key, inside and beside it", async () => {
    const user = await makeDistribution();
    const release = await textAt(at("/dists/stable/Release", user));
    const [armored, again] = await Promise.all([
      textAt(at("/repository.key", user)),
      textAt(at("/repository.key", user)),
    ]);
    expect(again).toBe(armored);
    const verificationKeys = await readKey({ armoredKey: armored });
    const inside = await verify({
      message: await readCleartextMessage({
        cleartextMessage: await textAt(at("/dists/stable/InRelease", user)),
      }),
      verificationKeys,
    });
    expect(inside.data.trimEnd()).toBe(release.trimEnd());
    expect(await inside.signatures[0]?.verified).toBe(true);
    const beside = await verify({
      message: await createMessage({ binary: new TextEncoder().encode(release) }),
      signature: await readSignature({
        armoredSignature: await textAt(at("/dists/stable/Release.gpg", user)),
      }),
      verificationKeys,
    });
    expect(await beside.signatures[0]?.verified).toBe(true);
    const [registry] = await db
      .select()
      .from(packageRegistries)
      .where(eq(packageRegistries.ownerId, user.id));
    expect(registry?.publicKey).toBe(armored);
    expect(registry?.sealedKey).toMatch(/^1\.test\./);
  });

  // Nothing is signed by a key that can't be stored safely.
  it("is not signed by a service that can't seal a key, and says so", async () => {
    const user = await makeDistribution();
    for (const path of [
      "/repository.key",
      "/dists/stable/InRelease",
      "/dists/stable/Release.gpg",
    ]) {
      const { status, body } = await visit("GET", at(path, user));
      expect([status, body]).toEqual([403, expect.stringContaining("no key to seal")]);
    }
    expect((await visit("GET", at("/dists/stable/Release", user))).status).toBe(200);
  });

  it("keeps the lists that a Release file has named after the next publication", async () => {
    const user = await makeDistribution();
    const release = await textAt(at("/dists/stable/Release", user));
    const path = "main/binary-amd64/Packages";
    const { hash = "" } = readRelease(release, "SHA512").get(path) ?? {};
    const old = await textAt(at(`/dists/stable/${path}`, user));
    await put(await debOf("gamma"), "stable/main", user);
    expect(await textAt(at(`/dists/stable/${path}`, user))).toContain("gamma");
    const byHash = at(`/dists/stable/main/binary-amd64/by-hash/SHA512/${hash}`, user);
    expect(await textAt(byHash)).toBe(old);
  });

  it("has the date of its last change, which never goes back", async () => {
    const user = await makeDistribution();
    const dateOf = async () =>
      Date.parse(/Date: (.*)/.exec(await textAt(at("/dists/stable/Release", user)))?.[1] ?? "");
    const before = await dateOf();
    expect(await dateOf()).toBe(before);
    await visit("DELETE", at("/pool/stable/main/beta/1.0/amd64", user), { as: user });
    expect(await dateOf()).toBeGreaterThanOrEqual(before);
    // A date in the future is refused by apt.
    expect(await dateOf()).toBeLessThanOrEqual(Date.now());
  });

  // SECURITY: a package that is linked to a private repository is seen with it alone.
  it("does not list a package that is linked to a repository which the caller may not see", async () => {
    const user = await makeDistribution();
    const list = at("/dists/stable/main/binary-amd64/Packages", user);
    const file = at("/pool/stable/main/beta_1.0_amd64.deb", user);
    expect(await textAt(list)).toContain("Package: beta");
    const repo = await make.repo(user, { isPrivate: true });
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, user.id), eq(packages.name, "beta")));
    expect(await textAt(list, user)).toContain("Package: beta");
    expect((await visit("GET", file, { as: user })).status).toBe(200);
    const release = await textAt(at("/dists/stable/Release", user), user);
    const { hash = "" } = readRelease(release, "SHA512").get("main/binary-amd64/Packages") ?? {};
    const byHash = at(`/dists/stable/main/binary-amd64/by-hash/SHA512/${hash}`, user);
    expect(await textAt(byHash, user)).toContain("Package: beta");
    for (const as of [undefined, other]) {
      expect(await textAt(list, as)).not.toContain("beta");
      expect(await textAt(byHash, as)).toBe("404");
      expect((await visit("GET", file, { ...(as && { as }) })).status).toBe(404);
    }
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    await put(await debOf("secret"), "stable/main", secret);
    for (const path of [
      "/repository.key",
      "/dists/stable/Release",
      "/dists/stable/InRelease",
      "/dists/stable/main/binary-amd64/Packages",
      "/pool/stable/main/secret_1.0_amd64.deb",
    ]) {
      const url = at(path, secret);
      expect((await visitSealing("GET", url, { as: secret })).status).toBe(200);
      expect((await visitSealing("GET", url)).status).toBe(401);
      expect((await visitSealing("GET", url, { as: other })).status).toBe(404);
    }
  });
});
