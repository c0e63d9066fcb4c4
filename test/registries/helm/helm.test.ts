import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { events, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { makeTarGz } from "../../support/archives.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { logged } from "../../support/usage.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";
import { makeChart, makeProvenance } from "./charts.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

const at = (path: string, of: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${of.name}/helm/${path}`;

const push = async (name: string, version: string, as = owner, fields: readonly string[] = []) =>
  visit("POST", at("api/charts", as), { as, body: await makeChart(name, version, fields) });

const readIndex = async (of = owner, as?: TestUser) => {
  const answer = await visit("GET", at("index.yaml", of), { ...(as && { as }) });
  expect(answer.status).toBe(200);
  return parse(answer.body);
};

const versionsOf = (name: string) =>
  db
    .select({ version: packageVersions.version })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(eq(packages.type, "helm"), eq(packages.nameKey, name)));

describe("POST /api/charts", () => {
  it("publishes a chart, which the index has with its digest", async () => {
    const name = freshName("chart");
    const fields = [
      "description: A chart",
      "appVersion: 1.0",
      "type: application",
      "deprecated: false",
      "keywords: [a, 2]",
      "maintainers: [{ name: Ann, email: ann@example.org }]",
      "dependencies: [{ name: dep, version: ^1, repository: 'https://example.org' }]",
      'annotations: { category: tools, odd: "\\x85\\u2028" }',
      "unknown: field",
    ];
    const archive = await makeChart(name, "1.2.3", fields);
    expect(await visit("POST", at("api/charts"), { as: owner, body: archive })).toMatchObject({
      status: 201,
      body: { saved: true },
    });
    const index = await readIndex();
    expect(index).toMatchObject({
      apiVersion: "v1",
      generated: expect.any(String),
      serverInfo: { contextPath: `/api/packages/${owner.name}/helm` },
    });
    const [entry] = index.entries[name];
    expect(entry).toEqual({
      apiVersion: "v2",
      name,
      version: "1.2.3",
      description: "A chart",
      // Helm reads an index only if these are texts.
      appVersion: "1",
      type: "application",
      deprecated: false,
      keywords: ["a", "2"],
      maintainers: [{ name: "Ann", email: "ann@example.org" }],
      dependencies: [{ name: "dep", version: "^1", repository: "https://example.org" }],
      annotations: { category: "tools", odd: "\u0085\u2028" },
      created: expect.stringMatching(/^\d{4}-.*Z$/),
      digest: createHash("sha256").update(archive).digest("hex"),
      urls: [`https://forge.example${at(`${name}-1.2.3.tgz`)}`],
    });
    const answer = await visit("GET", at(`${name}-1.2.3.tgz`));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("ETag")).toBe(`"${entry.digest}"`);
    expect(await visit("GET", at(`charts/${name}-1.2.3.tgz`))).toMatchObject({ status: 200 });
    const recorded = await db.select().from(events).where(eq(events.type, "package.created"));
    expect(recorded.filter(({ payload }) => payload["name"] === name)).toHaveLength(1);
  });

  it("takes a form with the chart and its provenance", async () => {
    const name = freshName("chart");
    const archive = await makeChart(name, "1.0.0");
    const form = new FormData();
    form.append("chart", new File([archive], "any.tgz"));
    form.append("prov", new File([makeProvenance(name, "1.0.0", archive)], "any.prov"));
    expect(await visit("POST", at("api/charts"), { as: owner, body: form })).toMatchObject({
      status: 201,
    });
    const signed = await visit("GET", at(`${name}-1.0.0.tgz.prov`));
    expect(signed).toMatchObject({ status: 200 });
    expect(signed.body).toContain("BEGIN PGP SIGNED MESSAGE");
  });

  it("refuses a version that exists, also by two at once, and leaves nothing", async () => {
    const name = freshName("chart");
    const both = await Promise.all([
      push(name, "1.0.0"),
      push(name, "1.0.0", owner, ["description: b"]),
    ]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const before = await listLooseBlobs();
    for (const path of ["api/charts", "api/charts?force"]) {
      const body = await makeChart(name, "1.0.0", ["description: c"]);
      expect(await visit("POST", at(path), { as: owner, body })).toMatchObject({
        status: 409,
        body: { error: expect.any(String) },
      });
    }
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
    expect(await versionsOf(name)).toHaveLength(1);
  });

  // Both would be served as chart-1.0.0-1.0.0.tgz.
  it("refuses a chart whose file another chart has", async () => {
    const name = freshName("chart");
    expect(await push(name, "1.0.0-1.0.0")).toMatchObject({ status: 201 });
    expect(await push(`${name}-1.0.0`, "1.0.0")).toMatchObject({ status: 409 });
    expect(await versionsOf(`${name}-1.0.0`)).toEqual([]);
  });

  it.each([
    ["no credential", (): TestUser | undefined => undefined],
    ["another user", (): TestUser | undefined => other],
  ])("refuses %s, and stores nothing", async (_, who) => {
    const name = freshName("chart");
    const as = who();
    const body = await makeChart(name, "1.0.0");
    const answer = await visit("POST", at("api/charts"), { ...(as && { as }), body });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await versionsOf(name)).toEqual([]);
  });

  const formOf = (fields: Record<string, BlobPart>): FormData => {
    const form = new FormData();
    for (const [name, content] of Object.entries(fields))
      form.append(name, new File([content], name));
    return form;
  };

  const bad: [string, (name: string) => Promise<BodyInit> | BodyInit, number][] = [
    ["nothing", () => new Uint8Array(), 400],
    ["what is not gzip", () => "nothing", 400],
    ["gzip that is not tar", () => new Uint8Array(gzipSync("nothing")), 400],
    ["half an archive", async (name) => (await makeChart(name, "1.0.0")).slice(0, 60), 400],
    ["no Chart.yaml", () => makeTarGz([{ path: "a/b", content: "" }]), 400],
    ["a Chart.yaml at the top", () => makeTarGz([{ path: "Chart.yaml", content: "" }]), 400],
    ["a list", () => makeTarGz([{ path: "a/Chart.yaml", content: "[]" }]), 400],
    ["no YAML", () => makeTarGz([{ path: "a/Chart.yaml", content: "a: [" }]), 400],
    [
      "aliases that expand",
      () => {
        const lines = Array.from({ length: 20 }, (_, each) =>
          each === 0 ? "a0: &a0 x" : `a${each}: &a${each} [*a${each - 1}, *a${each - 1}]`,
        );
        return makeTarGz([{ path: "a/Chart.yaml", content: lines.join("\n") }]);
      },
      400,
    ],
    [
      "a deep Chart.yaml",
      () => makeTarGz([{ path: "a/Chart.yaml", content: "[".repeat(1e5) }]),
      400,
    ],
    ["another apiVersion", (name) => makeChart(name, "1.0.0", ["apiVersion: v3"]), 400],
    ["no version", (name) => makeChart(name, ""), 400],
    ["a version that is none", (name) => makeChart(name, "one"), 400],
    ["a name that is a path", () => makeChart("../a", "1.0.0"), 400],
    ["a name with blanks", () => makeChart("a b", "1.0.0"), 400],
    ["keywords that are no list", (name) => makeChart(name, "1.0.0", ["keywords: a"]), 400],
    ["a maintainer that is a text", (name) => makeChart(name, "1.0.0", ["maintainers: [a]"]), 400],
    [
      "a long key",
      (name) => makeChart(name, "1.0.0", [`annotations: {${"k".repeat(600)}: a}`]),
      400,
    ],
    [
      "a link",
      (name) =>
        makeChart(
          name,
          "1.0.0",
          [],
          [{ path: `${name}/l`, tar: { type: "symlink", linkname: "/etc" } }],
        ),
      400,
    ],
    ["a path with ..", (name) => makeChart(name, "1.0.0", [], [{ path: `${name}/../../x` }]), 400],
    [
      "a bomb",
      (name) =>
        makeChart(
          name,
          "1.0.0",
          [],
          [{ path: `${name}/zero`, content: new Uint8Array(96 * 1024 * 1024) }],
        ),
      413,
    ],
    ["a form without a chart", () => formOf({ other: "x" }), 400],
    ["an empty form", () => formOf({}), 400],
    [
      "two charts",
      async (name) => {
        const form = new FormData();
        for (const version of ["1.0.0", "1.0.1"]) {
          form.append("chart", new File([await makeChart(name, version)], "c"));
        }
        return form;
      },
      400,
    ],
    [
      "the provenance of another archive",
      async (name) =>
        formOf({
          chart: (await makeChart(name, "1.0.0")).slice(),
          prov: makeProvenance(name, "1.0.0", new Uint8Array(1)),
        }),
      400,
    ],
    [
      "a provenance that is none",
      async (name) => formOf({ chart: (await makeChart(name, "1.0.0")).slice(), prov: "none" }),
      400,
    ],
  ];

  it.each(bad)("refuses %s, and leaves nothing", async (_, bodyOf, status) => {
    const name = freshName("bad");
    const before = await listLooseBlobs();
    const body = await bodyOf(name);
    const answer = await visit("POST", at("api/charts"), { as: owner, body });
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(await versionsOf(name)).toEqual([]);
    await expect.poll(() => looseBlobsSince(before)).toEqual([]);
  });

  it("is whole or nothing, whichever call fails", { timeout: 180_000 }, async () => {
    const listed = await listWholeOrNothing(async (user, serve) => {
      const name = freshName("chart");
      const archive = await makeChart(name, "1.0.0");
      const form = formOf({
        chart: archive,
        prov: makeProvenance(name, "1.0.0", archive),
      });
      return serve(requestOf(user, "POST", at("api/charts", user), form));
    }, 2);
    expect(listed).toEqual([0, 2]);
  });
});

describe("POST /api/prov", () => {
  it("adds the provenance of a chart that is there, once", async () => {
    const name = freshName("chart");
    const archive = await makeChart(name, "1.0.0");
    const body = makeProvenance(name, "1.0.0", archive);
    const send = (as = owner) => visit("POST", at("api/prov"), { as, body });
    expect(await send()).toMatchObject({ status: 404 });
    await visit("POST", at("api/charts"), { as: owner, body: archive });
    expect(await send(other)).toMatchObject({ status: 401 });
    expect(await send()).toMatchObject({ status: 201 });
    expect(await send()).toMatchObject({ status: 409 });
    expect(await visit("GET", at(`charts/${name}-1.0.0.tgz.prov`))).toMatchObject({
      status: 200,
      body,
    });
  });
});

describe("charts", () => {
  it("are listed as ChartMuseum lists them, highest version first", async () => {
    const user = await make.user();
    for (const version of ["1.9.0", "1.10.0", "v1.2.0"]) await push("one", version, user);
    await push("two", "0.1.0", user);
    const get = async (path: string) => (await visit("GET", at(path, user))).body;
    const all = await get("api/charts");
    expect(Object.keys(all)).toEqual(["one", "two"]);
    expect(Object.keys(await get("api/charts?offset=1&limit=1"))).toEqual(["two"]);
    const versions = all.one.map(({ version }: { version: string }) => version);
    expect(versions).toEqual(["1.10.0", "1.9.0", "v1.2.0"]);
    expect(await get("api/charts/one")).toHaveLength(3);
    expect(await get("api/charts/one/1.9.0")).toMatchObject({ name: "one", version: "1.9.0" });
    expect(await get("api/charts/one/latest")).toMatchObject({ version: "1.10.0" });
    for (const path of ["api/charts/none", "api/charts/one/9.9.9", "none", "one-9.9.9.tgz"]) {
      expect([path, (await visit("GET", at(path, user))).status]).toEqual([path, 404]);
    }
  });

  // `helm package` makes them: Helm completes a version and takes zeros before a number.
  it("have versions of fewer numbers, and with zeros before one", async () => {
    const user = await make.user();
    const versions = ["01.2.3", "2.0", "v3", "1", "1.10", "1.9-rc.1", "2.0.0+b"];
    for (const version of versions) {
      expect([version, (await push("short", `"${version}"`, user)).status]).toEqual([version, 201]);
    }
    const { entries } = await readIndex(user);
    expect(entries.short.map(({ version }: { version: string }) => version)).toEqual([
      "v3",
      "2.0.0+b",
      "2.0",
      "1.10",
      "1.9-rc.1",
      "01.2.3",
      "1",
    ]);
    for (const version of versions) {
      const file = `short-${encodeURIComponent(version)}.tgz`;
      expect((await visit("GET", at(file, user))).status).toBe(200);
      const path = at(`api/charts/short/${encodeURIComponent(version)}`, user);
      expect((await visit("DELETE", path, { as: user })).status).toBe(200);
    }
    expect((await readIndex(user)).entries).toEqual({});
  });

  it.each(["1.2.3.4", "1.", ".1", "V1.0.0", "1.2.3-01", "1.2.3-", "1.2+", " 1", "1 ", "-1", "v"])(
    "have no version %j, which Helm refuses",
    async (version) => {
      const user = await make.user();
      expect((await push("wrong", `"${version}"`, user)).status).toBe(400);
      expect((await readIndex(user)).entries).toEqual({});
    },
  );

  it("have the text of a number for a version, as Helm reads it", async () => {
    const user = await make.user();
    await push("number", "1.10", user);
    expect((await readIndex(user)).entries.number).toMatchObject([{ version: "1.1" }]);
  });

  it("are deleted version by version, by those who may publish", async () => {
    const name = freshName("chart");
    await push(name, "1.0.0");
    await push(name, "1.1.0");
    const path = at(`api/charts/${name}/1.0.0`);
    expect(await visit("DELETE", path)).toMatchObject({ status: 401 });
    expect(await visit("DELETE", path, { as: other })).toMatchObject({ status: 401 });
    expect(await versionsOf(name)).toHaveLength(2);
    expect(await visit("DELETE", path, { as: owner })).toMatchObject({
      status: 200,
      body: { deleted: true },
    });
    expect(await visit("DELETE", path, { as: owner })).toMatchObject({ status: 404 });
    expect(await visit("DELETE", at(`api/charts/${name}/%2e%2e%2f`), { as: owner })).toMatchObject({
      status: 400,
    });
    expect(await visit("GET", at(`${name}-1.0.0.tgz`))).toMatchObject({ status: 404 });
    const { entries } = await readIndex();
    expect(entries[name]).toMatchObject([{ version: "1.1.0" }]);
    expect(await push(name, "1.0.0")).toMatchObject({ status: 201 });
  });

  it("of a private owner, or linked to a private repository, are for those who see it", async () => {
    const secret = await make.user({ visibility: "private" });
    await push("hidden", "1.0.0", secret);
    for (const path of ["index.yaml", "hidden-1.0.0.tgz", "api/charts", "api/charts/hidden"]) {
      expect([path, (await visit("GET", at(path, secret))).status]).toEqual([path, 401]);
      const seen = await visit("GET", at(path, secret), { as: secret });
      expect([path, seen.status]).toEqual([path, 200]);
      const unseen = await visit("GET", at(path, secret), { as: other });
      expect([path, unseen.status]).toEqual([path, 404]);
    }
    const user = await make.user();
    const repo = await make.repo(user, { visibility: "private", isPrivate: true });
    await push("open", "1.0.0", user);
    await push("linked", "1.0.0", user);
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, user.id), eq(packages.name, "linked")));
    expect(Object.keys((await readIndex(user, user)).entries)).toEqual(["linked", "open"]);
    expect(Object.keys((await readIndex(user)).entries)).toEqual(["open"]);
    expect(Object.keys((await readIndex(user, other)).entries)).toEqual(["open"]);
    expect(await visit("GET", at("linked-1.0.0.tgz", user))).toMatchObject({ status: 404 });
    expect(await visit("GET", at("linked-1.0.0.tgz", user), { as: user })).toMatchObject({
      status: 200,
    });
  });

  it("of an owner without any are an empty index", async () => {
    expect(await readIndex(other)).toMatchObject({ apiVersion: "v1", entries: {} });
  });

  it("take two round trips, and the index one once it is kept", async () => {
    const user = await make.user();
    await push("one", "1.0.0", user);
    const read = () => logged(() => visit("GET", at("index.yaml", user)));
    expect((await read()).line.d1Rounds).toBeLessThanOrEqual(2);
    const { answer, line } = await read();
    expect(line.d1Rounds).toBe(1);
    const headers = { "If-None-Match": answer.headers.get("ETag") ?? "" };
    expect(await visit("GET", at("index.yaml", user), { headers })).toMatchObject({ status: 304 });
    await push("one", "1.0.1", user);
    expect(await visit("GET", at("index.yaml", user), { headers })).toMatchObject({ status: 200 });
  });
});
