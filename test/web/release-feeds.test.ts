import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";
import { visit } from "../support/call.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { parseXml } from "../../src/lib/xml.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";
import { makeCommit, storePush } from "../support/push.ts";
import { makeRelease } from "../support/releases.ts";
import { makeTag } from "../support/tag.ts";

async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user({ fullName: "A & B" });
  const repo = await make.repo(owner, fields);
  const path = `/${owner.name}/${repo.name}`;
  return { owner, repo, path };
}

describe.each(["rss", "atom"])("feeds of releases and tags: %s", (ending) => {
  it("list what is published, with links", async () => {
    const { owner, repo, path } = await makeWorld();
    await makeRelease(repo, { tagName: "v/1", title: "One <1>", body: "text & more" });
    await makeRelease(repo, { tagName: "v2", title: "", createdAt: 2000 });
    await makeRelease(repo, { tagName: "secret", isDraft: true });
    const url = `${path}/releases.${ending}`;
    const answer = await visit("GET", url, { as: owner });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toBe(`application/${ending}+xml; charset=utf-8`);
    expect(answer.body).toContain("One &lt;1&gt;");
    expect(answer.body).toContain(`https://forge.example${path}/releases/tag/v/1`);
    expect(answer.body).toContain(ending === "rss" ? "text &amp;amp; more" : "text &amp; more");
    expect(answer.body).toContain("A &amp; B");
    expect(String(answer.body).indexOf(">v2<")).toBeLessThan(String(answer.body).indexOf("One"));
    expect(answer.body).not.toContain("secret");
    const same = { "If-None-Match": answer.headers.get("ETag") ?? "" };
    expect(await visit("GET", url, { headers: same })).toMatchObject({ status: 304, body: "" });
  });

  it("list tags, newest first", async () => {
    const { repo, path } = await makeWorld();
    const commit = makeCommit(repo.name);
    await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
    const tag = makeTag(commit.oid, "v1", { message: "a <note>\n" });
    await storePush(repo, "refs/tags/v1", tag.oid, tag.pack, commit.oid);
    const { status, body } = await visit("GET", `${path}/tags.${ending}`);
    expect(status).toBe(200);
    expect(body).toContain(">v1<");
    expect(body).toContain(`https://forge.example${path}/src/tag/v1`);
    expect(body).toContain(ending === "rss" ? "a &amp;lt;note" : "a &lt;note");
  });

  it("hold the latest thirty, and what XML and calendars can't hold does not break them", async () => {
    const { repo, path } = await makeWorld();
    const at = (number: number) => ({ createdAt: 1000 * number, publishedAt: 1000 * number });
    for (let number = 1; number <= 31; number++) {
      const title = `Release-${number}-`;
      await makeRelease(repo, { title, body: "\u0000]]>\u{1F600}".repeat(2000), ...at(number) });
    }
    const commit = makeCommit(repo.name);
    await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
    // Behind the last year that a date has here, which git stores and shows all the same.
    const future = 99_999_999_999_999;
    for (const [name, time] of [
      ["v1", 1_650_000_000],
      ["v2", future],
    ] as const) {
      const tag = makeTag(commit.oid, name, { message: "bell \u0007\n", at: time });
      await storePush(repo, `refs/tags/${name}`, tag.oid, tag.pack, commit.oid);
    }
    for (const [name, count] of [
      ["releases", 30],
      ["tags", 2],
    ] as const) {
      const { status, body } = await visit("GET", `${path}/${name}.${ending}`);
      expect(status).toBe(200);
      const root = await parseXml(encodeUtf8(body as string), { elementsMax: 1000, depthMax: 5 });
      if (!root) throw new Error("the feed is no XML");
      const { children } = ending === "rss" ? (root.children[0] ?? root) : root;
      const item = ending === "rss" ? "item" : "entry";
      expect(children.filter((child) => child.name === item)).toHaveLength(count);
      expect(body).not.toContain("Release-1-");
      expect(body).not.toContain("Invalid");
    }
  });

  it("are for those who may see them", async () => {
    const { owner, repo, path } = await makeWorld({ isPrivate: true, visibility: "private" });
    await makeRelease(repo);
    for (const name of ["releases", "tags"]) {
      const url = `${path}/${name}.${ending}`;
      expect(await visit("GET", url)).toMatchObject({ status: 404 });
      expect(await visit("GET", url, { as: await make.user() })).toMatchObject({ status: 404 });
      expect(await visit("GET", url, { as: owner })).toMatchObject({ status: 200 });
    }
    await db
      .update(repositories)
      .set({ hasReleases: false, isPrivate: false, visibility: "public" })
      .where(eq(repositories.id, repo.id));
    expect(await visit("GET", `${path}/releases.${ending}`)).toMatchObject({ status: 404 });
  });
});
