import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  attachments,
  releases,
  repositories,
  type Release,
} from "../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { ASSETS_MAX } from "../../../src/domain/packages/releases/assets.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeAsset, makeRelease } from "../../support/releases.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";

const HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/** A form with a file. */
function formOf(content: BlobPart = "hello", name = "a.txt", field = "attachment"): FormData {
  const form = new FormData();
  form.append("other", "a field before the file");
  form.append(field, new File([content], name));
  return form;
}

const pathOf = ({ owner, name }: TestRepo, { id }: Pick<Release, "id">) =>
  `/repos/${owner}/${name}/releases/${id}/assets`;

async function makeWorld(fields: Partial<Release> = {}) {
  const [owner, writer, stranger] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  const release = await makeRelease(repo, fields);
  return { owner, writer, stranger, repo, release, path: pathOf(repo, release) };
}

const add = (path: string, as: TestUser, body: BodyInit = formOf()) =>
  call("POST", path, { as, body });
const addRaw = (path: string, as: TestUser, body: BodyInit, type = "application/octet-stream") =>
  call("POST", path, { as, body, headers: { "Content-Type": type } });
const rowsOf = ({ id }: Release) =>
  db.select().from(attachments).where(eq(attachments.releaseId, id));
const isStored = async (uuid: string) => (await env.PACKS.head(`attachments/${uuid}`)) !== null;
const looseUuids = async () =>
  (await db.select().from(attachmentLooseFiles)).map(({ uuid }) => uuid);
const storedKeys = async () => (await env.PACKS.list({ prefix: "attachments/" })).objects.length;

describe("the files of a release", () => {
  it("are stored, listed, renamed and deleted, and announced", async () => {
    const { writer, repo, release, path } = await makeWorld();
    expect((await call("GET", path)).body).toEqual([]);
    const made = await add(path, writer);
    const { id, uuid } = made.body;
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: "a.txt",
        size: 5,
        download_count: 0,
        digest: `sha256:${HELLO_SHA256}`,
        browser_download_url: `https://forge.example/${repo.owner}/${repo.name}/releases/download/${release.tagName}/a.txt`,
      },
    });
    expect(await isStored(uuid)).toBe(true);
    expect(await looseUuids()).not.toContain(uuid);
    const one = `${path}/${id}`;
    expect(await call("GET", one)).toMatchObject({ status: 200, body: made.body });
    const rename = (name: string) => call("PATCH", one, { as: writer, json: { name } });
    expect(await rename("../new.txt")).toMatchObject({ status: 201, body: { name: "new.txt" } });
    expect(await rename("")).toMatchObject({ status: 201, body: { name: "new.txt" } });
    expect((await call("GET", path.replace("/assets", ""))).body.assets).toMatchObject([{ id }]);
    expect(await call("DELETE", one, { as: writer })).toMatchObject({ status: 204 });
    expect(await call("DELETE", one, { as: writer })).toMatchObject({ status: 404 });
    expect(await rowsOf(release)).toEqual([]);
    expect(await looseUuids()).toContain(uuid);
    const recorded = await eventsOf(repo);
    expect(typesOf(recorded)).toEqual(["release.updated", "release.updated", "release.updated"]);
    expect(recorded[0]?.payload).toMatchObject({ releaseId: release.id, part: "assets" });
  });

  it("may be a plain body, with the name in the query", async () => {
    const { writer, path } = await makeWorld();
    expect(await addRaw(`${path}?name=b%20c.bin`, writer, "hello")).toMatchObject({
      status: 201,
      body: { name: "b c.bin", size: 5, digest: `sha256:${HELLO_SHA256}` },
    });
    expect(await addRaw(`${path}?name=empty`, writer, "")).toMatchObject({
      status: 201,
      body: { size: 0 },
    });
    expect(await addRaw(path, writer, "hello")).toMatchObject({
      status: 400,
      body: { message: "Could not determine name of attachment." },
    });
  });

  // As in Gitea: the same name twice is two files, in the order of names and then of time.
  it("may share a name, of which a download by name finds the first", async () => {
    const { writer, repo, release, path } = await makeWorld({ tagName: "v/1" });
    for (const [name, text] of [
      ["b.txt", "1"],
      ["a.txt", "2"],
      ["b.txt", "3"],
    ] as const) {
      expect(await add(path, writer, formOf(text, name))).toMatchObject({ status: 201 });
    }
    const url = `/${repo.owner}/${repo.name}/releases/download/${release.tagName}`;
    const files = (await call("GET", path)).body;
    const uuids = files.map((each: { uuid: string }) => each.uuid);
    // A name that two files share is no address of either.
    expect(files).toMatchObject([
      {
        name: "a.txt",
        browser_download_url: `https://forge.example${url.replace("v/1", "v%2F1")}/a.txt`,
      },
      { name: "b.txt", browser_download_url: `https://forge.example/attachments/${uuids[1]}` },
      { name: "b.txt", browser_download_url: `https://forge.example/attachments/${uuids[2]}` },
    ]);
    expect(await visit("GET", `${url}/b.txt`)).toMatchObject({ status: 200, body: "1" });
    expect(await visit("GET", `${url}/c.txt`)).toMatchObject({ status: 404 });
    // Another file with an earlier date may get the name: a later date proves nothing.
    const later = { "If-Modified-Since": new Date(Date.now() + 60_000).toUTCString() };
    expect(await visit("GET", `${url}/b.txt`, { headers: later })).toMatchObject({ status: 200 });
    const byUuid = await visit("GET", `/attachments/${uuids[1]}`, { headers: later });
    expect(byUuid).toMatchObject({ status: 304 });
  });

  it("are refused with nothing stored where the form or the file is wrong", async () => {
    const { writer, repo, release, path } = await makeWorld();
    const before = await storedKeys();
    const form = (body: string) => addRaw(path, writer, body, "multipart/form-data; boundary=XX");
    const part = (disposition: string) =>
      `--XX\r\nContent-Disposition: ${disposition}\r\n\r\nhello\r\n`;
    const answers = [
      [400, await add(path, writer, formOf("x", "a.txt", "file"))],
      [400, await addRaw(path, writer, "hello", "multipart/form-data")],
      [400, await form("")],
      // The upload ends midway.
      [400, await form(part('form-data; name="attachment"; filename="a.txt"'))],
      [422, await add(`${path}?name=${"x".repeat(256)}`, writer)],
      [404, await add(path.replace(`/${release.id}/`, "/999999/"), writer)],
    ] as const;
    for (const [status, answer] of answers) expect(answer).toMatchObject({ status });
    expect(await rowsOf(release)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await storedKeys()).toBe(before);
  });

  it("keep to the configured size, types and switch", async () => {
    const { writer, release, path } = await makeWorld();
    const visitSmall = doorsWith({
      ATTACHMENT_MAX_SIZE: "1",
      ATTACHMENT_ALLOWED_TYPES: ".none",
      RELEASE_ALLOWED_TYPES: ".zip",
    });
    const send = (body: FormData) => visitSmall("POST", `/api/v1${path}`, { as: writer, body });
    expect(await send(formOf("x", "a.exe"))).toMatchObject({ status: 400 });
    expect(await send(formOf(new Uint8Array(1024 * 1024 + 1), "a.zip"))).toMatchObject({
      status: 413,
    });
    expect(await rowsOf(release)).toEqual([]);
    const made = await send(formOf("x", "a.zip"));
    expect(made).toMatchObject({ status: 201 });
    const rename = { as: writer, json: { name: "a.exe" } };
    expect(await visitSmall("PATCH", `/api/v1${path}/${made.body.id}`, rename)).toMatchObject({
      status: 400,
    });
    expect(await rowsOf(release)).toMatchObject([{ name: "a.zip" }]);
    const visitOff = doorsWith({ ATTACHMENT_ENABLED: "false" });
    expect(await visitOff("POST", `/api/v1${path}`, { as: writer, body: formOf() })).toMatchObject({
      status: 404,
    });
    // Without the setting, any type.
    expect(await add(path, writer, formOf("x", "a.exe"))).toMatchObject({ status: 201 });
  });

  it("are no more than fit a list", async () => {
    const { writer, release, path } = await makeWorld();
    const rows = Array.from({ length: ASSETS_MAX }, (_, at) => ({ name: `f${at}` }));
    await Promise.all(rows.map((fields) => makeAsset(release, fields)));
    expect(await add(path, writer)).toMatchObject({ status: 422 });
    expect(await rowsOf(release)).toHaveLength(ASSETS_MAX);
  });

  it("are changed by writers alone, and not in an archived repository", async () => {
    const { owner, stranger, repo, release, path } = await makeWorld();
    const { id } = await makeAsset(release);
    const expectRefused = async (as: TestUser, status: number) => {
      expect(await add(path, as)).toMatchObject({ status });
      const json = { name: "b.txt" };
      expect(await call("PATCH", `${path}/${id}`, { as, json })).toMatchObject({ status });
      expect(await call("DELETE", `${path}/${id}`, { as })).toMatchObject({ status });
      expect(await rowsOf(release)).toMatchObject([{ id, name: "a.txt" }]);
    };
    await expectRefused(stranger, 403);
    expect(await call("POST", path, { body: formOf() })).toMatchObject({ status: 401 });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    await expectRefused(owner, 423);
    expect(await eventsOf(repo)).toEqual([]);
  });

  // SECURITY: an id of the path names nothing of another release or repository.
  it("are found only under their release", async () => {
    const { owner, repo, release, path } = await makeWorld();
    const { id } = await makeAsset(release);
    const elsewhere = await makeRelease(await make.repo(owner));
    const foreign = await makeAsset(elsewhere);
    const paths = [
      `${pathOf(repo, await makeRelease(repo))}/${id}`,
      `${path}/${foreign.id}`,
      `${pathOf(repo, elsewhere)}/${foreign.id}`,
    ];
    for (const each of paths) {
      expect(await call("GET", each, { as: owner }), each).toMatchObject({ status: 404 });
      const json = { name: "b.txt" };
      expect(await call("PATCH", each, { as: owner, json })).toMatchObject({ status: 404 });
      expect(await call("DELETE", each, { as: owner })).toMatchObject({ status: 404 });
    }
    expect(await rowsOf(elsewhere)).toMatchObject([{ name: "a.txt" }]);
  });

  it("of a draft are not announced", async () => {
    const { writer, repo, path } = await makeWorld({ isDraft: true });
    expect(await add(path, writer)).toMatchObject({ status: 201 });
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("downloads", () => {
  /** All URLs of a file of the latest release. */
  const urlsOf = ({ owner, name }: TestRepo, { tagName }: Release, uuid: string) => [
    `/attachments/${uuid}`,
    `/${owner}/${name}/attachments/${uuid}`,
    `/${owner}/${name}/releases/download/${tagName}/a.txt`,
  ];

  it("send the file, or a part of it, and are counted", async () => {
    const { writer, repo, release, path } = await makeWorld({ tagName: "rel/1" });
    const { body } = await add(path, writer);
    const visitFully = doorsWith({});
    const base = `/${repo.owner}/${repo.name}/releases`;
    const urls = [
      ...urlsOf(repo, release, body.uuid),
      `${base}/latest/download/a.txt`,
      `${base}/download/latest/a.txt`,
    ];
    for (const url of urls) {
      const whole = await visitFully("GET", url);
      expect({ url, ...whole }).toMatchObject({ url, status: 200, body: "hello" });
      expect(whole.headers.get("Content-Security-Policy")).toContain("sandbox");
      const part = await visitFully("GET", url, { headers: { Range: "bytes=1-3" } });
      expect(part).toMatchObject({ status: 206, body: "ell" });
      expect(part.headers.get("Content-Range")).toBe("bytes 1-3/5");
      const same = { "If-None-Match": whole.headers.get("ETag") ?? "" };
      expect(await visit("GET", url, { headers: same })).toMatchObject({ status: 304 });
      expect(await visit("HEAD", url)).toMatchObject({ status: 200, body: "" });
    }
    const counted = await call("GET", `${path}/${body.id}`);
    expect(counted.body.download_count).toBe(urls.length);
  });

  // SECURITY: drafts and their files are for writers, on every URL.
  it("of a draft, of a private repository and with releases off are for those who may", async () => {
    const { owner, writer, stranger, repo, release, path } = await makeWorld();
    const { body } = await add(path, writer);
    const expectAll = async (as: TestUser | undefined, status: number) => {
      for (const url of urlsOf(repo, release, body.uuid)) {
        const answer = await visit("GET", url, as ? { as } : {});
        const found = { status: answer.status, isSent: String(answer.body).includes("hello") };
        expect(found, url).toEqual({ status, isSent: status === 200 });
      }
    };
    await expectAll(undefined, 200);
    await expectAll(stranger, 200);
    const isRelease = eq(releases.id, release.id);
    await db.update(releases).set({ isDraft: true }).where(isRelease);
    await expectAll(undefined, 404);
    await expectAll(stranger, 404);
    await expectAll(writer, 200);
    await db.update(releases).set({ isDraft: false }).where(isRelease);
    const isRepo = eq(repositories.id, repo.id);
    await db.update(repositories).set({ hasReleases: false }).where(isRepo);
    await expectAll(stranger, 404);
    await db
      .update(repositories)
      .set({ hasReleases: true, isPrivate: true, visibility: "private" })
      .where(isRepo);
    await expectAll(undefined, 404);
    await expectAll(stranger, 404);
    await expectAll(owner, 200);
    const issuesOnly = await make.token(owner, { scopes: "read:issue" });
    const codeOnly = await make.token(owner, { scopes: "read:repository" });
    for (const url of urlsOf(repo, release, body.uuid)) {
      expect(await visit("GET", url, { token: issuesOnly }), url).toMatchObject({ status: 403 });
      expect(await visit("GET", url, { token: codeOnly }), url).toMatchObject({ status: 200 });
    }
  });

  it("find the latest release only where it is published", async () => {
    const { writer, repo, path } = await makeWorld({ isPrerelease: true });
    await add(path, writer);
    const url = `/${repo.owner}/${repo.name}/releases/latest/download/a.txt`;
    expect(await visit("GET", url)).toMatchObject({ status: 404 });
  });
});

describe("the bytes of deleted releases", () => {
  it("are removed by the schedule", async () => {
    const { owner, repo, release, path } = await makeWorld();
    const { uuid } = (await add(path, owner)).body;
    const one = `/repos/${repo.owner}/${repo.name}/releases/${release.id}`;
    expect(await call("DELETE", one, { as: owner })).toMatchObject({ status: 204 });
    expect(await isStored(uuid)).toBe(true);
    await removeLooseAttachments(systemCtx({}, Date.now() + 2 * 60 * 60 * 1000));
    expect(await isStored(uuid)).toBe(false);
  });

  it("of a deleted repository, too", async () => {
    const { owner, repo, release, path } = await makeWorld();
    const { uuid } = (await add(path, owner)).body;
    const repoPath = `/repos/${repo.owner}/${repo.name}`;
    expect(await call("DELETE", repoPath, { as: owner })).toMatchObject({ status: 204 });
    expect(await rowsOf(release)).toEqual([]);
    expect(await db.select().from(releases).where(eq(releases.id, release.id))).toEqual([]);
    expect(await looseUuids()).toContain(uuid);
  });
});
