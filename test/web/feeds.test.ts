import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";

import { formatAtom, formatRss } from "../../src/web/feed-document.ts";
import { pushOf, recordEvent } from "../support/activities.ts";
import { call, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { makeComment, makeIssue } from "../support/issues.ts";
import { makePull, makeReview } from "../support/pulls.ts";
import { insertManyEvents } from "../support/bulk.ts";
import { make } from "../support/make.ts";
import { logged } from "../support/usage.ts";

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user({ fullName: 'A & <B> "C"' });
  const repo = await make.repo(owner, fields);
  await recordEvent(repo, owner, "repository.pushed", pushOf("refs/heads/main"));
  return { owner, repo, path: `/${owner.name}/${repo.name}` };
}

describe.each([".rss", ".atom"])("feeds: %s", (ending) => {
  it("list the activities of a repository and of a user", async () => {
    const { owner, repo, path } = await makePushed({ description: "x < y" });
    for (const address of [path, `/${owner.name}`]) {
      const answer = await visit("GET", address + ending);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("Content-Type")).toBe(
        `application/${ending.slice(1)}+xml; charset=utf-8`,
      );
      expect(answer.body).toContain(`${owner.name} pushed to main at ${owner.name}/${repo.name}`);
      expect(answer.body).toContain("A &amp; &lt;B&gt; &quot;C&quot;");
    }
  });

  it("list issues and comments with links to them", async () => {
    const { owner, repo, path } = await makePushed();
    const issue = await makeIssue(repo, { title: "It rains <in>" });
    const comment = await makeComment(issue, { body: "Same & more" });
    const about = { issueId: issue.id, number: issue.number, isPull: false };
    await recordEvent(repo, owner, "issue.opened", about);
    await recordEvent(repo, owner, "comment.created", { ...about, commentId: comment.id });
    const { body } = await visit("GET", path + ending);
    const name = `${owner.name}/${repo.name}`;
    const page = `https://forge.example/${name}/issues/1`;
    expect(body).toContain(`>${owner.name} opened issue ${name}#1<`);
    expect(body).toContain(`>${owner.name} commented on issue ${name}#1<`);
    expect(body).toContain(page);
    expect(body).toContain(`${page}?entry=${comment.id}#issuecomment-${comment.id}`);
    expect(body).toContain(
      ending === ".rss" ? "It rains &amp;lt;in&amp;gt;" : "It rains &lt;in&gt;",
    );
    expect(body).toContain(ending === ".rss" ? "Same &amp;amp; more" : "Same &amp; more");
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, repo.id));
    expect((await visit("GET", path + ending)).body).not.toContain("issue");
  });

  it("list merges and reviews of pull requests with links to them", async () => {
    const { owner, repo, path } = await makePushed();
    const pull = await makePull(repo, {}, { title: "A roof" });
    const review = await makeReview(pull, { body: "Well done" });
    const of = { issueId: pull.id, number: pull.number };
    await recordEvent(repo, owner, "review.submitted", {
      ...of,
      reviewId: review.id,
      state: "approved",
    });
    await recordEvent(repo, owner, "pull.merged", { ...of, isAutomatic: false });
    const { body } = await visit("GET", path + ending);
    const name = `${owner.name}/${repo.name}`;
    expect(body).toContain(`>${owner.name} approved ${name}#1<`);
    expect(body).toContain(`>${owner.name} merged pull request ${name}#1<`);
    expect(body).toMatch(
      new RegExp(`https://forge.example/${name}/pulls/1\\?entry=(\\d+)#issuecomment-\\1`),
    );
    expect(body).toContain("Well done");
    expect(body).toContain("A roof");
  });

  // SECURITY: feed readers usually send no credential.
  it("list only public activities to anonymous callers, and private ones to the owner with a token", async () => {
    const { owner, repo, path } = await makePushed({ isPrivate: true });
    const none = await visit("GET", `/${owner.name}/no-such-thing${ending}`);
    expect(none).toMatchObject({ status: 404, body: "404 page not found\n" });
    expect(await visit("GET", path + ending)).toMatchObject({ status: 404, body: none.body });
    expect((await visit("GET", `/${owner.name}${ending}`)).body).not.toContain(repo.name);
    expect((await visit("GET", path + ending, { as: owner })).body).toContain(repo.name);
    expect((await visit("GET", `/${owner.name}${ending}`, { as: owner })).body).toContain(
      repo.name,
    );
  });

  it("list an organization's activities to callers who may see it", async () => {
    const owner = await make.user();
    const org = await make.org([owner], { visibility: "private" });
    const repo = await make.repo(org);
    await recordEvent(repo, owner);
    expect((await visit("GET", `/${org.name}${ending}`)).status).toBe(404);
    expect((await visit("GET", `/${org.name}${ending}`, { as: owner })).body).toContain(repo.name);
  });

  it("redirect to a new name, only for callers who may see the renamed resource", async () => {
    const { owner, repo, path } = await makePushed();
    const name = `${repo.name}-now`;
    const renamed = await call("PATCH", `/repos${path}`, { as: owner, json: { name } });
    expect(renamed.status).toBe(200);
    const answer = await visit("GET", `${path}${ending}?x=1`);
    expect([answer.status, answer.headers.get("Location")]).toEqual([
      301,
      `https://forge.example/${owner.name}/${name}${ending}?x=1`,
    ]);
    const json = { new_username: `${owner.name}-now` };
    const admin = await make.admin();
    const moved = await call("POST", `/admin/users/${owner.name}/rename`, { as: admin, json });
    expect(moved.status).toBe(204);
    expect((await visit("GET", `/${owner.name}${ending}`)).headers.get("Location")).toBe(
      `https://forge.example/${owner.name}-now${ending}`,
    );
    await call("PATCH", `/repos/${owner.name}-now/${name}`, { as: owner, json: { private: true } });
    expect((await visit("GET", `${path}${ending}`)).status).toBe(404);
  });

  it("return 304 for a known ETag, until there is a new activity or the caller loses access", async () => {
    const { owner, repo, path } = await makePushed();
    for (const address of [path, `/${owner.name}`]) {
      const first = await visit("GET", address + ending);
      const tag = first.headers.get("ETag") ?? "";
      expect(tag).toMatch(/^"[0-9a-f]{40}"$/);
      for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const headers = { "If-None-Match": condition };
        const answer = await visit("GET", address + ending, { headers });
        expect(answer).toMatchObject({ status: 304, body: "" });
        expect(answer.headers.get("ETag")).toBe(tag);
        expect(answer.headers.get("Content-Type")).toBeNull();
      }
      await recordEvent(repo, owner, "repository.pushed", pushOf("refs/heads/next"));
      const later = await visit("GET", address + ending, { headers: { "If-None-Match": tag } });
      expect(later.status).toBe(200);
      expect(later.headers.get("ETag")).not.toBe(tag);
    }
    const { headers } = await visit("GET", path + ending);
    await call("PATCH", `/repos${path}`, { as: owner, json: { private: true } });
    const condition = { "If-None-Match": headers.get("ETag") ?? "" };
    expect((await visit("GET", path + ending, { headers: condition })).status).toBe(404);
  });

  it("are empty without activities, and return 404 for invalid names", async () => {
    const user = await make.user();
    expect((await visit("GET", `/${user.name}${ending}`)).status).toBe(200);
    for (const junk of ["nobody-here", "%00", "%2e%2e", "a%2fb", "x".repeat(5000), "%F0%9F"]) {
      expect((await visit("GET", `/${junk}${ending}`)).status, junk).toBe(404);
      expect((await visit("GET", `/${user.name}/${junk}${ending}`)).status, junk).toBe(404);
    }
  });
});

describe("a feed document", () => {
  it.each([formatAtom, formatRss])("is well-formed with any text", (format) => {
    const hostile = '\u0000\u001b\uD800\uFFFE]]><a b="c">&amp;\'';
    const item = { id: hostile, title: hostile, text: hostile, url: hostile, authorName: hostile };
    const about = { title: hostile, description: hostile, pageUrl: hostile, feedUrl: hostile };
    const text = format({ ...about, items: [{ ...item, at: 0 }] });
    // oxlint-disable-next-line no-control-regex -- the characters forbidden in XML
    expect(text).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/);
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toContain("<a b");
    expect(text).not.toContain("]]>");
  });
});

it("feeds read what they show, however many activities there are", async () => {
  const { owner, repo, path } = await makePushed();
  const rowsRead = async () => {
    const { line: ofRepository } = await logged(() => visit("GET", `${path}.rss`));
    const { line: ofUser } = await logged(() => visit("GET", `/${owner.name}.rss`));
    return [ofRepository.d1RowsRead, ofUser.d1RowsRead];
  };
  await insertManyEvents(repo, owner, 40, 1_000_000);
  const few = await rowsRead();
  await insertManyEvents(repo, owner, 2000, 50_000_000);
  const many = await rowsRead();
  expect(few[0]).toBeGreaterThan(30);
  expect(many).toEqual(few);
});
