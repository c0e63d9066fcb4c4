import { asc, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { attachments, releases } from "../../../src/db/schema/index.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeTagRule } from "../../support/protections.ts";
import { makePull } from "../../support/pulls.ts";
import { makeCommit, refsOf, storePush } from "../../support/push.ts";
import { makeAsset, makeRelease } from "../../support/releases.ts";
import { doorsWith } from "../../support/service.ts";

const BAD = `"><script>alert(1)</script>`;
const ESCAPED = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let browser: Browser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  reader = await Browser.signedIn(await make.userWithPassword());
});

/** A repository whose `main` has one commit. */
async function makeScene(fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const { oid, pack } = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", oid, pack);
  return { repo, oid };
}

const pathOf = ({ owner: name, name: repo }: TestRepo, rest = "") =>
  `/${name}/${repo}/releases${rest}`;

const rowsOf = ({ id }: TestRepo) =>
  db.select().from(releases).where(eq(releases.repoId, id)).orderBy(asc(releases.id));

const filesOf = ({ id }: TestRepo) =>
  db
    .select({ name: attachments.name, sizeBytes: attachments.sizeBytes })
    .from(attachments)
    .where(eq(attachments.repoId, id))
    .orderBy(asc(attachments.name));

const typesIn = async (repo: TestRepo) =>
  typesOf(await eventsOf(repo)).filter((type) => type.startsWith("release."));

const tagsOf = async (repo: TestRepo) =>
  (await refsOf(repo)).map(({ name }) => name).filter((name) => name.startsWith("refs/tags/"));

/** Everything that a refused form must leave as it is. */
const stateOf = async (repo: TestRepo) => ({
  rows: await rowsOf(repo),
  files: await filesOf(repo),
  tags: await tagsOf(repo),
  types: await typesIn(repo),
});

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const seenIn = (page: unknown): string =>
  /name="seen" value="([0-9a-f]{64})"/.exec(String(page))?.[1] ?? "";

const tokenFor = async (path: string) => formTokenOf((await browser.get(path)).body);

describe("the list of releases", () => {
  it("links each to the one before it, and names the latest", async () => {
    const { repo } = await makeScene();
    for (let at = 1; at <= 12; at++) await makeRelease(repo, { tagName: `v${at}`, createdAt: at });
    await makeRelease(repo, { tagName: "v13-rc", createdAt: 13, isPrerelease: true });
    await makeRelease(repo, { tagName: "v14", createdAt: 14, isDraft: true });
    const linked = (page: string) =>
      Array.from(page.matchAll(/href="[^"]*\/compare\/([^"]*)"/g), ([, range]) => range);
    const list = await read(pathOf(repo));
    expect(linked(list)).toEqual([
      "v12...v13-rc",
      ...Array.from({ length: 9 }, (_, at) => `v${11 - at}...v${12 - at}`),
    ]);
    expect(list.match(/>Latest</g)).toHaveLength(1);
    expect(list).toMatch(/>release[^<]*<\/a>[^]*?<\/h2>[^]*v13-rc[^]*>Latest<[^]*v12</);
    const last = await read(pathOf(repo, "?page=2"));
    expect(linked(last)).toEqual(["v2...v3", "v1...v2"]);
    expect(last).not.toContain(">Latest<");
    // Drafts are written by the writer alone, and have no place among the others.
    const own = String((await browser.get(pathOf(repo))).body);
    expect(linked(own)).toEqual(linked(list).slice(0, 9));
    expect(own).toContain(`${pathOf(repo)}/edit/v14`);
  });

  it("names them at a release's own page, too", async () => {
    const { repo } = await makeScene();
    for (const at of [1, 2, 3]) await makeRelease(repo, { tagName: `v${at}`, createdAt: at });
    await makeRelease(repo, { tagName: "d", createdAt: 2, isDraft: true });
    expect(await read(pathOf(repo, "/tag/v3"))).toMatch(/>Latest<[^]*compare\/v2\.\.\.v3"/);
    const second = await read(pathOf(repo, "/tag/v2"));
    expect(second).toContain('compare/v1...v2"');
    expect(second).not.toContain(">Latest<");
    expect(await read(pathOf(repo, "/tag/v1"))).not.toContain("/compare/");
    expect((await browser.get(pathOf(repo, "/tag/d"))).body).not.toContain("/compare/");
  });

  it("has forms for those alone who may write releases", async () => {
    const { repo } = await makeScene();
    await makeRelease(repo, { tagName: "v1" });
    const forms = /releases\/(?:new|edit)/;
    expect((await browser.get(pathOf(repo))).body).toMatch(forms);
    expect((await reader.get(pathOf(repo))).body).not.toMatch(forms);
    expect(await read(pathOf(repo))).not.toMatch(forms);
    const { repo: archived } = await makeScene({ archivedAt: 1000 });
    await makeRelease(archived);
    expect((await browser.get(pathOf(archived))).body).not.toMatch(forms);
  });
});

describe("the form of a new release", () => {
  const NEW = { tag_name: "v1", tag_target: "main", title: "One", content: "a\r\nb" };

  it("publishes a release with its tag once, however often it is sent", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const sent = { ...NEW, prerelease: "on", action: "publish", _csrf: await tokenFor(path) };
    const send = () => browser.post(path, sent);
    for (const { status, headers } of [await send(), ...(await Promise.all([send(), send()]))])
      expect([status, headers.get("Location")]).toEqual([303, pathOf(repo, "/tag/v1")]);
    expect(await rowsOf(repo)).toMatchObject([
      { tagName: "v1", title: "One", body: "a\nb", isDraft: false, isPrerelease: true },
    ]);
    expect(await tagsOf(repo)).toEqual(["refs/tags/v1"]);
    expect(await typesIn(repo)).toEqual(["release.published"]);
  });

  it("offers branches and tags, and takes a tag from its address", async () => {
    const { repo } = await makeScene();
    await browser.submit(pathOf(repo, "/new"), { tag_name: "v0", action: "publish" });
    const { body } = await browser.get(pathOf(repo, `/new?tag=${encodeURIComponent(BAD)}`));
    expect(body).toContain('<datalist id="branches"><option value="main"></option></datalist>');
    expect(body).toContain('<datalist id="tags"><option value="v0"></option></datalist>');
    expect(body).toContain(`name="tag_name" type="text"`);
    expect(body).toContain(`value="${ESCAPED}"`);
    expect(body).not.toContain("<script>alert");
  });

  it("previews its notes without scripts, whatever files are chosen, and writes nothing", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const before = await stateOf(repo);
    const sent = { _csrf: await tokenFor(path), preview: "content", content: `**bold** ${BAD}` };
    for (const files of [[], [new File(["a"], "a"), new File(["b"], "b")]]) {
      const to = `/${repo.owner}/${repo.name}/markup`;
      const { status, body } = await browser.postFiles(to, sent, files);
      expect(status).toBe(200);
      expect(body).toContain("<strong>bold</strong>");
      expect(body).not.toContain("<script>alert");
    }
    expect(await stateOf(repo)).toEqual(before);
  });

  it("keeps a draft without a tag and an event from others", async () => {
    const { repo } = await makeScene();
    const { status } = await browser.submit(pathOf(repo, "/new"), { ...NEW, action: "draft" });
    expect(status).toBe(303);
    expect(await rowsOf(repo)).toMatchObject([{ tagName: "v1", isDraft: true }]);
    expect(await tagsOf(repo)).toEqual([]);
    expect(await typesIn(repo)).toEqual([]);
    expect((await browser.get(pathOf(repo, "/tag/v1"))).status).toBe(200);
    expect((await reader.get(pathOf(repo, "/tag/v1"))).status).toBe(404);
  });

  it("annotates a new tag with a message", async () => {
    const { repo, oid } = await makeScene();
    const sent = { ...NEW, tag_message: "The first", action: "publish" };
    expect((await browser.submit(pathOf(repo, "/new"), sent)).status).toBe(303);
    const tag = (await refsOf(repo)).find(({ name }) => name === "refs/tags/v1");
    expect(tag?.oid).not.toBe(oid);
  });

  it("adds generated notes to the text, and writes nothing", async () => {
    const { repo, oid } = await makeScene();
    await makePull(
      repo,
      { mergeCommitOid: oid, mergedAt: 1000, mergeKind: "merge", isClosed: true },
      { title: BAD, isClosed: true },
    );
    const before = await stateOf(repo);
    const sent = { ...NEW, title: "", prerelease: "on", action: "generate" };
    const { status, body } = await browser.submit(pathOf(repo, "/new"), sent);
    expect(status).toBe(200);
    expect(body).toMatch(/>\na\nb\n\n## What&#39;s Changed\n\* &quot;&gt;&lt;script&gt;/);
    expect(body).toContain('value="v1"');
    expect(body).toContain('name="prerelease" value="on" checked=""');
    expect(body).not.toContain("<script>alert");
    expect(await stateOf(repo)).toEqual(before);
    // Once more adds nothing.
    const [, text = ""] = /<textarea[^>]*name="content"[^>]*>\n([^<]*)</.exec(String(body)) ?? [];
    const again = { ...sent, content: text.replaceAll("&#39;", "'").replaceAll("&quot;", '"') };
    const content = again.content.replaceAll("&gt;", ">").replaceAll("&lt;", "<");
    const repeated = await browser.submit(pathOf(repo, "/new"), { ...again, content });
    expect(String(repeated.body).match(/What&#39;s Changed/g)).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, string, string, number]>([
    ["no tag", { tag_name: " " }, "Must not be empty.", "tag_name", 422],
    ["a bad tag", { tag_name: "a..b" }, "Must be a name that git allows", "tag_name", 422],
    ["a taken tag", { tag_name: "TAKEN" }, "Tag name has a release already.", "tag_name", 409],
    ["a protected tag", { tag_name: "kept" }, "The tag is protected", "tag_name", 422],
    ["no such target", { tag_target: "no" }, "Must be in this", "tag_target", 422],
    ["a long title", { title: "x".repeat(256) }, "Must have at most 255", "title", 422],
    ["a long text", { content: "x".repeat(65_537) }, "Must have at most", "content", 422],
    [
      "notes since no tag",
      { action: "generate", previous_tag: "no" },
      "Must be in this",
      "previous_tag",
      422,
    ],
  ])(
    "keeps what was typed, and says what is wrong: %s",
    async (_, fields, message, field, status) => {
      const { repo } = await makeScene();
      await makeRelease(repo, { tagName: "taken" });
      await makeTagRule(repo, { namePattern: "kept" });
      const before = await stateOf(repo);
      const sent = { ...NEW, content: BAD, action: "publish", ...fields };
      const refused = await browser.submit(pathOf(repo, "/new"), sent);
      expect(refused.status).toBe(status);
      expect(refused.body).toContain(
        `<p class="fault" id="${field}-fault" role="alert">${message}`,
      );
      expect(refused.body).toContain(`>\n${fields["content"] ?? ESCAPED}</textarea>`);
      expect(await stateOf(repo)).toEqual(before);
    },
  );

  it("is for those alone who may write releases, and keeps the text of others", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const before = await stateOf(repo);
    expect((await visit("GET", path, PEOPLE)).headers.get("Location")).toContain("/user/login");
    expect((await reader.get(path)).status).toBe(404);
    const sent = { ...NEW, content: "my text", action: "publish" };
    const token = formTokenOf((await reader.get("/notifications")).body);
    const refused = await reader.post(path, { ...sent, _csrf: token });
    expect([refused.status, String(refused.body).includes("my text")]).toEqual([404, true]);
    const foreign = await browser.post(path, { ...sent, _csrf: "no" });
    expect([foreign.status, String(foreign.body).includes("my text")]).toEqual([403, true]);
    const files = [new File(["x"], "a.txt")];
    const other = { ...SAME_ORIGIN, "Sec-Fetch-Site": "cross-site" };
    const good = { ...sent, _csrf: await tokenFor(path) };
    expect((await browser.postFiles(path, good, files, other)).status).toBe(403);
    expect((await new Browser().postFiles(path, good, files)).status).toBe(403);
    expect(await stateOf(repo)).toEqual(before);
    const { repo: archived } = await makeScene({ archivedAt: 1000 });
    const archive = pathOf(archived, "/new");
    expect((await browser.get(archive)).status).toBe(423);
    const late = await browser.post(archive, { ...good, content: "my text" });
    expect([late.status, String(late.body).includes("my text</textarea>")]).toEqual([423, true]);
    expect(await rowsOf(archived)).toEqual([]);
    const empty = await make.repo(owner);
    expect((await browser.get(pathOf(empty, "/new"))).status).toBe(404);
  });
});

describe("the files of a release", () => {
  const file = (name: string, text = name) => new File([text], name);

  it("are stored before it is published", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const fields = { tag_name: "v1", title: "", content: "", tag_message: "Annotated" };
    const sent = { ...fields, action: "publish", _csrf: await tokenFor(path) };
    const send = () => browser.postFiles(path, sent, [file("b.txt", "bytes"), file("a.bin")]);
    for (let again = 0; again < 2; again++)
      expect((await send()).headers.get("Location")).toBe(pathOf(repo, "/tag/v1"));
    expect(await rowsOf(repo)).toMatchObject([{ isDraft: false }]);
    expect(await filesOf(repo)).toEqual([
      { name: "a.bin", sizeBytes: 5 },
      { name: "b.txt", sizeBytes: 5 },
    ]);
    // The event has all files.
    expect(await typesIn(repo)).toEqual(["release.published"]);
    expect((await visit("GET", pathOf(repo, "/download/v1/b.txt"))).body).toBe("bytes");
  });

  it("leave a draft with its text, where one is refused", async () => {
    const limited = doorsWith({ ATTACHMENT_MAX_SIZE: "1" });
    const own = await Browser.signedIn(owner, limited);
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const fields = { tag_name: "v1", title: "", content: "my text", action: "publish" };
    const sent = { ...fields, _csrf: formTokenOf((await own.get(path)).body) };
    const large = file("large", "x".repeat(1024 * 1024 + 1));
    const { status, body } = await own.postFiles(path, sent, [file("a"), large, file("c")]);
    expect(status).toBe(413);
    expect(body).toContain('id="files-fault" role="alert">The file is larger than 1 MiB');
    expect(body).toContain(`action="${pathOf(repo, "/edit/v1")}"`);
    expect(body).toContain(">\nmy text</textarea>");
    expect(await rowsOf(repo)).toMatchObject([{ isDraft: true, body: "my text" }]);
    expect(await filesOf(repo)).toEqual([{ name: "a", sizeBytes: 1 }]);
    expect(await typesIn(repo)).toEqual([]);
    // The form that is shown publishes it.
    const next = { ...sent, seen: seenIn(body) };
    expect((await own.postFiles(pathOf(repo, "/edit/v1"), next, [file("c")])).status).toBe(303);
    expect(await rowsOf(repo)).toMatchObject([{ isDraft: false }]);
    expect((await filesOf(repo)).map(({ name }) => name)).toEqual(["a", "c"]);
  });

  it("may have one name, and each its own address; a long one keeps its ending", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const fields = { tag_name: "v1", title: "", content: "", action: "publish" };
    const long = `${"x".repeat(300)}.tar.gz`;
    const sent = { ...fields, _csrf: await tokenFor(path) };
    await browser.postFiles(path, sent, [file("a", "one"), file("a", "two"), file(long, "three")]);
    const kept = `${"x".repeat(248)}.tar.gz`;
    expect((await filesOf(repo)).map(({ name }) => name)).toEqual(["a", "a", kept]);
    const page = String((await browser.get(pathOf(repo, "/tag/v1"))).body);
    const links = [...page.matchAll(/<a href="([^"]*)">(?:a|x+\.tar\.gz)<\/a>/g)];
    const contents = links.map(async ([, href = ""]) => (await visit("GET", href)).body);
    expect(await Promise.all(contents)).toEqual(["one", "two", "three"]);
    expect(links[2]?.[1]).toBe(pathOf(repo, `/download/v1/${kept}`));
  });

  it("are renamed and deleted, with an event for each, and all or none", async () => {
    const { repo } = await makeScene();
    const release = await makeRelease(repo, { tagName: "v1", title: "", target: "" });
    const [a, b, c] = [
      await makeAsset(release, { name: "a" }),
      await makeAsset(release, { name: BAD }),
      await makeAsset(release, { name: "c" }),
    ];
    const path = pathOf(repo, "/edit/v1");
    const { body } = await browser.get(path);
    expect(body).toContain(ESCAPED);
    expect(body).not.toContain("<script>alert");
    const sent = {
      _csrf: formTokenOf(body),
      seen: seenIn(body),
      action: "save",
      [`attachment-edit-${a.uuid}`]: "dir/new",
      [`attachment-edit-${b.uuid}`]: "not this",
      [`attachment-del-${b.uuid}`]: "on",
      [`attachment-edit-${c.uuid}`]: "c",
    };
    expect((await browser.postFiles(path, sent, [])).status).toBe(303);
    expect((await filesOf(repo)).map(({ name }) => name)).toEqual(["c", "new"]);
    expect(await typesIn(repo)).toEqual(["release.updated", "release.updated"]);
    const long = { ...sent, [`attachment-edit-${c.uuid}`]: "x".repeat(256) };
    expect((await browser.postFiles(path, long, [])).body).toMatch(
      /-fault" role="alert">Must have at most 255 characters\.</,
    );
    // Sent again, it finds its work done.
    expect((await browser.postFiles(path, sent, [])).status).toBe(303);
    expect(await typesIn(repo)).toHaveLength(2);

    const strict = doorsWith({ RELEASE_ALLOWED_TYPES: ".txt" });
    const own = await Browser.signedIn(owner, strict);
    const before = await stateOf(repo);
    const bad = { ...sent, [`attachment-edit-${a.uuid}`]: "x.exe" };
    const refused = await own.postFiles(
      path,
      { ...bad, _csrf: formTokenOf((await own.get(path)).body) },
      [],
    );
    expect(refused.status).toBe(400);
    expect(refused.body).toMatch(/id="files-fault" role="alert">This file cannot be/);
    expect(await stateOf(repo)).toEqual(before);
  });

  it("are not taken where they come before the form's token, or where files are off", async () => {
    const { repo } = await makeScene();
    const path = pathOf(repo, "/new");
    const body = new FormData();
    body.append("files", file("a.txt"));
    for (const [name, value] of Object.entries({ tag_name: "v1", action: "publish" }))
      body.append(name, value);
    body.append("_csrf", await tokenFor(path));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...SAME_ORIGIN, Cookie: cookie };
    const before = await stateOf(repo);
    expect((await visit("POST", path, { headers, body })).status).toBe(403);
    expect(await stateOf(repo)).toEqual(before);
    const without = await Browser.signedIn(owner, doorsWith({ ATTACHMENT_ENABLED: "false" }));
    expect((await without.get(path)).body).not.toContain('type="file"');
  });
});

describe("the form of a release", () => {
  it("shows the release and changes it, and clears what is empty", async () => {
    const { repo } = await makeScene();
    await makeRelease(repo, { tagName: "v/1", title: BAD, body: "old", isPrerelease: true });
    const path = pathOf(repo, "/edit/v/1");
    const { body } = await browser.get(path);
    expect(body).toContain(`value="${ESCAPED}"`);
    expect(body).toContain(">\nold</textarea>");
    expect(body).toContain('name="prerelease" value="on" checked=""');
    expect(body).toContain("Tag: v/1");
    expect(body).not.toContain('name="tag_name"');
    const sent = { title: "", content: "", tag_name: "other", action: "save" };
    const { status, headers } = await browser.submit(path, sent);
    expect([status, headers.get("Location")]).toEqual([303, pathOf(repo, "/tag/v/1")]);
    expect(await rowsOf(repo)).toMatchObject([
      { tagName: "v/1", title: "", body: "", isPrerelease: false, isDraft: false },
    ]);
    expect(await typesIn(repo)).toEqual(["release.updated"]);
  });

  it("publishes a draft with its tag, once", async () => {
    const { repo } = await makeScene();
    const draft = { tagName: "v1", title: "", isDraft: true, publishedAt: null };
    await makeRelease(repo, draft);
    const path = pathOf(repo, "/edit/v1");
    const { body } = await browser.get(path);
    const fields = { tag_name: "v2", tag_target: "main", title: "Two", content: "" };
    const sent = { ...fields, action: "draft", _csrf: formTokenOf(body), seen: seenIn(body) };
    const saved = await browser.post(path, sent);
    expect(saved.headers.get("Location")).toBe(pathOf(repo, "/tag/v2"));
    expect(await rowsOf(repo)).toMatchObject([{ tagName: "v2", isDraft: true }]);
    const next = pathOf(repo, "/edit/v2");
    const published = { ...sent, action: "publish", seen: seenIn((await browser.get(next)).body) };
    for (let again = 0; again < 2; again++)
      expect((await browser.post(next, published)).status).toBe(303);
    expect(await rowsOf(repo)).toMatchObject([{ tagName: "v2", title: "Two", isDraft: false }]);
    expect(await tagsOf(repo)).toEqual(["refs/tags/v2"]);
    expect(await typesIn(repo)).toEqual(["release.published"]);
  });

  it("replaces no edit that its sender has not seen", async () => {
    const { repo } = await makeScene();
    const { id } = await makeRelease(repo, { tagName: "v1", title: "One", body: "one" });
    const path = pathOf(repo, "/edit/v1");
    const { body } = await browser.get(path);
    const fields = { title: "Mine", content: "mine", action: "save" };
    const sent = { ...fields, _csrf: formTokenOf(body), seen: seenIn(body) };
    const edit = { name: "Theirs", body: BAD };
    await call("PATCH", `/repos${pathOf(repo, `/${id}`)}`, { as: owner, json: edit });
    const before = await stateOf(repo);
    // A form that is refused for another reason has the new version, too.
    for (const other of [{ title: "x".repeat(256) }, { action: "generate" }]) {
      const { body: again } = await browser.post(path, { ...sent, ...other });
      expect(again).toMatch(/as it is now[^]*Theirs[^]*&lt;script/);
    }
    const refused = await browser.post(path, sent);
    expect(refused.status).toBe(409);
    expect(refused.body).toContain("Somebody else has changed this release meanwhile.");
    expect(refused.body).toMatch(/as it is now[^]*Theirs[^]*&lt;script/);
    expect(refused.body).toContain(">\nmine</textarea>");
    expect(await stateOf(repo)).toEqual(before);
    const again = await browser.post(path, { ...sent, seen: seenIn(refused.body) });
    expect(again.status).toBe(303);
    expect(await rowsOf(repo)).toMatchObject([{ title: "Mine", body: "mine" }]);
  });

  it("generates notes for the tag that it has", async () => {
    const { repo } = await makeScene();
    await browser.submit(pathOf(repo, "/new"), { tag_name: "v1", action: "publish" });
    const before = await stateOf(repo);
    const { status, body } = await browser.submit(pathOf(repo, "/edit/v1"), { action: "generate" });
    expect(status).toBe(200);
    expect(body).toMatch(/>\n\*\*Full Changelog\*\*: [^<]*\/commits\/tag\/v1</);
    expect(await stateOf(repo)).toEqual(before);
  });

  it("is not there for others, and not for a tag without a release", async () => {
    const { repo } = await makeScene();
    await makeRelease(repo, { tagName: "v1" });
    expect((await reader.get(pathOf(repo, "/edit/v1"))).status).toBe(404);
    expect((await browser.get(pathOf(repo, "/edit/v2"))).status).toBe(404);
    const before = await stateOf(repo);
    const token = formTokenOf((await reader.get("/notifications")).body);
    for (const path of ["/edit/v1", "/delete"]) {
      const sent = { title: "x", id: String(before.rows[0]?.id), _csrf: token };
      expect((await reader.post(pathOf(repo, path), sent)).status).toBe(404);
    }
    expect(await stateOf(repo)).toEqual(before);
  });
});

describe("a release", () => {
  async function makePublished(tagName: string) {
    const { repo } = await makeScene();
    await browser.submit(pathOf(repo, "/new"), { tag_name: tagName, action: "publish" });
    const path = pathOf(repo, `/edit/${tagName}`);
    const remove = (fields: Record<string, string> = {}) =>
      browser.submit(path, fields, pathOf(repo, "/delete"));
    return { repo, remove };
  }

  it("is deleted, and its tag stays", async () => {
    const { repo, remove } = await makePublished("v1");
    const { status, headers } = await remove();
    expect([status, headers.get("Location")]).toEqual([303, pathOf(repo)]);
    expect(await rowsOf(repo)).toEqual([]);
    expect(await tagsOf(repo)).toEqual(["refs/tags/v1"]);
    expect(await typesIn(repo)).toEqual(["release.published", "release.deleted"]);
  });

  it("is deleted with its tag where that is chosen", async () => {
    const { repo, remove } = await makePublished("v1");
    expect((await remove({ delete_tag: "on" })).status).toBe(303);
    expect(await rowsOf(repo)).toEqual([]);
    expect(await tagsOf(repo)).toEqual([]);
    expect(await typesIn(repo)).toEqual(["release.published", "release.deleted"]);
  });

  it("stays with a tag that a rule keeps", async () => {
    const { repo, remove } = await makePublished("kept");
    await makeTagRule(repo, { namePattern: "kept" });
    const before = await stateOf(repo);
    const { status, body } = await remove({ delete_tag: "on" });
    expect(status).toBe(422);
    expect(body).toContain("The tag is protected: you may not delete it.");
    expect(await stateOf(repo)).toEqual(before);
    // Another repository's is not found by its id.
    const { repo: other } = await makeScene();
    const sent = { id: String(before.rows[0]?.id), _csrf: await tokenFor(pathOf(other, "/new")) };
    expect((await browser.post(pathOf(other, "/delete"), sent)).status).toBe(404);
    expect(await stateOf(repo)).toEqual(before);
  });
});
