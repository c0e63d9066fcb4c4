import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { describeMetadata } from "../../../src/web/pages/packages/describe-metadata.ts";
import { installationOf } from "../../../src/web/pages/packages/installation.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makePackage } from "../../support/packages.ts";
import { PUBLISHED, SETTINGS } from "../../support/published-packages.ts";
import { doorsWith } from "../../support/service.ts";

const PEOPLE = { headers: { Accept: "text/html" } };
const BAD = `"><script>alert(1)</script>`;
const serve = doorsWith(SETTINGS);

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

describe("the pages of packages", () => {
  it.each(Object.entries(PUBLISHED))(
    "show a version of %s, how to install it, and its files",
    async (type, { publish }) => {
      const owner = await make.user();
      for (const version of ["1.0.0", "1.0.1"]) {
        expect((await publish(owner, "tool", version)).status).toBeLessThan(300);
      }
      const ask = (path: string) => serve("GET", path, PEOPLE);
      const list = String((await ask(`/${owner.name}/-/packages`)).body);
      // Each package is listed once, as its newest version.
      const paths = [...list.matchAll(/href="([^"]*\/-\/packages\/[^"]+)"/g)].map(([, to]) => to);
      expect(paths).toHaveLength(1);
      const path = String(paths[0]);
      const page = String((await ask(path)).body);
      expect(page).toContain(owner.name);
      expect(page).toMatch(/id="installation"[^]*1\.0\.1/);
      const [, file = ""] = /href="([^"]+\/files\/\d+)"/.exec(page) ?? [];
      const { status, headers } = await ask(file);
      expect(status).toBe(200);
      expect(headers.get("Content-Disposition")).toMatch(/^attachment/);
      expect(headers.get("Content-Security-Policy")).toContain("sandbox");

      const whole = path.slice(0, path.lastIndexOf("/"));
      const { status: led, headers: to } = await ask(whole);
      expect([led, to.get("Location")]).toEqual([303, path]);
      expect((await ask(`${whole}/versions`)).body).toMatch(/2 versions[^]*1\.0\.0/);
      expect((await ask(`${path}.none`)).status).toBe(404);
      expect((await ask(`${path}/files/0`)).status).toBe(404);
      expect(String((await ask(`/${owner.name}/-/packages?type=${type}`)).body)).toContain(path);
      expect(String((await ask(`/${owner.name}/-/packages?q=zzz`)).body)).toContain("No package");
    },
  );

  it("list the packages that are linked to a repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { visibility: "public" });
    const [linked, other] = [
      await makePackage(owner, { repoId: repo.id }),
      await makePackage(owner),
    ];
    const page = await read(`/${owner.name}/${repo.name}/packages`);
    expect(page).toContain(linked.name);
    expect(page).not.toContain(other.name);
    expect(await read(`/${owner.name}/${repo.name}`)).toContain('/packages">Packages</a>');
    const off = await make.repo(owner, { visibility: "public", hasPackages: false });
    expect((await visit("GET", `/${owner.name}/${off.name}/packages`, PEOPLE)).status).toBe(404);
    expect(await read(`/${owner.name}/${off.name}`)).not.toContain('/packages">Packages</a>');
  });

  it("show a package of a private repository to its readers alone", async () => {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const pkg = await makePackage(owner, { repoId: repo.id, name: "pkg-hidden" });
    const at = `/${owner.name}/-/packages/${pkg.type}`;
    const browser = await Browser.signedIn(owner);
    expect((await browser.get(`${at}/${pkg.name}/1.0`)).status).toBe(200);
    expect((await browser.get(`/${owner.name}/-/packages`)).body).toContain(pkg.name);

    expect(await read(`/${owner.name}/-/packages`)).not.toContain(pkg.name);
    for (const rest of ["", "/versions", "/1.0", "/1.0/files/1"]) {
      const [hidden, absent] = [
        await visit("GET", `${at}/pkg-hidden${rest}`, PEOPLE),
        await visit("GET", `${at}/pkg-absent${rest}`, PEOPLE),
      ];
      expect(hidden.status, rest).toBe(404);
      expect(hidden.body).toEqual(absent.body);
    }
  });

  it("do not download a file of another package", async () => {
    const owner = await make.user();
    const { publish } = PUBLISHED["generic"] ?? {};
    for (const name of ["one", "two"]) await publish?.(owner, name, "1.0.0");
    const at = `/${owner.name}/-/packages/generic`;
    const [, id = ""] = /\/files\/(\d+)"/.exec(await read(`${at}/one/1.0.0`)) ?? [];
    expect((await visit("GET", `${at}/one/1.0.0/files/${id}`)).status).toBe(200);
    expect((await visit("GET", `${at}/two/1.0.0/files/${id}`)).status).toBe(404);
  });

  it("escape names and versions", async () => {
    const owner = await make.user();
    const pkg = await makePackage(owner, { name: `p${BAD}`, versions: [BAD] });
    expect(await read(`/${owner.name}/-/packages`)).not.toContain(BAD);
    const path = [pkg.type, pkg.name, BAD].map(encodeURIComponent).join("/");
    const page = await read(`/${owner.name}/-/packages/${path}`);
    expect(page).not.toContain(BAD);
    expect(page).toContain("&lt;script&gt;");
  });
});

describe("the settings of a package", () => {
  let owner: TestUser;
  let browser: Browser;
  beforeAll(async () => {
    owner = await make.userWithPassword();
    browser = await Browser.signedIn(owner);
  });

  async function makeScene(fields: Parameters<typeof makePackage>[1] = {}) {
    const pkg = await makePackage(owner, { versions: ["1.0", "2.0"], ...fields });
    const whole = `/${owner.name}/-/packages/${pkg.type}/${pkg.name}`;
    return { pkg, whole, path: `${whole}/1.0/settings` };
  }

  const rowOf = async ({ id }: { id: number }) =>
    (await db.select().from(packages).where(eq(packages.id, id)))[0];
  const versionsOf = async ({ id }: { id: number }) =>
    (await db.select().from(packageVersions).where(eq(packageVersions.packageId, id))).map(
      ({ version }) => version,
    );

  it("link it to a repository of its owner, and take it off, however often they are sent", async () => {
    const repo = await make.repo(owner);
    const { pkg, path } = await makeScene();
    const sent = {
      action: "link",
      repo_name: repo.name.toUpperCase(),
      _csrf: formTokenOf((await browser.get(path)).body),
    };
    for (let again = 0; again < 2; again++) {
      const { status, headers } = await browser.post(path, sent);
      expect([status, headers.get("Location")]).toEqual([303, path]);
    }
    expect(await rowOf(pkg)).toMatchObject({ repoId: repo.id });
    expect((await browser.get(path)).body).toContain(`Unlink ${owner.name}/${repo.name}`);
    for (let again = 0; again < 2; again++)
      expect((await browser.post(path, { ...sent, action: "unlink" })).status).toBe(303);
    expect(await rowOf(pkg)).toMatchObject({ repoId: null });
  });

  it("say at the field what is wrong, with nothing written", async () => {
    const other = await make.repo(await make.user(), { visibility: "public" });
    const { pkg, path } = await makeScene();
    const before = [await rowOf(pkg), await versionsOf(pkg)];
    const link = { action: "link", repo_name: other.name };
    const refused = await browser.submit(path, link);
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(/id="repo_name-fault" role="alert">Must be that of/);
    expect(refused.body).toContain(`value="${other.name}"`);
    for (const name of ["", BAD, pkg.name.toUpperCase()]) {
      const deletion = { action: "delete_package", package_name: name };
      const { status, body } = await browser.submit(path, deletion);
      expect(status).toBe(422);
      expect(body).toMatch(/id="package_name-fault" role="alert">Must be the name/);
      expect(body).not.toContain(BAD);
    }
    expect((await browser.submit(path, { action: "toString" })).status).toBe(404);
    expect([await rowOf(pkg), await versionsOf(pkg)]).toEqual(before);
  });

  it("delete a version", async () => {
    const { pkg, whole, path } = await makeScene();
    const { status, headers } = await browser.submit(path, { action: "delete_version" });
    expect([status, headers.get("Location")]).toEqual([303, `/${owner.name}/-/packages`]);
    expect(await versionsOf(pkg)).toEqual(["2.0"]);
    expect((await browser.get(path)).status).toBe(404);
    expect((await browser.get(`${whole}/2.0/settings`)).status).toBe(200);
  });

  it("delete it as a whole, with an event for each version", async () => {
    const { pkg, path } = await makeScene();
    const other = await makePackage(owner);
    const sent = { action: "delete_package", package_name: ` ${pkg.name} ` };
    expect((await browser.submit(path, sent)).status).toBe(303);
    expect(await rowOf(pkg)).toBeUndefined();
    expect(await versionsOf(pkg)).toEqual([]);
    expect(await rowOf(other)).toBeDefined();
    const announced = await db
      .select({ type: events.type })
      .from(events)
      .where(eq(events.ownerId, owner.id));
    expect(announced.filter(({ type }) => type === "package.deleted").length).toBeGreaterThan(1);
  });

  it("are for those alone who may write packages of the owner", async () => {
    const { pkg, whole, path } = await makeScene();
    const before = [await rowOf(pkg), await versionsOf(pkg)];
    const stranger = await Browser.signedIn(await make.userWithPassword());
    expect((await stranger.get(path)).status).toBe(404);
    expect((await visit("GET", path, PEOPLE)).headers.get("Location")).toContain("/user/login");
    const token = formTokenOf((await stranger.get("/notifications")).body);
    const sent = { action: "delete_package", package_name: pkg.name, _csrf: token };
    expect((await stranger.post(path, sent)).status).toBe(404);
    expect((await browser.post(path, sent)).status).toBe(403);
    expect([await rowOf(pkg), await versionsOf(pkg)]).toEqual(before);
    expect((await stranger.get(`${whole}/1.0`)).body).not.toContain(path);
    expect((await browser.get(`${whole}/1.0`)).body).toContain(path);
  });
});

describe("the commands that install a version", () => {
  const of = { rootUrl: "https://forge.example", owner: "Ada", files: ["a b.txt"] };

  it("quote what a shell would read otherwise", () => {
    const bad = { ...of, name: "x'; rm -rf ~ #", version: "1.0\nrm -rf ~" };
    for (const type of ["npm", "pypi", "cargo", "rubygems", "go", "nuget", "helm"] as const) {
      const text = installationOf(type, bad) ?? "";
      expect(text, type).toContain(`'\\''`);
      expect(text.split("\n").some((line) => line.startsWith("rm"))).toBe(false);
    }
    expect(installationOf("generic", { ...of, name: "tool", version: "1.0" })).toBe(
      "curl -fsSLo 'a b.txt' https://forge.example/api/packages/Ada/generic/tool/1.0/a%20b.txt",
    );
  });

  it("name an image by its tag or its digest", () => {
    const image = (version: string) =>
      installationOf("container", { ...of, name: "shop/web", version });
    expect(image("1.0")).toBe("docker pull forge.example/ada/shop/web:1.0");
    expect(image("sha256:ab")).toBe("docker pull forge.example/ada/shop/web@sha256:ab");
  });

  it("are absent for a format that is not served", () => {
    expect(installationOf("swift", { ...of, name: "a", version: "1" })).toBeUndefined();
  });
});

describe("the metadata of a version", () => {
  it.each([
    ["a manifest of npm", { description: "Weaves", license: "MIT", author: { name: "Ada" } }],
    [
      "a chart",
      { chart: { description: "Weaves", license: "MIT", maintainers: [{ name: "Ada" }] } },
    ],
    ["a gem", { description: "Weaves", licenses: ["MIT"], authors: ["Ada"] }],
    ["core metadata", { summary: "Weaves", description: "Long", license: "MIT", author: "Ada" }],
  ])("is read from %s", (_, metadata) => {
    expect(describeMetadata(metadata)).toMatchObject({
      summary: "Weaves",
      license: "MIT",
      author: "Ada",
    });
  });

  it.each([[null], [7], ["text"], [[]], [{ description: 1, keywords: { a: 1 } }]])(
    "is empty for %j",
    (metadata) => {
      expect(describeMetadata(metadata)).toEqual({
        summary: "",
        license: "",
        website: "",
        source: "",
        author: "",
        keywords: [],
        dependencies: [],
      });
    },
  );

  it.each<[string, object, string[]]>([
    ["npm", { dependencies: { left: "^1.0", right: "*" } }, ["left ^1.0", "right *"]],
    ["Composer", { require: { php: ">=8", "a/b": "^1" } }, ["php >=8", "a/b ^1"]],
    ["a chart", { chart: { dependencies: [{ name: "db", version: "1.x" }] } }, ["db 1.x"]],
    ["Debian", { dependencies: ["libc6 (>= 2.34)", "a | b"] }, ["libc6 (>= 2.34)", "a | b"]],
    ["PyPI", { requires_dist: ["requests>=2"] }, ["requests>=2"]],
    [
      "a crate",
      {
        entry: {
          deps: [
            { name: "serde", req: "^1", kind: "normal" },
            { name: "alias", package: "real", req: "^2", kind: "build" },
            { name: "tester", req: "^1", kind: "dev" },
          ],
        },
      },
      ["serde ^1", "real ^2"],
    ],
    [
      "Maven",
      {
        dependencies: [
          { groupId: "org.a", artifactId: "b", version: "1", scope: "compile" },
          { groupId: "junit", artifactId: "junit", version: "4", scope: "test" },
        ],
      },
      ["org.a:b 1"],
    ],
    [
      "NuGet",
      {
        dependencyGroups: [
          { framework: "net6.0", dependencies: [{ id: "A", range: "[1,)" }] },
          { framework: "net8.0", dependencies: [{ id: "A", range: "[1,)" }] },
        ],
      },
      ["A [1,)"],
    ],
    ["anything", { dependencies: [7, null, {}, [[]]], dependencyGroups: [null, 1] }, []],
  ])("has the dependencies of %s", (_, metadata, dependencies) => {
    expect(describeMetadata(metadata).dependencies).toEqual(dependencies);
  });
});
