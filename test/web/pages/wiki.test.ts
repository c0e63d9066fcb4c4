import { asc, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events } from "../../../src/db/schema/index.ts";
import { wikiLocation } from "../../../src/domain/code/wiki/to-wiki.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { refsOf } from "../../support/push.ts";
import { storeWiki } from "../../support/wikis.ts";

const BAD = `"><script>alert(1)</script>`;
const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let browser: Browser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  reader = await Browser.signedIn(await make.userWithPassword());
});

const pathOf = ({ owner: name, name: repo }: TestRepo, rest = "") => `/${name}/${repo}/wiki${rest}`;

/** What a page shows to somebody who is not signed in. */
async function read(path: string, status = 200): Promise<string> {
  const answer = await visit("GET", path, PEOPLE);
  expect(answer.status, path).toBe(status);
  return String(answer.body);
}

/** Where a page leads. */
async function leadsTo(path: string, by?: Browser): Promise<string | null> {
  const answer = await (by ? by.get(path) : visit("GET", path, PEOPLE));
  expect([path, answer.status]).toEqual([path, 303]);
  return answer.headers.get("location");
}

/** Fills in the form of a page and sends it. */
async function submit(by: Browser, path: string, fields: Record<string, string>) {
  const { body } = await by.get(path);
  const seen = /name="seen" value="([^"]*)"/.exec(String(body))?.[1];
  const hidden = { _csrf: formTokenOf(body), ...(seen !== undefined && { seen }) };
  return by.post(path, { ...hidden, ...fields });
}

const headOf = async (repo: TestRepo) => (await refsOf(wikiLocation(repo)))[0]?.oid;

const contentOf = async ({ owner: name, name: repo }: TestRepo, page: string) => {
  const { status, body } = await call("GET", `/repos/${name}/${repo}/wiki/page/${page}`);
  return status === 200 ? atob(body.content_base64) : undefined;
};

const announcedOf = async ({ id }: TestRepo) =>
  (await db.select().from(events).where(eq(events.repoId, id)).orderBy(asc(events.id))).map(
    ({ payload }) => payload["pages"],
  );

describe("a page of a wiki", () => {
  it("shows its text between the sidebar and the footer, with what links lead to", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, {
      "Home.md": `# Start\n\n[[Sub Page]] [[the steps|guide/Steps]] [other](Other.md)
![](images/a.png)\n\n## Second\n\n## Third ${BAD}\n`,
      "_Sidebar.md": "[[Home]] beside",
      "_Footer.md": "at the foot",
      "guide/Steps.md": "[next](Next) ![](../images/a.png)",
      "images/a.png": "png",
    });
    const page = await read(pathOf(repo));
    const root = `https://forge.example${pathOf(repo)}`;
    expect(page).toContain(`href="${root}/Sub-Page"`);
    expect(page).toContain(`<a href="${root}/guide/Steps" rel="nofollow">the steps</a>`);
    expect(page).toContain(`href="${root}/Other.md"`);
    expect(page).toContain(`src="${root}/raw/images/a.png"`);
    expect(page).toContain("beside");
    expect(page).toContain("at the foot");
    expect(page).toMatch(/<nav[^>]*aria-label="Contents"[^]*?href="#user-content-second"/);
    expect(page).not.toContain("<script>alert");
    expect(page).toMatch(/aria-current="page"[^>]*>Wiki/);
    expect(page).toContain(
      `<code>https://forge.example/${repo.owner}/${repo.name}.wiki.git</code>`,
    );
    expect(page).not.toContain("?action=_edit");

    const inFolder = await read(pathOf(repo, "/guide/Steps"));
    expect(inFolder).toContain(`href="${root}/guide/Next"`);
    expect(inFolder).toContain(`src="${root}/raw/images/a.png"`);
    expect(String((await browser.get(pathOf(repo))).body)).toContain("?action=_edit");
  });

  it("is shown without a sidebar that is too large", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi", "_Sidebar.md": "x".repeat(4 * 1024 * 1024 + 1) });
    expect(await read(pathOf(repo))).toContain("Hi");
    expect((await visit("GET", pathOf(repo, "/_Sidebar"), PEOPLE)).status).toBe(413);
  });

  it("is found by each of its names, at one address", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, {
      "Home.md": "Hi",
      "Sub-Page.md": "sub",
      "guide/Only here.md": "deep",
      "files/a.txt": "text",
    });
    expect(await read(pathOf(repo, "/Sub%20Page"))).toContain("sub");
    expect(await read(pathOf(repo, "/Sub-Page.md"))).toContain("sub");
    expect(await leadsTo(pathOf(repo, "/guide%2FOnly-here"))).toBe(
      pathOf(repo, "/guide/Only-here"),
    );
    expect(await leadsTo(pathOf(repo, "/only-here"))).toBe(pathOf(repo, "/guide/Only-here"));
    expect(await leadsTo(pathOf(repo, "/files/a.txt"))).toBe(pathOf(repo, "/raw/files/a.txt"));
    const missing = await leadsTo(pathOf(repo, "/No-such"));
    expect(missing).toBe(pathOf(repo, "?action=_pages&missing=No+such"));
    expect(await read(missing ?? "")).toContain("There is no page No such.");
    expect(String((await browser.get(missing ?? "")).body)).toContain(
      "?action=_new&amp;title=No+such",
    );
  });

  it("says how to begin while there is none", async () => {
    const repo = await make.repo(owner);
    expect(await read(pathOf(repo))).toContain("Nobody has written one.");
    const page = String((await browser.get(pathOf(repo))).body);
    expect(page).toContain(`git clone https://forge.example/${repo.owner}/${repo.name}.wiki.git`);
    expect(page).toContain("?action=_new&amp;title=Home");
    // Looking at it makes nothing.
    expect(await refsOf(wikiLocation(repo))).toEqual([]);
  });

  it("is hidden where the wiki is off or elsewhere, and shows readers the tab otherwise", async () => {
    const off = await make.repo(owner, { hasWiki: false });
    await storeWiki(off, { "Home.md": "Hi" });
    for (const rest of ["", "/Home", "?action=_pages", "?action=_new", "/raw/Home.md"]) {
      expect((await visit("GET", pathOf(off, rest), PEOPLE)).status, rest).toBeOneOf([303, 404]);
      expect((await reader.get(pathOf(off, rest))).status, rest).toBe(404);
    }
    expect((await browser.get(pathOf(off))).status).toBe(404);
    const elsewhere = await make.repo(owner, { externalWikiUrl: "https://wiki.example/x" });
    expect(await leadsTo(pathOf(elsewhere, "/Home"))).toBe("https://wiki.example/x");
    expect((await browser.get(pathOf(elsewhere, "?action=_new"))).status).toBe(404);
    expect(await read(`/${elsewhere.owner}/${elsewhere.name}`)).toContain(
      `href="${pathOf(elsewhere)}"`,
    );
    expect(await read(`/${off.owner}/${off.name}`)).not.toContain(`href="${pathOf(off)}"`);
  });
});

describe("files of a wiki", () => {
  it("are served as they are, pages by their names too, at a commit as well", async () => {
    const repo = await make.repo(owner);
    const oid = await storeWiki(repo, { "Home.md": "first", "images/a.svg": "<svg/>" });
    await submit(browser, pathOf(repo, "/Home?action=_edit"), { title: "Home", content: "second" });
    for (const path of ["/raw/Home.md", "/raw/Home"]) {
      expect((await visit("GET", pathOf(repo, path))).body).toBe("second");
    }
    expect((await visit("GET", pathOf(repo, `/raw/Home.md?rev=${oid}`))).body).toBe("first");
    const image = await visit("GET", pathOf(repo, "/raw/images/a.svg"));
    expect(image.headers.get("content-security-policy")).toContain("sandbox");
    for (const path of [
      "/raw/none",
      "/raw/..%2F..%2Fsecret",
      "/raw/images",
      `/raw/Home?rev=${"1".repeat(40)}`,
    ]) {
      expect((await visit("GET", pathOf(repo, path))).status, path).toBe(404);
    }
  });
});

describe("the list of pages", () => {
  it("has all pages by title with what changed them, and the other files", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, {
      "b.md": "1",
      "A page.md": "2",
      "c/d.md": "3",
      "_Sidebar.md": "4",
      "x.png": "5",
    });
    const page = await read(pathOf(repo, "?action=_pages"));
    const titles = [...page.matchAll(/class="subject" href="[^"]*">([^<]*)</g)].map(
      ([, text]) => text,
    );
    expect(titles).toEqual(["A page", "b", "c/d", "_Sidebar"]);
    expect(page).toContain("Write the wiki");
    expect(page).toContain(pathOf(repo, "/raw/x.png"));
  });

  it("finds a text in pages", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "One.md": "Needle here", "Two.md": "hay", "x.txt": "needle" });
    const page = await read(pathOf(repo, "?action=_pages&q=needle"));
    expect(page).toContain("1 page has this text.");
    expect(page).toContain(pathOf(repo, "/One"));
    expect(page).not.toContain(pathOf(repo, "/Two"));
  });
});

describe("the form of a new page", () => {
  it("makes it once, however often it is sent", async () => {
    const repo = await make.repo(owner);
    const fields = { title: "First page", content: "# Hi\r\nthere", message: "Begin" };
    const { body } = await browser.get(pathOf(repo, "?action=_new&title=Home"));
    expect(String(body)).toMatch(/name="title"[^>]*value="Home"/);
    for (let times = 0; times < 2; times++) {
      const made = await submit(browser, pathOf(repo, "?action=_new"), fields);
      expect([made.status, made.headers.get("location")]).toEqual([
        303,
        pathOf(repo, "/First-page"),
      ]);
    }
    expect(await contentOf(repo, "First-page")).toBe("# Hi\nthere");
    expect(await announcedOf(repo)).toEqual([[{ action: "created", page: "First-page" }]]);
    expect(await read(pathOf(repo, "/First-page"))).toContain("Hi");
  });

  it.each([
    ["a blank title", { title: " " }, "Must not be empty."],
    ["a reserved title", { title: "_pages" }, "Title is reserved."],
    ["a title of two lines", { title: "New\npage" }, "Title is not allowed."],
    ["a title that is taken", { title: "Home" }, "Title is that of another page."],
    ["a long title", { title: "x".repeat(300) }, "Must have at most 255 characters."],
    ["a long message", { message: "x".repeat(1001) }, "Must have at most 1000 characters."],
  ])("shows %s again with what was typed, and writes nothing", async (_, fields, reason) => {
    const repo = await make.repo(owner);
    const before = await storeWiki(repo, { "Home.md": "Hi" });
    const typed = { title: "New", content: "what I typed", message: "", ...fields };
    const answer = await submit(browser, pathOf(repo, "?action=_new"), typed);
    expect(answer.status).toBeOneOf([400, 422]);
    expect(String(answer.body)).toContain(reason);
    expect(String(answer.body)).toContain("what I typed");
    expect(await headOf(repo)).toBe(before);
  });
});

describe("the form that edits a page", () => {
  it("changes the text and keeps a history that shows each difference", async () => {
    const repo = await make.repo(owner);
    const first = await storeWiki(repo, { "Home.md": "old line\n", "Other.md": "x" });
    const sent = { title: "Home", content: "new line\n", message: "Say it better" };
    const path = pathOf(repo, "/Home?action=_edit");
    expect((await submit(browser, path, sent)).headers.get("location")).toBe(pathOf(repo, "/Home"));
    // A form that changes nothing makes no commit.
    const second = await headOf(repo);
    await submit(browser, path, sent);
    expect(await headOf(repo)).toBe(second);

    const history = await read(pathOf(repo, "/Home?action=_revision"));
    expect(history).toContain("2 revisions");
    expect(history).toMatch(/Say it better[^]*Write the wiki/);
    const query = `?action=_revision&base=${first}&head=${second}`;
    const difference = await read(pathOf(repo, `/Home${query}`));
    expect(difference).toMatch(/class="removed"[^]*old[^]*class="added"[^]*new/);
    expect(difference).not.toContain("Other.md");
    const commit = await read(pathOf(repo, `/commit/${second}`));
    expect(commit).toContain("Say it better");
    expect(commit).toContain(`?rev=${second}`);
    expect(await read(pathOf(repo, `/commit/${second}.diff`))).toContain("+new line");
    expect(await read(pathOf(repo, `/commit/${second}.patch`))).toContain(
      "Subject: [PATCH] Say it better",
    );
    expect(await read(pathOf(repo, `/Home?rev=${first}`))).toContain("old line");
    await read(pathOf(repo, `/commit/${"1".repeat(40)}`), 404);
    await read(pathOf(repo, `/Home?rev=${"1".repeat(40)}`), 404);
    await read(pathOf(repo, `/Home?action=_revision&base=main&head=x`), 404);
  });

  it("renames a page, whose old address leads to the new one", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "text of the page\n", "guide/Old.md": "deep\n" });
    const edit = (page: string, title: string) =>
      submit(browser, pathOf(repo, `/${page}?action=_edit`), {
        title,
        content: "quite another text",
      });
    expect((await edit("Home", "Start")).headers.get("location")).toBe(pathOf(repo, "/Start"));
    expect(await leadsTo(pathOf(repo, "/Home"))).toBe(pathOf(repo, "/Start"));
    expect((await edit("Start", "Begin")).headers.get("location")).toBe(pathOf(repo, "/Begin"));
    expect(await leadsTo(pathOf(repo, "/Start"))).toBe(pathOf(repo, "/Begin"));
    expect((await edit("guide/Old", "New")).headers.get("location")).toBe(
      pathOf(repo, "/guide/New"),
    );
    expect(await leadsTo(pathOf(repo, "/guide/Old"))).toBe(pathOf(repo, "/guide/New"));
  });

  // Two people edit one page: the later one sees both texts.
  it("shows an edit of what somebody else has changed beside that, and loses nothing", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "at first" });
    const path = pathOf(repo, "/Home?action=_edit");
    const { body } = await browser.get(path);
    const seen = /name="seen" value="([^"]*)"/.exec(String(body))?.[1] ?? "";
    await submit(browser, path, { title: "Home", content: "theirs" });
    const head = await headOf(repo);
    const mine = { _csrf: formTokenOf(body), title: "Home", content: "mine" };
    const refused = await browser.post(path, { ...mine, seen });
    expect(refused.status).toBe(409);
    expect(String(refused.body)).toMatch(/mine[^]*The page as it is now[^]*theirs/);
    expect(await headOf(repo)).toBe(head);
    const again = /name="seen" value="([^"]*)"/.exec(String(refused.body))?.[1] ?? "";
    expect((await browser.post(path, { ...mine, seen: again })).status).toBe(303);
    expect(await contentOf(repo, "Home")).toBe("mine");
  });

  it("does not edit what is no text, and shows what was typed for a page that is gone", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi", "Long.md": "x".repeat(262_145) });
    const long = String((await browser.get(pathOf(repo, "/Long?action=_edit"))).body);
    expect(long).toContain("can&#39;t be edited here");
    const path = pathOf(repo, "/Home?action=_edit");
    const { body } = await browser.get(path);
    await submit(browser, pathOf(repo, "/Home?action=_delete"), {});
    const fields = { _csrf: formTokenOf(body), seen: "1", title: "Home", content: "my long text" };
    const gone = await browser.post(path, fields);
    expect(gone.status).toBe(404);
    expect(String(gone.body)).toContain("my long text");
    // The form itself, which the query names.
    expect(String(gone.body)).toContain(`href="${path}"`);
  });

  it("previews links as the page has them", async () => {
    const repo = await make.repo(owner);
    const { body } = await browser.get(pathOf(repo, "?action=_new"));
    const preview = `/${repo.owner}/${repo.name}/markup?mode=wiki`;
    expect(String(body)).toContain(`formaction="${preview}"`);
    const fields = { _csrf: formTokenOf(body), preview: "content", content: "[[Some page]]" };
    const shown = await browser.post(preview, fields);
    expect(String(shown.body)).toContain(`href="https://forge.example${pathOf(repo)}/Some-page"`);
  });
});

describe("the deletion of a page", () => {
  it("asks, deletes it once, and not what has changed since", async () => {
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi", "Old.md": "old" });
    const path = pathOf(repo, "/Old?action=_delete");
    const { body } = await browser.get(path);
    expect(String(body)).toContain("Delete Old?");
    expect(await contentOf(repo, "Old")).toBe("old");
    const stale = await browser.post(path, { _csrf: formTokenOf(body), seen: "1".repeat(40) });
    expect(stale.status).toBe(409);
    expect(await contentOf(repo, "Old")).toBe("old");
    const deleted = await submit(browser, path, { message: "Not needed" });
    expect(deleted.headers.get("location")).toBe(pathOf(repo, "?action=_pages"));
    expect(await contentOf(repo, "Old")).toBeUndefined();
    expect((await browser.get(path)).status).toBe(404);
    expect(await announcedOf(repo)).toEqual([[{ action: "deleted", page: "Old" }]]);
  });
});

describe("who may change a wiki by its pages", () => {
  it("leads to the sign-in before anything is looked up", async () => {
    const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
    for (const action of ["_new", "_edit", "_delete"]) {
      for (const path of [
        pathOf(repo, `/Home?action=${action}`),
        `/no/where/wiki?action=${action}`,
      ]) {
        expect(await leadsTo(path)).toMatch(/^\/user\/login\?redirect_to=/);
      }
    }
  });

  it("refuses readers, archives, mirrors and forms of other sites, and writes nothing", async () => {
    const fields = { title: "Home", content: "x", message: "", seen: "" };
    const cases = [
      [{}, reader, 404],
      [{ archivedAt: 1000 }, browser, 423],
      [{ isMirror: true }, browser, 403],
      [{ hasWiki: false }, browser, 404],
      [{ isPrivate: true, visibility: "private" }, reader, 404],
    ] as const;
    for (const [columns, by, status] of cases) {
      const repo = await make.repo(owner, columns);
      const before = await storeWiki(repo, { "Home.md": "Hi" });
      const token = formTokenOf((await by.get("/user/settings/account")).body);
      for (const action of ["_new", "_edit", "_delete"]) {
        const path = pathOf(repo, `/Home?action=${action}`);
        expect((await by.get(path)).status, path).toBe(status);
        expect((await by.post(path, { _csrf: token, ...fields })).status, path).toBe(status);
      }
      expect(await headOf(repo)).toBe(before);
      expect(await announcedOf(repo)).toEqual([]);
    }
    const repo = await make.repo(owner);
    const before = await storeWiki(repo, { "Home.md": "Hi" });
    for (const action of ["_new", "_edit", "_delete"]) {
      const path = pathOf(repo, `/Home?action=${action}`);
      expect((await browser.post(path, { _csrf: "other", ...fields })).status).toBe(403);
    }
    expect((await browser.post(pathOf(repo, "/Home?action=_other"), fields)).status).toBe(400);
    expect(await headOf(repo)).toBe(before);
  });
});
