import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  attachments,
  type Issue,
  issues,
} from "../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { makePull } from "../../support/pulls.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

const HOUR_MS = 60 * 60 * 1000;

let owner: TestUser;
let reader: TestUser;
let repo: TestRepo;
let path: string;
const browsers = new Map<TestUser, Browser>();
beforeAll(async () => {
  owner = await make.userWithPassword();
  reader = await make.userWithPassword();
  repo = await make.repo(owner, { isEmpty: false });
  path = `/${owner.name}/${repo.name}`;
  for (const user of [owner, reader]) browsers.set(user, await Browser.signedIn(user));
});

const browserOf = (user: TestUser): Browser => browsers.get(user) as Browser;

async function tokenOf(user: TestUser): Promise<string> {
  const page = String((await browserOf(user).get("/notifications")).body);
  return /name="_csrf" value="([^"]*)"/.exec(page)?.[1] ?? "";
}

interface Upload {
  name?: string;
  content?: BlobPart;
  token?: string;
  at?: string;
  accept?: string;
}

async function upload(user: TestUser, options: Upload = {}) {
  const { name = "a.png", content = "bytes", at = path, accept = "application/json" } = options;
  const form = new FormData();
  form.append("_csrf", options.token ?? (await tokenOf(user)));
  form.append("body", "what was typed ".repeat(30_000));
  form.append("file", new File([content], name));
  form.append("behind", "another field");
  const headers = { ...SAME_ORIGIN, Accept: accept };
  return browserOf(user).postForm(`${at}/issues/attachments`, form, headers);
}

const uuidIn = (markdown: unknown): string =>
  /\/attachments\/([-0-9a-f]{36})\)/.exec(String(markdown))?.[1] ?? "";

/** Uploads a file, and returns the link that it gets. */
async function link(user: TestUser, options: Upload = {}): Promise<string> {
  const { status, body } = await upload(user, options);
  expect(status, String(body)).toBe(200);
  return (body as { markdown: string }).markdown;
}

async function send(user: TestUser, at: string, fields: Record<string, string>) {
  return browserOf(user).post(at, { _csrf: await tokenOf(user), ...fields });
}

const filesAt = async (at: string): Promise<string[]> =>
  (await call("GET", `/repos${path}/issues/${at}/assets`, { as: owner })).body.map(
    ({ uuid }: { uuid: string }) => uuid,
  );

const rowOf = async (uuid: string) =>
  (await db.select().from(attachments).where(eq(attachments.uuid, uuid)))[0];

const noteOf = async (uuid: string) =>
  (await db.select().from(attachmentLooseFiles).where(eq(attachmentLooseFiles.uuid, uuid)))[0];

describe("a file that is uploaded for a text", () => {
  it("belongs to the comment that links it, once", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const markdown = await link(reader);
    expect(markdown).toMatch(/^!\[a\.png\]\(\/attachments\//);
    const uuid = uuidIn(markdown);
    const form = { action: "comment", body: `Look: ${markdown}`, opened_at: String(Date.now()) };
    const { line } = await logged(() => send(reader, at, form));
    // That of the token is another request.
    expect(line).toMatchObject({ route: "/:owner/:repo/issues/:number{[0-9]{1,15}}" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    const again = await send(reader, at, form);
    const [comment, ...others] = (await call("GET", `/repos${at}/comments`, { as: owner })).body;
    expect(others).toEqual([]);
    expect(comment.assets).toMatchObject([{ uuid, name: "a.png", size: 5 }]);
    expect(again.headers.get("location")).toContain(`#issuecomment-${comment.id}`);
    expect(await noteOf(uuid)).toBeUndefined();
    expect(await visit("GET", `/attachments/${uuid}`)).toMatchObject({ status: 200 });
    const page = String((await browserOf(owner).get(at)).body);
    expect(page).toContain(`<a href="/attachments/${uuid}">a.png</a>`);
    expect(page).toMatch(new RegExp(`<img[^>]*src="[^"]*/attachments/${uuid}"`));
    // Another text that links it leaves it where it is.
    await send(reader, at, { action: "comment", body: `Again: ${markdown}` });
    expect(await filesAt(`comments/${comment.id}`)).toEqual([uuid]);
  });

  it("belongs to a new issue, and to texts that are edited", async () => {
    const [first, second, third] = [await link(owner), await link(owner), await link(owner)];
    const opened = await send(owner, `${path}/issues/new`, { title: "with a file", body: first });
    const [, number = ""] = /\/issues\/(\d+)$/.exec(opened.headers.get("location") ?? "") ?? [];
    const at = `${path}/issues/${number}`;
    expect(await filesAt(number)).toEqual([uuidIn(first)]);
    const edit = { action: "edit-body", body: `${first}\n${second}`, content_version: "0" };
    expect((await send(owner, at, edit)).status).toBe(303);
    expect(await filesAt(number)).toEqual([uuidIn(first), uuidIn(second)]);
    const row = await rowOf(uuidIn(first));
    const [issue] = await db
      .select()
      .from(issues)
      .where(eq(issues.id, row?.issueId ?? 0));
    const comment = await makeComment(issue as Issue, { body: "old" });
    const editComment = {
      action: "edit-comment",
      comment: String(comment.id),
      content_version: "0",
    };
    // An edit that is refused takes nothing.
    const late = { ...editComment, content_version: "7", body: third };
    expect((await send(owner, at, late)).status).toBe(409);
    expect(await filesAt(`comments/${comment.id}`)).toEqual([]);
    expect((await send(owner, at, { ...editComment, body: third })).status).toBe(303);
    expect(await filesAt(`comments/${comment.id}`)).toEqual([uuidIn(third)]);
  });

  it("belongs to a review that links it", async () => {
    const pull = await makePull(repo, { headBranch: "reviewed" });
    const markdown = await link(reader);
    const at = `${path}/pulls/${pull.number}`;
    const review = { action: "review", state: "comment", body: markdown };
    expect((await send(reader, at, review)).status).toBe(303);
    const page = String((await browserOf(owner).get(at)).body);
    expect(page).toContain(`<a href="/attachments/${uuidIn(markdown)}">a.png</a>`);
    expect(await noteOf(uuidIn(markdown))).toBeUndefined();
  });

  // SECURITY: who knows a link of somebody else's text can take nothing by it.
  it("is its uploader's alone until then, and stays so where others link it", async () => {
    const issue = await makeIssue(repo);
    const elsewhere = await make.repo(owner);
    const other = await makeIssue(elsewhere);
    const markdown = await link(reader);
    const uuid = uuidIn(markdown);
    const address = `/attachments/${uuid}`;
    expect((await browserOf(reader).get(address)).status).toBe(200);
    expect((await browserOf(owner).get(address)).status).toBe(404);
    expect(await visit("GET", address)).toMatchObject({ status: 404 });
    const form = { action: "comment", body: markdown };
    await send(owner, `${path}/issues/${issue.number}`, form);
    await send(reader, `/${owner.name}/${elsewhere.name}/issues/${other.number}`, form);
    expect(await rowOf(uuid)).toMatchObject({ issueId: null, entryId: null });
    expect(await noteOf(uuid)).toBeDefined();
    expect((await browserOf(owner).get(address)).status).toBe(404);
  });

  it("is left where a text has as many files as it may", async () => {
    const issue = await makeIssue(repo);
    const [first, second] = [await link(owner), await link(owner)];
    const narrow = new Browser(doorsWith({ ATTACHMENT_MAX_FILES: "1" }));
    for (const [name, value] of browserOf(owner).cookies) narrow.cookies.set(name, value);
    await narrow.post(`${path}/issues/${issue.number}`, {
      _csrf: await tokenOf(owner),
      action: "comment",
      body: `${second} ${first}`,
    });
    expect(await rowOf(uuidIn(first))).toMatchObject({ issueId: issue.id });
    expect(await rowOf(uuidIn(second))).toMatchObject({ issueId: null });
  });

  it("is not taken by a comment that is refused", async () => {
    const locked = await makeIssue(repo, { isLocked: true });
    const markdown = await link(reader);
    const at = `${path}/issues/${locked.number}`;
    const refused = await send(reader, at, { action: "comment", body: markdown });
    expect(refused.status).toBe(403);
    expect(String(refused.body)).toContain(uuidIn(markdown));
    expect(await rowOf(uuidIn(markdown))).toMatchObject({ issueId: null });
  });

  it("is deleted after a day, and then no text takes it", async () => {
    const issue = await makeIssue(repo);
    const [kept, gone] = [await link(owner), await link(owner)];
    const at = `${path}/issues/${issue.number}`;
    await send(owner, at, { action: "comment", body: kept });
    // The database's clock has whole seconds.
    const past = { expiresAt: Date.now() - 2000 };
    await db
      .update(attachmentLooseFiles)
      .set(past)
      .where(eq(attachmentLooseFiles.uuid, uuidIn(gone)));
    await send(owner, at, { action: "comment", body: gone });
    expect(await rowOf(uuidIn(gone))).toMatchObject({ issueId: null });
    await removeLooseAttachments(systemCtx({}, Date.now() + 2 * HOUR_MS));
    expect(await rowOf(uuidIn(gone))).toBeUndefined();
    expect(await env.PACKS.head(`attachments/${uuidIn(gone)}`)).toBeNull();
    expect(await rowOf(uuidIn(kept))).toMatchObject({ issueId: issue.id });
    expect(await env.PACKS.head(`attachments/${uuidIn(kept)}`)).not.toBeNull();
  });
});

describe("a file of a text", () => {
  it("is renamed and deleted by its uploader, while the text is edited", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    await send(reader, at, { action: "comment", body: await link(reader) });
    const [comment] = (await call("GET", `/repos${at}/comments`, { as: owner })).body;
    const of = { comment: String(comment.id), file: String(comment.assets[0].id) };
    const { body } = await browserOf(reader).get(`${at}?edit=${comment.id}`);
    expect(String(body)).toContain("Change a.png");
    expect(String((await browserOf(reader).get(at)).body)).not.toContain("Change a.png");
    const names = async () =>
      (await call("GET", `/repos${path}/issues/comments/${comment.id}/assets`)).body.map(
        ({ name }: { name: string }) => name,
      );
    const hostile = `<b>"b.png`;
    const rename = { action: "rename-file", ...of };
    expect((await send(reader, at, { ...rename, name: hostile })).status).toBe(303);
    expect(await names()).toEqual([hostile]);
    const page = String((await browserOf(reader).get(`${at}?edit=${comment.id}`)).body);
    expect(page).not.toContain(hostile);
    // Not to what may not be attached, not by others, and not by the page of another issue.
    const stranger = await make.userWithPassword();
    browsers.set(stranger, await Browser.signedIn(stranger));
    const other = await makeIssue(repo);
    for (const [status, user, to, fields] of [
      [422, reader, at, { ...rename, name: "a.exe" }],
      [403, stranger, at, { ...rename, name: "c.png" }],
      [403, stranger, at, { ...of, action: "delete-file" }],
      [404, owner, `${path}/issues/${other.number}`, { ...of, action: "delete-file" }],
      [404, owner, at, { ...of, action: "delete-file", comment: "" }],
    ] as const) {
      expect((await send(user, to, fields)).status).toBe(status);
    }
    expect(await names()).toEqual([hostile]);
    expect((await send(reader, at, { action: "delete-file", ...of })).status).toBe(303);
    expect(await names()).toEqual([]);
  });
});

describe("the upload of a file", () => {
  it("answers people with a page that shows the link, without active content", async () => {
    const hostile = `"><script>alert(1)<\u002fscript>](x).txt`;
    const { status, body } = await upload(reader, { name: hostile, accept: "text/html" });
    expect(status).toBe(200);
    const page = String(body);
    expect(page).not.toContain("<script>alert");
    expect(page).toMatch(/<code>\[[^<]*\]\(\/attachments\/[-0-9a-f]{36}\)<\/code>/);
  });

  it("is refused with nothing stored", async () => {
    const hidden = await make.repo(owner, { isPrivate: true });
    const archived = await make.repo(owner);
    await call("PATCH", `/repos/${owner.name}/${archived.name}`, {
      as: owner,
      json: { archived: true },
    });
    const count = async () => (await db.select().from(attachments)).length;
    const before = await count();
    const form = new FormData();
    form.append("file", new File(["x"], "a.png"));
    form.append("_csrf", await tokenOf(reader));
    const to = `${path}/issues/attachments`;
    for (const [status, answer] of [
      [403, await upload(reader, { token: "of another session" })],
      [403, await browserOf(reader).postForm(to, form)],
      [422, await upload(reader, { name: "a.exe" })],
      [404, await upload(reader, { at: `/${owner.name}/${hidden.name}` })],
      [423, await upload(owner, { at: `/${owner.name}/${archived.name}` })],
      [400, await send(reader, to, {})],
    ] as const) {
      expect(answer.status, String(answer.body)).toBe(status);
    }
    expect((await new Browser().postForm(to, form)).status).toBe(401);
    await call("PUT", `/user/blocks/${reader.name}`, { as: owner });
    expect((await upload(reader)).status).toBe(403);
    await call("DELETE", `/user/blocks/${reader.name}`, { as: owner });
    expect(await count()).toBe(before);
  });
});
