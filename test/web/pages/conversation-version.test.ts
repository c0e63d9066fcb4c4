import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { commitStatuses, pulls, scheduledMerges } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { logged } from "../../support/usage.ts";

let owner: TestUser;
let browser: Browser;
let repo: TestRepo;
let path: string;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  repo = await make.repo(owner, { isEmpty: false });
  path = `/${owner.name}/${repo.name}`;
});

/** The version that the page of a conversation has. */
const shownAt = async (at: string): Promise<string> =>
  /data-version="([^"]+)"/.exec(String((await browser.get(at)).body))?.[1] ?? "";

/** Asks whether a conversation has another version. */
const ask = (at: string, version: string) =>
  visit("GET", `${at}/version`, { as: owner, headers: { "If-None-Match": `"${version}"` } });

describe("the version of a conversation", () => {
  it("is that of its page until something changes, asked in one round trip", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const first = await shownAt(at);
    expect(first).not.toBe("");
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    // The statement is built once.
    await ask(at, first);
    const { answer, line } = await logged(() =>
      visit("GET", `${at}/version`, {
        headers: { Cookie: cookie, "If-None-Match": `"${first}"` },
      }),
    );
    expect(answer.status).toBe(304);
    expect(line).toMatchObject({ d1Calls: 1, objectCalls: 0, r2Calls: 0, sqlBuilds: 0 });
    const versions = new Set([first]);
    const api = `/repos${at}`;
    for (const [method, to, json] of [
      ["POST", `${api}/comments`, { body: "New" }],
      ["PATCH", api, { title: "Other" }],
      ["PATCH", api, { state: "closed" }],
      ["PUT", `${api}/lock`, { lock_reason: "resolved" }],
    ] as const) {
      const known = [...versions].at(-1) ?? "";
      expect((await call(method, to, { as: owner, json })).status).toBeLessThan(300);
      const changed = await ask(at, known);
      expect(changed.status, `${method} ${to}`).toBe(204);
      const version = (changed.headers.get("etag") ?? "").replaceAll('"', "");
      expect(await shownAt(at)).toBe(version);
      versions.add(version);
    }
    expect(versions.size).toBe(5);
  });

  it("changes with checks and a scheduled merge of a pull request", async () => {
    const pull = await makePull(repo, { headBranch: "versions" });
    const at = `${path}/pulls/${pull.number}`;
    const read = async () => (await ask(at, "none")).headers.get("etag");
    const versions = new Set([await read()]);
    const { headOid } = pull.pull;
    await db.insert(commitStatuses).values({
      repoId: repo.id,
      commitOid: headOid,
      number: 1,
      state: "pending",
      context: "ci",
      description: "",
      targetUrl: "",
      creatorId: owner.id,
      createdAt: 1,
    });
    versions.add(await read());
    await db.insert(scheduledMerges).values({
      issueId: pull.id,
      repoId: repo.id,
      doerId: owner.id,
      style: "merge",
      createdAt: 1,
    });
    versions.add(await read());
    await db.update(pulls).set({ mergeState: "conflict" }).where(eq(pulls.issueId, pull.id));
    versions.add(await read());
    expect(versions.size).toBe(4);
  });

  it("changes with edits of comments, reactions and resolved conversations", async () => {
    const issue = await makeIssue(repo);
    const comment = await makeComment(issue);
    const at = `${path}/issues/${issue.number}`;
    const api = `/repos${path}/issues`;
    const versions = new Set([await shownAt(at)]);
    for (const [method, to, json] of [
      ["PATCH", `${api}/comments/${comment.id}`, { body: "Edited" }],
      ["POST", `${api}/comments/${comment.id}/reactions`, { content: "heart" }],
      ["POST", `${api}/${issue.number}/reactions`, { content: "heart" }],
      ["DELETE", `${api}/comments/${comment.id}/reactions`, { content: "heart" }],
      ["POST", `${api}/comments/${comment.id}/reactions`, { content: "heart" }],
    ] as const) {
      expect((await call(method, to, { as: owner, json })).status).toBeLessThan(300);
      const { status, headers } = await ask(at, [...versions].at(-1) ?? "");
      expect(status, `${method} ${to}`).toBe(204);
      versions.add((headers.get("etag") ?? "").replaceAll('"', ""));
    }
    expect(versions.size).toBe(6);
    const shown = String((await browser.get(at)).body);
    // The script renews what has another version.
    expect(shown).toMatch(/id="issuecomment-\d+"[^>]*data-entry="1,heart 1 true"/);
    expect(shown).toMatch(/id="issue-\d+"[^>]*data-entry="0,heart 1 true"/);
  });

  it("is for those who may see it", async () => {
    const hidden = await make.repo(owner, { isPrivate: true });
    const issue = await makeIssue(hidden);
    const at = `/${owner.name}/${hidden.name}/issues/${issue.number}/version`;
    expect((await visit("GET", at)).status).toBe(404);
    expect((await visit("GET", `${path}/issues/99999/version`)).status).toBe(404);
    const shown = await makeIssue(repo);
    expect((await visit("GET", `${path}/issues/${shown.number}/version`)).status).toBe(204);
    // Nobody but who is signed in loads the script that asks.
    const page = await visit("GET", `${path}/issues/${shown.number}`);
    expect(String(page.body)).not.toContain("data-version");
  });
});
