import { eq, inArray, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { packageFiles, packages, packageVersions } from "../../src/db/schema/index.ts";
import { fileDateOf } from "../../src/registries/file-date.ts";
import type { Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { PUBLISHED, type RegistryRead, SETTINGS } from "../support/published-packages.ts";
import { doorsWith } from "../support/service.ts";

// Clients poll indexes. Some know them by their tag, some by their date alone.

const serve = doorsWith(SETTINGS);

/** Reads that are no index and no file: searches, and documents that say where to look. */
const UNDATED = new Set([
  "cargo: configuration",
  "cargo: owners",
  "cargo: search",
  "composer: root",
  "container: referrers",
  "container: tags",
  "debian: key",
  "helm: chart",
  "helm: charts",
  "helm: version of a chart",
  "npm: search",
  "npm: tags",
  "npm: version",
  "npm: version by its tag",
  "nuget: autocomplete",
  "nuget: count of version 2",
  "nuget: entry of version 2",
  "nuget: metadata of version 2",
  "nuget: query",
  "nuget: search of version 2",
  "nuget: service",
  "nuget: service of version 2",
  "nuget: versions of version 2",
  "rubygems: JSON of a gem",
  "rubygems: JSON of versions",
  "rubygems: root",
  "rubygems: search",
]);

/** Indexes that another version of the same package changes. */
const CHANGED_BY_VERSION: Readonly<Record<string, readonly string[]>> = {
  cargo: ["sparse index"],
  composer: ["list", "p2"],
  debian: ["Release", "InRelease", "Release.gpg", "Packages"],
  go: ["list", "latest"],
  helm: ["index"],
  maven: ["metadata", "checksum of the metadata"],
  npm: ["packument", "abbreviated packument"],
  nuget: ["registration", "flat container"],
  pypi: ["projects", "simple page", "JSON document"],
  rubygems: ["marshalled index", "versions", "names", "info"],
};

const read = ({ path, headers = {} }: RegistryRead, sending: Sending = {}) =>
  serve("GET", path, { ...sending, headers: { ...headers, ...sending.headers } });

const since = (date: string) => ({ headers: { "If-Modified-Since": date } });

const secondsFrom = (date: string, seconds: number): string =>
  new Date(Date.parse(date) + seconds * 1000).toUTCString();

async function publishTool(format: string) {
  const made = PUBLISHED[format];
  if (!made) throw new Error(`there is no format ${format}`);
  const owner = await make.user();
  const name = freshName("tool").replaceAll("-", "").toLowerCase();
  const publish = async (version: string, by: TestUser = owner) => {
    const { status, body } = await made.publish(by, name, version);
    expect(status, JSON.stringify(body)).toBeLessThan(300);
  };
  await publish("1.0.0");
  const reads = await made.reads(owner, name, "1.0.0");
  return {
    owner,
    publish,
    reads: reads.map((each) => Object.assign(each, { title: `${format}: ${each.title}` })),
  };
}

/** Publishes the files of an owner two seconds earlier. */
async function ageFiles({ id }: TestUser): Promise<void> {
  const isOwn = inArray(
    packageFiles.versionId,
    db
      .select({ id: packageVersions.id })
      .from(packageVersions)
      .where(eq(packageVersions.ownerId, id)),
  );
  await db
    .update(packageFiles)
    .set({ createdAt: sql`${packageFiles.createdAt} - 2000` })
    .where(isOwn);
}

const dateOf = async (index: RegistryRead, sending: Sending = {}): Promise<string | null> =>
  (await read(index, sending)).headers.get("Last-Modified");

describe.each(Object.keys(PUBLISHED))("indexes and files of %s", (format) => {
  it("are sent once to a client that knows their tag or their date", async () => {
    const { owner, reads } = await publishTool(format);
    await ageFiles(owner);
    for (const each of reads.filter(({ title }) => !UNDATED.has(title))) {
      const first = await read(each);
      const [tag, date] = ["ETag", "Last-Modified"].map((name) => first.headers.get(name));
      expect([each.title, first.status, tag, date]).toEqual([
        each.title,
        200,
        expect.stringMatching(/^"[^"]+"$/),
        expect.stringMatching(/ GMT$/),
      ]);
      const known = date ?? "";
      const statuses: unknown[] = [each.title];
      for (const headers of [
        { "If-Modified-Since": known },
        { "If-Modified-Since": secondsFrom(known, 3600) },
        { "If-Modified-Since": secondsFrom(known, -1) },
        { "If-None-Match": tag ?? "" },
        { "If-None-Match": '"other"', "If-Modified-Since": known },
      ]) {
        const { status, headers: sent, body } = await read(each, { headers });
        statuses.push(status);
        if (status !== 304) continue;
        expect([body, sent.get("ETag"), sent.get("Last-Modified")]).toEqual(["", tag, date]);
      }
      expect(statuses).toEqual([each.title, 304, 304, 200, 304, 200]);
    }
  });
});

describe.each(Object.entries(CHANGED_BY_VERSION))("indexes of %s", (format, titles) => {
  // Dates have no fractions of a second: a publication right after the last one has a later one.
  it("are sent again after each publication, also within a second", async () => {
    const { publish, reads } = await publishTool(format);
    const indexes = reads.filter(({ title }) => titles.includes(title.slice(format.length + 2)));
    expect(indexes).toHaveLength(titles.length);
    for (const version of ["1.0.1", "1.0.2"]) {
      const known: (string | null)[] = [];
      for (const each of indexes) known.push(await dateOf(each));
      const downloadedAt = new Date().toUTCString();
      await publish(version);
      for (const [at, each] of indexes.entries()) {
        for (const date of [known[at] ?? "", downloadedAt]) {
          const { status } = await read(each, since(date));
          expect([each.title, version, date, status]).toEqual([each.title, version, date, 200]);
        }
        const current = await read(each, since((await dateOf(each)) ?? ""));
        expect([each.title, version, current.status]).toEqual([each.title, version, 304]);
      }
    }
  });
});

describe("the date of a file", () => {
  const put = (owner: TestUser, body: string) =>
    serve("PUT", `/api/packages/${owner.name}/generic/tool/1/file`, { as: owner, body });

  it.each([10_000, 10_999])("is the second after its publication, and absent before: %i", (at) => {
    expect([at, 10_999, 11_000, 20_000].map((now) => fileDateOf(at, now))).toEqual([
      undefined,
      undefined,
      11_000,
      11_000,
    ]);
  });

  it("is another one when it is published again, for clients that know only dates", async () => {
    const owner = await make.user();
    const path = `/api/packages/${owner.name}/generic/tool/1`;
    const file = { title: "file", path: `${path}/file` };
    expect((await put(owner, "one")).status).toBe(201);
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
    expect((await put(owner, "two")).status).toBe(201);
    await ageFiles(owner);
    const known = (await dateOf(file)) ?? "";
    expect((await read(file, since(known))).status).toBe(304);
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
    expect((await put(owner, "three")).status).toBe(201);
    expect(await read(file, since(known))).toMatchObject({ status: 200, body: "three" });
    expect(await read(file, since(new Date().toUTCString()))).toMatchObject({ status: 200 });
  });
});

describe("the date of an index over all packages of an owner", () => {
  // A date says nothing about what changes with the caller's access: with a credential, a client
  // that has polled without one would never see what only the credential shows.
  it("is not stated where what the caller sees follows from their access", async () => {
    const { owner, reads } = await publishTool("pypi");
    const hidden = await PUBLISHED["pypi"]?.publish(owner, freshName("hidden"), "1.0.0");
    expect(hidden?.status).toBe(201);
    const projects = reads.find(({ title }) => title === "pypi: projects") as RegistryRead;
    const known = (await dateOf(projects)) ?? "";
    const repo = await make.repo(owner, { isPrivate: true });
    const [pkg] = await db.select().from(packages).where(eq(packages.ownerId, owner.id)).limit(1);
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(eq(packages.id, pkg?.id ?? 0));
    expect(await dateOf(projects, { as: owner })).toBeNull();
    const later = secondsFrom(known, 3600);
    expect((await read(projects, { as: owner, ...since(later) })).status).toBe(200);
    expect((await read(projects, since(later))).status).toBe(304);
  });

  // SECURITY: an index that became empty is the same as one that never had a package.
  it("is not stated of an index without packages", async () => {
    const { owner, reads } = await publishTool("pypi");
    const projects = reads.find(({ title }) => title === "pypi: projects") as RegistryRead;
    expect(await dateOf(projects)).not.toBeNull();
    const repo = await make.repo(owner, { isPrivate: true });
    await db.update(packages).set({ repoId: repo.id }).where(eq(packages.ownerId, owner.id));
    expect(await dateOf(projects)).toBeNull();
    await db.update(packages).set({ repoId: null }).where(eq(packages.ownerId, owner.id));
    expect(await dateOf(projects)).not.toBeNull();
    await db.delete(packages).where(eq(packages.ownerId, owner.id));
    expect(await dateOf(projects)).toBeNull();
  });
});
