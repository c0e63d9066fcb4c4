import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, repositories } from "../../../src/db/schema/index.ts";
import { wikiLocation } from "../../../src/domain/code/wiki/to-wiki.ts";
import { formatBase64 } from "../../../src/lib/base64.ts";
import { only } from "../../../src/lib/only.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { refsOf } from "../../support/push.ts";
import { storeWiki } from "../../support/wikis.ts";

const encode = (text: string): string => formatBase64(new TextEncoder().encode(text));
const decode = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)));

const pathOf = ({ owner, name }: TestRepo): string => `/repos/${owner}/${name}/wiki`;
const send = (repo: TestRepo, method: string, path: string, sending: Sending = {}) =>
  call(method, `${pathOf(repo)}/${path}`, sending);

/** What was announced of the pages of a repository's wiki. */
const announcedOf = async ({ id }: TestRepo) =>
  (await db.select().from(events).where(eq(events.repoId, id))).map(({ type, payload }) => ({
    type,
    pages: payload["pages"],
    comment: payload["comment"],
  }));

const headOf = async (repo: TestRepo) => (await refsOf(wikiLocation(repo)))[0]?.oid;

describe("POST /repos/{owner}/{repo}/wiki/new", () => {
  it("makes the wiki with its first page, and announces it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    const answer = await send(repo, "POST", "new", {
      as: owner,
      json: { title: "Release notes", content_base64: encode("# Notes\n"), message: "First" },
    });

    expect(answer).toMatchObject({
      status: 201,
      body: {
        title: "Release notes",
        sub_url: "Release-notes",
        html_url: `https://forge.example/${repo.owner}/${repo.name}/wiki/Release-notes`,
        content_base64: encode("# Notes\n"),
        commit_count: 1,
        sidebar: "",
        footer: "",
        last_commit: { message: "First\n", author: { name: owner.name } },
      },
    });
    const row = only(await db.select().from(repositories).where(eq(repositories.id, repo.id)));
    expect(row).toMatchObject({ wikiBranch: "main", isEmpty: true });
    expect(await announcedOf(repo)).toEqual([
      {
        type: "wiki.changed",
        pages: [{ action: "created", page: "Release-notes" }],
        comment: "First",
      },
    ]);
  });

  it.each([
    ["Home", "Home", 'Add "Home"\n'],
    ["2026-01-02 Meeting", "2026-01-02+Meeting.-", 'Add "2026-01-02 Meeting"\n'],
    ["guide/Setup", "guide%2FSetup", 'Add "guide/Setup"\n'],
    ["Wörter & mehr?", "W%C3%B6rter-%26-mehr%3F", 'Add "Wörter & mehr?"\n'],
    ["100% free", "100%25-free", 'Add "100% free"\n'],
    [" notes.md ", "notes.md.-", 'Add "notes.md"\n'],
  ])("keeps the title %j at %j", async (title, address, message) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const made = await send(repo, "POST", "new", {
      as: owner,
      json: { title, content_base64: encode("x") },
    });
    expect(made.body).toMatchObject({
      sub_url: address,
      title: title.trim(),
      last_commit: { message },
    });
    const path = `page/${address.replaceAll("/", "%2F")}`;
    expect((await send(repo, "GET", path)).body).toMatchObject({ title: title.trim() });
  });

  it.each([
    ["a blank title", { title: " " }],
    ["a reserved title", { title: "_New" }],
    ["a title that leads out", { title: ".." }],
    ["a title that is too long", { title: "x".repeat(251) }],
    ["a title that is taken", { title: "Home" }],
    ["a text that is not base64", { title: "New", content_base64: "?" }],
  ])("refuses %s, and writes nothing", async (_, json) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const before = await storeWiki(repo, { "Home.md": "Hi" });
    const sent = { content_base64: encode("x"), ...json };
    expect((await send(repo, "POST", "new", { as: owner, json: sent })).status).toBe(400);
    expect(await headOf(repo)).toBe(before);
    expect(await announcedOf(repo)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/wiki/page/{pageName}", () => {
  it("has the page with the sidebar and the footer, under each of its names", async () => {
    const repo = await make.repo(await make.user());
    const oid = await storeWiki(repo, {
      "Sub-Page.md": "sub",
      "_Sidebar.md": "side",
      "_Footer.md": "foot",
    });
    for (const name of ["Sub-Page", "Sub%20Page", "Sub-Page.md"]) {
      expect(await send(repo, "GET", `page/${name}`)).toMatchObject({
        status: 200,
        body: {
          title: "Sub Page",
          sub_url: "Sub-Page",
          content_base64: encode("sub"),
          sidebar: encode("side"),
          footer: encode("foot"),
          last_commit: { sha: oid, message: "Write the wiki\n" },
        },
      });
    }
  });

  it("has pages in folders, and pages whose files git clients have named", async () => {
    const repo = await make.repo(await make.user());
    await storeWiki(repo, { "guide/First steps.md": "1", "Übersicht.md": "2", "50%.md": "3" });
    const read = async (name: string) =>
      decode((await send(repo, "GET", `page/${name}`)).body.content_base64);
    expect(await read("guide%2FFirst-steps")).toBe("1");
    expect(await read("%C3%9Cbersicht")).toBe("2");
    expect(await read("50%25")).toBe("3");
    const { body } = await send(repo, "GET", "pages");
    expect(body.map(({ sub_url: url }: { sub_url: string }) => url)).toEqual([
      "50%25",
      "guide/First-steps",
      "%C3%9Cbersicht",
    ]);
  });

  it("does not find what is no page", async () => {
    const repo = await make.repo(await make.user());
    expect((await send(repo, "GET", "page/Home")).status).toBe(404);
    await storeWiki(repo, { "Home.md": "Hi", "image.png": "png" });
    for (const name of ["Other", "image.png", "..", "%2E%2E%2FHome"]) {
      expect((await send(repo, "GET", `page/${name}`)).status, name).toBe(404);
    }
  });
});

describe("PATCH /repos/{owner}/{repo}/wiki/page/{pageName}", () => {
  it("changes the text, and announces it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi" });
    const edited = await send(repo, "PATCH", "page/Home", {
      as: owner,
      json: { title: "", content_base64: encode("Hello"), message: "" },
    });
    expect(edited).toMatchObject({
      status: 200,
      body: { content_base64: encode("Hello"), commit_count: 2 },
    });
    expect(edited.body.last_commit.message).toBe('Update "Home"\n');
    expect(await announcedOf(repo)).toMatchObject([
      { pages: [{ action: "edited", page: "Home" }] },
    ]);
  });

  it("renames it with its text, and announces one edited page", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi", "Other.md": "taken" });
    const patch = (json: object) => send(repo, "PATCH", "page/Home", { as: owner, json });
    expect((await patch({ title: "Other" })).status).toBe(400);
    expect(await announcedOf(repo)).toEqual([]);
    expect(await patch({ title: "Start page" })).toMatchObject({
      status: 200,
      body: { sub_url: "Start-page", content_base64: encode("Hi") },
    });
    expect((await send(repo, "GET", "page/Home")).status).toBe(404);
    expect(await announcedOf(repo)).toMatchObject([
      { pages: [{ action: "edited", page: "Start-page" }] },
    ]);
  });

  it("does not find a page that does not exist", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const json = { content_base64: encode("x") };
    expect((await send(repo, "PATCH", "page/Home", { as: owner, json })).status).toBe(404);
    expect(await refsOf(wikiLocation(repo))).toEqual([]);
  });
});

describe("DELETE /repos/{owner}/{repo}/wiki/page/{pageName}", () => {
  it("deletes the page and keeps the others", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi", "Other.md": "more" });
    expect((await send(repo, "DELETE", "page/Home", { as: owner })).status).toBe(204);
    expect((await send(repo, "DELETE", "page/Home", { as: owner })).status).toBe(404);
    const { body } = await send(repo, "GET", "pages");
    expect(body).toMatchObject([{ title: "Other" }]);
    expect(await announcedOf(repo)).toMatchObject([
      { pages: [{ action: "deleted", page: "Home" }] },
    ]);
  });
});

describe("GET /repos/{owner}/{repo}/wiki/revisions/{pageName}", () => {
  it("lists the commits of the page alone, latest first", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    for (const title of ["One", "Two"]) {
      await send(repo, "POST", "new", { as: owner, json: { title, content_base64: encode("1") } });
    }
    const json = { content_base64: encode("2"), message: "Second" };
    await send(repo, "PATCH", "page/One", { as: owner, json });
    const answer = await send(repo, "GET", "revisions/One");
    expect(answer.body).toMatchObject({
      count: 2,
      commits: [{ message: "Second\n" }, { message: 'Add "One"\n' }],
    });
    expect(answer.headers.get("x-total-count")).toBe("2");
    expect((await send(repo, "GET", "revisions/Three")).status).toBe(404);
  });
});

describe("who may change a wiki", () => {
  it("refuses readers, archives, mirrors and a unit that is off, and writes nothing", async () => {
    const owner = await make.user();
    const reader = await make.user();
    const json = { title: "New", content_base64: encode("x") };
    const cases = [
      [{}, reader, 403],
      [{ archivedAt: 1 }, owner, 423],
      [{ isMirror: true }, owner, 403],
      [{ hasWiki: false }, reader, 404],
      [{ isPrivate: true, visibility: "private" }, reader, 404],
    ] as const;
    for (const [fields, as, status] of cases) {
      const repo = await make.repo(owner, fields);
      const before = await storeWiki(repo, { "Home.md": "Hi" });
      const sent = [
        await send(repo, "POST", "new", { as, json }),
        await send(repo, "PATCH", "page/Home", { as, json }),
        await send(repo, "DELETE", "page/Home", { as }),
      ];
      expect(sent.map((answer) => answer.status)).toEqual([status, status, status]);
      expect(await headOf(repo)).toBe(before);
      expect(await announcedOf(repo)).toEqual([]);
    }
  });

  // A person who writes meanwhile another page is in nobody's way.
  it("makes two pages at once", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi" });
    const titles = ["A", "B", "C"];
    const made = await Promise.all(
      titles.map((title) =>
        send(repo, "POST", "new", { as: owner, json: { title, content_base64: encode(title) } }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await send(repo, "GET", "pages")).body).toHaveLength(4);
  });
});
