import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  attachments,
  blocks,
  issues,
  repositories,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeAttachment, makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";

/** A form with a file. */
function formOf(content: BlobPart = "hello", name = "a.txt", field = "attachment"): FormData {
  const form = new FormData();
  form.append("other", "a field before the file");
  form.append(field, new File([content], name));
  form.append("another", "a field behind it");
  return form;
}

/** An issue by a reader, with a comment by another, and the paths of the files of both. */
async function makeSubjects(fields: Partial<Issue> = {}) {
  const [owner, writer, poster, commenter] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  const issue = await makeIssue(repo, { posterId: poster.id, ...fields });
  const comment = await makeComment(issue, { posterId: commenter.id });
  const base = `/repos/${repo.owner}/${repo.name}/issues`;
  const ofIssue = `${base}/${issue.number}/assets`;
  const ofComment = `${base}/comments/${comment.id}/assets`;
  return { owner, writer, poster, commenter, repo, issue, comment, base, ofIssue, ofComment };
}

const attach = (path: string, as: TestUser, body: BodyInit = formOf()) =>
  call("POST", path, { as, body });

const rowsOf = ({ id }: Issue) => db.select().from(attachments).where(eq(attachments.issueId, id));

const isStored = async (uuid: string) => (await env.PACKS.head(`attachments/${uuid}`)) !== null;

const looseUuids = async () =>
  (await db.select().from(attachmentLooseFiles)).map(({ uuid }) => uuid);

describe.each(["ofIssue", "ofComment"] as const)("the files (%s)", (subject) => {
  it("are stored, listed, renamed and deleted", async () => {
    const { owner, repo, issue, [subject]: path } = await makeSubjects();
    expect((await call("GET", path)).body).toEqual([]);
    const made = await attach(path, owner);
    const { id, uuid } = made.body;
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: "a.txt",
        size: 5,
        download_count: 0,
        browser_download_url: `https://forge.example/attachments/${uuid}`,
      },
    });
    expect(await isStored(uuid)).toBe(true);
    expect(await looseUuids()).not.toContain(uuid);
    expect((await call("GET", path)).body).toMatchObject([{ id, name: "a.txt" }]);
    const one = `${path}/${id}`;
    expect(await call("GET", one)).toMatchObject({ status: 200, body: { uuid } });
    const rename = (name: string) => call("PATCH", one, { as: owner, json: { name } });
    expect(await rename("../new.txt")).toMatchObject({ status: 201, body: { name: "new.txt" } });
    expect(await rename("")).toMatchObject({ status: 201, body: { name: "new.txt" } });
    expect(await rename("new.exe")).toMatchObject({ status: 422 });
    expect(await call("DELETE", one, { as: owner })).toMatchObject({ status: 204 });
    expect(await call("GET", one)).toMatchObject({ status: 404 });
    expect(await call("DELETE", one, { as: owner })).toMatchObject({ status: 404 });
    expect(await rowsOf(issue)).toEqual([]);
    const kind = subject === "ofIssue" ? "issue.edited" : "comment.edited";
    expect(typesOf(await eventsOf(repo))).toEqual([kind, kind, kind]);
  });

  it("are refused with nothing stored where the form or the file is wrong", async () => {
    const { owner, repo, issue, [subject]: path } = await makeSubjects();
    const raw = (body: string, type = "multipart/form-data; boundary=XX") =>
      call("POST", path, { as: owner, body, headers: { "Content-Type": type } });
    const part = (disposition: string) =>
      `--XX\r\nContent-Disposition: ${disposition}\r\n\r\nhello\r\n`;
    const file = 'form-data; name="attachment"; filename="a.txt"';
    const answers = [
      [400, await attach(path, owner, formOf("x", "a.txt", "file"))],
      [400, await raw("hello", "text/plain")],
      [400, await raw("hello", "multipart/form-data")],
      [400, await raw("")],
      [400, await raw(`${part('form-data; name="attachment"')}--XX--\r\n`)],
      [400, await raw(part(file))],
      [422, await attach(path, owner, formOf("<p>", "a.html"))],
      [422, await attach(path, owner, formOf("<p>", "a.txt.exe"))],
      [413, await raw(`${part(`form-data; name=x`).replace("hello", "y".repeat(300_000))}--XX--`)],
    ] as const;
    for (const [status, answer] of answers) expect(answer).toMatchObject({ status });
    expect(await rowsOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await raw(`${part(file)}--XX--\r\n`)).toMatchObject({ status: 201 });
  });

  it("are changed by those who may alone, unless the issue is locked or the repository archived", async () => {
    const { owner, writer, poster, repo, issue, comment, [subject]: path } = await makeSubjects();
    const stranger = await make.user();
    const entryId = subject === "ofIssue" ? null : comment.id;
    const { id } = await makeAttachment(issue, { entryId });
    const expectRefused = async (as: TestUser, status: number) => {
      expect(await attach(path, as)).toMatchObject({ status });
      const json = { name: "b.txt" };
      expect(await call("PATCH", `${path}/${id}`, { as, json })).toMatchObject({ status });
      expect(await call("DELETE", `${path}/${id}`, { as })).toMatchObject({ status });
      expect(await rowsOf(issue)).toMatchObject([{ id, name: "a.txt" }]);
    };
    await expectRefused(stranger, 403);
    expect(await call("POST", path, { body: formOf() })).toMatchObject({ status: 401 });
    await db.update(issues).set({ isLocked: true }).where(eq(issues.id, issue.id));
    await expectRefused(poster, 403);
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    await expectRefused(owner, 423);
    expect(await eventsOf(repo)).toEqual([]);
    await db.update(repositories).set({ archivedAt: null }).where(eq(repositories.id, repo.id));
    expect(await attach(path, writer)).toMatchObject({ status: 201 });
  });

  // SECURITY: an id of the path names nothing of another issue, comment or repository.
  it("are found only under what they belong to", async () => {
    const { owner, repo, base, issue, comment, [subject]: path } = await makeSubjects();
    const entryId = subject === "ofIssue" ? null : comment.id;
    const { id } = await makeAttachment(issue, { entryId });
    const other = await makeIssue(repo);
    const elsewhere = await makeIssue(await make.repo(owner));
    const second = await makeComment(issue);
    const foreign = await makeAttachment(elsewhere);
    const paths = [
      `${base}/${other.number}/assets/${id}`,
      `${base}/comments/${second.id}/assets/${id}`,
      `${path}/${foreign.id}`,
      subject === "ofIssue"
        ? `${base}/comments/${comment.id}/assets/${id}`
        : `${base}/${issue.number}/assets/${id}`,
    ];
    for (const each of paths) {
      expect(await call("GET", each, { as: owner }), each).toMatchObject({ status: 404 });
      const json = { name: "b.txt" };
      expect(await call("PATCH", each, { as: owner, json })).toMatchObject({ status: 404 });
      expect(await call("DELETE", each, { as: owner })).toMatchObject({ status: 404 });
    }
    expect(await rowsOf(issue)).toMatchObject([{ name: "a.txt" }]);
    expect(await rowsOf(elsewhere)).toMatchObject([{ name: "a.txt" }]);
  });
});

describe("POST …/assets", () => {
  it("takes a reader's file for their own issue, and the name and time of the query", async () => {
    const { owner, poster, commenter, ofIssue, ofComment } = await makeSubjects();
    const named = `${ofIssue}?name=${encodeURIComponent("b c.md")}`;
    expect(await attach(named, poster, formOf("# text", "x.bin"))).toMatchObject({
      status: 201,
      body: { name: "b c.md" },
    });
    // As in Gitea, a comment's files need write access.
    expect(await attach(ofComment, commenter)).toMatchObject({ status: 403 });
    const dated = `${ofIssue}?updated_at=2020-01-02T03:04:05Z`;
    expect(await attach(dated, poster)).toMatchObject({ status: 403 });
    expect(await attach(dated, owner)).toMatchObject({
      status: 201,
      body: { created_at: "2020-01-02T03:04:05Z" },
    });
    const future = `${ofIssue}?updated_at=2999-01-01T00:00:00Z`;
    expect(await attach(future, owner)).toMatchObject({ status: 422 });
  });

  it("refuses who is blocked, and removes the bytes", async () => {
    const { owner, poster, issue, ofIssue } = await makeSubjects();
    await db.insert(blocks).values({ blockerId: owner.id, blockedId: poster.id, createdAt: 1000 });
    expect(await attach(ofIssue, poster)).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    expect(await rowsOf(issue)).toEqual([]);
  });

  it("keeps to the configured size, types and number", async () => {
    const { owner, issue, ofIssue } = await makeSubjects();
    const settings = {
      ATTACHMENT_MAX_SIZE: "1",
      ATTACHMENT_ALLOWED_TYPES: ".log, image/*",
      ATTACHMENT_MAX_FILES: "2",
    };
    const visitSmall = doorsWith(settings);
    const send = (body: FormData) => visitSmall("POST", `/api/v1${ofIssue}`, { as: owner, body });
    expect((await visitSmall("GET", "/api/v1/settings/attachment")).body).toEqual({
      enabled: true,
      allowed_types: ".log,image/*",
      max_size: 1,
      max_files: 2,
    });
    const mib = 1024 * 1024;
    expect(await send(formOf(new Uint8Array(mib + 1), "a.log"))).toMatchObject({ status: 413 });
    expect(await send(formOf(new Uint8Array(2 * mib), "a.log"))).toMatchObject({ status: 413 });
    // By its content, not by its name.
    expect(await send(formOf("text", "a.png"))).toMatchObject({ status: 422 });
    expect(await rowsOf(issue)).toEqual([]);
    expect(await send(formOf("GIF89a…", "a.unknown"))).toMatchObject({ status: 201 });
    expect(await send(formOf(new Uint8Array(mib), "a.log"))).toMatchObject({
      status: 201,
      body: { size: mib },
    });
    expect(await send(formOf("x", "b.log"))).toMatchObject({ status: 422 });
    expect(await rowsOf(issue)).toHaveLength(2);
    const visitOff = doorsWith({ ATTACHMENT_ENABLED: "false" });
    const off = { as: owner, body: formOf() };
    expect(await visitOff("POST", `/api/v1${ofIssue}`, off)).toMatchObject({ status: 404 });
    expect(await visitOff("GET", `/api/v1${ofIssue}`, { as: owner })).toMatchObject({
      status: 404,
    });
  });

  it("streams a file of several parts of an upload", async () => {
    const { owner, ofIssue } = await makeSubjects();
    const bytes = new Uint8Array(9 * 1024 * 1024).map((_, at) => (at * 31) % 251);
    const { body } = await attach(ofIssue, owner, formOf(bytes, "a.zip"));
    expect(body).toMatchObject({ size: bytes.length });
    const stored = await env.PACKS.get(`attachments/${body.uuid}`);
    const kept = new Uint8Array((await stored?.arrayBuffer()) ?? new ArrayBuffer(0));
    expect(Buffer.compare(kept, bytes)).toBe(0);
  });
});

describe("GET /attachments/{uuid}", () => {
  it("sends the file, or a part of it, and counts whole downloads", async () => {
    const { owner, repo, ofIssue } = await makeSubjects();
    const { body } = await attach(ofIssue, owner, formOf("hello", 'a "b".txt'));
    const { uuid, name } = body;
    // Waits for deferred work, as the platform does.
    const visitFully = doorsWith({});
    expect(name).toBe('a "b".txt');
    for (const path of [
      `/attachments/${uuid}`,
      `/${repo.owner}/${repo.name}/attachments/${uuid}`,
    ]) {
      const whole = await visitFully("GET", path);
      expect(whole).toMatchObject({ status: 200, body: "hello" });
      const { headers } = whole;
      expect(headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; sandbox");
      expect(headers.get("Content-Disposition")).toBe(
        "inline; filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt",
      );
      const part = await visitFully("GET", path, { headers: { Range: "bytes=1-3" } });
      expect(part).toMatchObject({ status: 206, body: "ell" });
      expect(part.headers.get("Content-Range")).toBe("bytes 1-3/5");
      const beyond = await visitFully("GET", path, { headers: { Range: "bytes=9-" } });
      expect(beyond).toMatchObject({ status: 416 });
      const same = { "If-None-Match": headers.get("ETag") ?? "" };
      expect(await visit("GET", path, { headers: same })).toMatchObject({ status: 304, body: "" });
      expect(await visit("HEAD", path)).toMatchObject({ status: 200, body: "" });
    }
    const counted = await call("GET", `${ofIssue}/${body.id}`);
    expect(counted.body.download_count).toBe(2);
  });

  // SECURITY: what a browser would run is saved, whatever the client said of its type.
  it.each([
    ["a.svg", "image/svg+xml", "attachment"],
    ["a.html", "application/octet-stream", "attachment"],
    ["a.xhtml", "application/octet-stream", "attachment"],
    ["a.xml", "application/octet-stream", "attachment"],
    ["a.js", "application/octet-stream", "attachment"],
    ["a", "application/octet-stream", "attachment"],
    ["a.png", "image/png", "inline"],
    ["a.pdf", "application/pdf", "inline"],
    ["constructor", "application/octet-stream", "attachment"],
    ["a.constructor", "application/octet-stream", "attachment"],
  ])("serves %s as %s", async (name, type, disposition) => {
    const { owner, ofIssue } = await makeSubjects();
    const visitAll = doorsWith({ ATTACHMENT_ALLOWED_TYPES: "" });
    const body = formOf("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", name);
    const made = await visitAll("POST", `/api/v1${ofIssue}`, { as: owner, body });
    const { headers } = await visit("GET", `/attachments/${made.body.uuid}`);
    expect(headers.get("Content-Type")).toBe(type);
    expect(headers.get("Content-Disposition")).toMatch(new RegExp(`^${disposition};`));
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Content-Security-Policy")).toContain("sandbox");
  });

  it("keeps line breaks and directions of names out of the headers", async () => {
    const { owner, ofIssue } = await makeSubjects();
    const name = "..\\dir/a\r\nX-Evil: 1\u202Egpj.txt";
    const { body } = await attach(`${ofIssue}?name=${encodeURIComponent(name)}`, owner);
    expect(body.name).toBe("aX-Evil: 1gpj.txt");
    const { headers } = await visit("GET", `/attachments/${body.uuid}`);
    expect(headers.get("X-Evil")).toBeNull();
  });

  // SECURITY: the uuid is no key: access to the issue is asked for again at each request.
  it("finds nothing for those who may not see the issue", async () => {
    const { owner, repo, ofIssue } = await makeSubjects();
    const { body } = await attach(ofIssue, owner);
    const path = `/attachments/${body.uuid}`;
    const elsewhere = await make.repo(owner);
    const paths = [path, `/${repo.owner}/${repo.name}${path}`];
    const reader = await make.user();
    const expectAll = async (as: TestUser | undefined, status: number) => {
      for (const each of paths) {
        const answer = await visit("GET", each, as ? { as } : {});
        const found = { status: answer.status, isSent: String(answer.body).includes("hello") };
        expect(found, each).toEqual({ status, isSent: status === 200 });
      }
    };
    await expectAll(undefined, 200);
    await expectAll(reader, 200);
    const foreign = `/${elsewhere.owner}/${elsewhere.name}${path}`;
    expect(await visit("GET", foreign, { as: owner })).toMatchObject({ status: 404 });
    const isRepo = eq(repositories.id, repo.id);
    await db.update(repositories).set({ hasIssues: false }).where(isRepo);
    await expectAll(reader, 404);
    await db
      .update(repositories)
      .set({ hasIssues: true, isPrivate: true, visibility: "private" })
      .where(isRepo);
    await expectAll(reader, 404);
    await expectAll(undefined, 404);
    await expectAll(owner, 200);
    const narrow = await make.token(owner, { scopes: "read:user" });
    expect(await visit("GET", path, { token: narrow })).toMatchObject({ status: 403 });
    const bound = await make.token(owner, { repos: [elsewhere] });
    expect(await visit("GET", path, { token: bound })).toMatchObject({ status: 404 });
    expect(await visit("GET", `/attachments/${crypto.randomUUID()}`)).toMatchObject({
      status: 404,
    });
  });
});

describe("the files of deleted attachments", () => {
  const HOUR_MS = 60 * 60 * 1000;

  it("are removed by the schedule, however the attachment went, and others stay", async () => {
    const { owner, repo, comment, base, ofIssue, ofComment } = await makeSubjects();
    const second = await makeIssue(repo);
    const upload = async (path: string): Promise<string> => (await attach(path, owner)).body.uuid;
    const [single, ofDeletedComment, ofDeletedIssue] = [
      await upload(ofIssue),
      await upload(ofComment),
      await upload(`${base}/${second.number}/assets`),
    ];
    const kept = await upload(ofIssue);
    await db.delete(attachments).where(eq(attachments.uuid, single));
    const path = `${base}/comments/${comment.id}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    await db.delete(issues).where(eq(issues.id, second.id));
    const gone = [single, ofDeletedComment, ofDeletedIssue];
    expect(await looseUuids()).toEqual(expect.arrayContaining(gone));
    // Not at once: clocks differ, and somebody may be reading them.
    const now = Date.now();
    await removeLooseAttachments(systemCtx({}, now));
    for (const uuid of gone) expect(await isStored(uuid)).toBe(true);
    await removeLooseAttachments(systemCtx({}, now + 2 * HOUR_MS));
    for (const uuid of gone) expect(await isStored(uuid)).toBe(false);
    expect(await isStored(kept)).toBe(true);
    expect(await looseUuids()).not.toEqual(expect.arrayContaining(gone));
  });

  it("and those of uploads that never ended are removed a day later", async () => {
    const uuid = crypto.randomUUID();
    const now = Date.now();
    await env.PACKS.put(`attachments/${uuid}`, "half of it");
    await db.insert(attachmentLooseFiles).values({ uuid, expiresAt: now + 24 * HOUR_MS });
    await removeLooseAttachments(systemCtx({}, now + 2 * HOUR_MS));
    expect(await isStored(uuid)).toBe(true);
    await removeLooseAttachments(systemCtx({}, now + 26 * HOUR_MS));
    expect(await isStored(uuid)).toBe(false);
    expect(await looseUuids()).not.toContain(uuid);
  });
});
