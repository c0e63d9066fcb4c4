import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { MODE_EXECUTABLE } from "../../../src/git/object/tree.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

/** The path of a commit that changes some files to others, and of its repository. */
async function makeChange(old: Record<string, TestFile>, fresh: Record<string, TestFile>) {
  const repo = await make.repo(await make.user());
  const before = makeFiles(old);
  await storeRefs(repo, [{ ref: "refs/heads/old", oid: before.oid }], before.pack);
  const after = makeFiles(fresh, { before, seconds: 1_700_000_060 });
  await storeRefs(repo, [{ ref: "refs/heads/main", oid: after.oid }], after.pack);
  const base = `/${repo.owner}/${repo.name}`;
  return { base, path: `${base}/commit/${after.oid}`, before: before.oid, after: after.oid };
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`);

/** The first link of a page whose name or text has this beginning. */
function linkOf(page: string, beginning: string): string {
  const pattern = new RegExp(
    `<a[^>]*href="([^"]*)"[^>]*(?:aria-label="${beginning}|>${beginning})`,
  );
  return (pattern.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
}

/** `diff-` and the SHA-1 of "a". */
const ID_OF_A = "diff-86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";

describe("a diff", () => {
  it("shows changed words, and each line has an address", async () => {
    const { path } = await makeChange({ a: "one\nlet a = 1;\n" }, { a: "one\nlet a = 2;\n" });
    const page = await read(path);
    expect(page).toContain(
      `<tr class="removed"><td id="${ID_OF_A}L2"><a href="#${ID_OF_A}L2">2</a></td><td></td><td>let a = <b>1</b>;</td></tr>`,
    );
    expect(page).toContain(
      `<tr class="added"><td></td><td id="${ID_OF_A}R2"><a href="#${ID_OF_A}R2">2</a></td><td>let a = <b>2</b>;</td></tr>`,
    );
    expect(page).toContain(
      `<tr><td>1</td><td id="${ID_OF_A}R1"><a href="#${ID_OF_A}R1">1</a></td><td>one</td></tr>`,
    );
  });

  it("is highlighted on both sides, with changed words and lines that are added to it", async () => {
    const old = ["/* a\n", " b */\n", 'const x = "<i>";\n', ...lines(30)];
    const fresh = old.with(2, 'const x = "<b>";\n');
    const { path } = await makeChange({ "a.ts": old.join("") }, { "a.ts": fresh.join("") });
    const keyword = '<span class="hljs-keyword">const</span> x = ';
    const string = (letter: string) =>
      `<span class="hljs-string">&quot;&lt;<b>${letter}</b>&gt;&quot;</span>;`;
    for (const style of ["unified", "split"]) {
      const page = await read(`${path}?style=${style}`);
      expect(page).toContain(`${keyword}${string("i")}`);
      expect(page).toContain(`${keyword}${string("b")}`);
      expect(page).toContain('<td><span class="hljs-comment">/* a</span></td>');
      expect(page).not.toContain('"<i>"');
    }
    const more = await read(`${path}?files=a.ts&expand=7-33`);
    expect(more).toContain('>line <span class="hljs-number">30</span><');
  });

  it("is plain text beyond a bound of work", async () => {
    const code = `const a = ${"1 + ".repeat(1000)}1;\n`;
    const { path } = await makeChange({}, { "a.ts": code.repeat(25) });
    const page = await read(path);
    expect(page).toContain('<span class="hljs-keyword">const</span> a');
    expect(page).toMatch(/<td>const a = 1 \+[^<]*<\/td><\/tr><\/tbody>/);
  });

  it("shows both sides beside each other, by the address or by the reader's settings", async () => {
    const { path } = await makeChange({ a: "one\ntwo\n" }, { a: "one\nnew\nmore\n" });
    const beside = new RegExp(
      `<tr><td id="${ID_OF_A}L2" class="removed">.*?two</td><td id="${ID_OF_A}R2" class="added">`,
    );
    expect(await read(`${path}?style=split`)).toMatch(beside);
    expect(await read(`${path}?style=none`)).not.toMatch(beside);
    const reader = await make.userWithPassword();
    const browser = await Browser.signedIn(reader);
    await db.update(users).set({ diffViewStyle: "split" }).where(eq(users.id, reader.id));
    expect((await browser.get(path)).body).toMatch(beside);
    expect((await browser.get(`${path}?style=unified`)).body).not.toMatch(beside);
  });

  it("shows more lines around a change in steps, and keeps what was shown", async () => {
    const old = lines(200);
    const { path } = await makeChange({ a: old.join("") }, { a: old.with(99, "x\n").join("") });
    const page = await read(path);
    expect(page).not.toContain(">line 96<");
    const up = linkOf(page, "Show lines 77 to 96");
    expect(up).toBe(`?files=a&expand=77-96#${ID_OF_A}R77`);
    const above = await read(path + up.split("#", 1)[0]);
    expect(above).toContain(">line 77<");
    expect(above).not.toContain(">line 76<");
    const down = linkOf(above, "Show lines 104 to 123");
    const both = await read(path + down.split("#", 1)[0]);
    expect(both).toContain(">line 77<");
    expect(both).toContain(">line 123<");
    expect(both).not.toContain(">line 124<");
  });

  it.each([
    ["show-all", "changed <b>"],
    ["ignore-change", "Only white space differs."],
    ["ignore-all", "Only white space differs."],
  ])("compares white space as the address says: %s", async (whitespace, shown) => {
    const { path } = await makeChange({ a: "changed x\n" }, { a: "changed  x\n" });
    const page = await read(`${path}?whitespace=${whitespace}`);
    expect(page.replace("changed<b> </b>x", "changed <b>")).toContain(shown);
  });

  it("shows renames, modes, and files that are no text", async () => {
    const text = lines(20).join("");
    const bytes = new Uint8Array([0, 1]);
    const { base, path, before, after } = await makeChange(
      { from: text, run: "x\n", "a.png": bytes, "b.bin": bytes, "gone.png": bytes },
      {
        to: `${text}more\n`,
        run: { mode: MODE_EXECUTABLE, content: "x\n" },
        "a.png": new Uint8Array([0, 2]),
        "b.bin": new Uint8Array([0, 2]),
      },
    );
    const page = await read(path);
    expect(page).toMatch(/from → <\/span><strong>to<\/strong>/);
    expect(page).toContain("100644 → 100755");
    expect(page).toContain("The content is the same.");
    expect(page).toContain("it is no text, or it is too large");
    for (const [name, oid] of [
      ["a.png", before],
      ["a.png", after],
      ["gone.png", before],
    ]) {
      expect(page).toContain(`<img src="${base}/media/commit/${oid}/${name}"`);
    }
    expect(page).not.toContain(`<img src="${base}/media/commit/${after}/gone.png"`);
    expect(page).toContain(`href="${base}/src/commit/${before}/gone.png"`);
    expect((await visit("GET", `${base}/media/commit/${before}/a.png`)).status).toBe(200);
  });

  it("comes in parts, whose files the tree finds", async () => {
    const name = (at: number) => `dir/sub/${String(at).padStart(3, "0")}`;
    const files = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [name(at), `${at}\n`]));
    const { path } = await makeChange({ a: "a" }, { a: "a", ...files });
    const first = await read(path);
    expect(first.match(/class="box diff-file"/g)).toHaveLength(50);
    expect(first).toContain("Files 1 to 50 of 120");
    expect(first).toContain("<summary>dir/sub</summary>");
    expect(first).toContain(`href="?skip-to=dir%2Fsub%2F119"`);
    const next = linkOf(first, "Show more files");
    expect(next).toBe("?skip-to=dir%2Fsub%2F050");
    expect(await read(path + next)).toContain("Files 51 to 100 of 120");
    const last = await read(`${path}?skip-to=${name(100)}`);
    expect(last.match(/class="box diff-file"/g)).toHaveLength(20);
    expect(last).not.toContain("Show more files");
    for (const query of ["skip-to=none", "files=none"]) {
      expect((await visit("GET", `${path}?${query}`, PEOPLE)).status, query).toBe(404);
    }
  });

  it("shows a part of a long file, and more of it alone", async () => {
    const { path } = await makeChange({ b: "b" }, { a: lines(2500).join(""), b: "c" });
    const page = await read(path);
    expect(page).toContain(">line 1000<");
    expect(page).not.toContain(">line 1001<");
    const link = linkOf(page, "Show all changes of this file");
    expect(link).toBe(`?files=a#${ID_OF_A}`);
    const alone = await read(`${path}?files=a`);
    expect(alone).toContain(">line 2500<");
    expect(alone).toContain("1 of 2 files");
    expect(linkOf(alone, "Show all files")).toBe("?");
  });

  it("loads its parts from this service alone", async () => {
    const { path } = await makeChange({ a: "a" }, { a: "b" });
    const { headers } = await visit("GET", path, PEOPLE);
    expect(headers.get("Content-Security-Policy")).toContain("connect-src 'self';");
  });

  // SECURITY: names and lines are chosen by people who push.
  it("shows names and lines as text", async () => {
    const bad = `"><img src=x onerror=alert(1)>&amp;`;
    const { path } = await makeChange(
      { [`${bad}/${bad}`]: `${bad} 1\n`, [bad.slice(1)]: "x\n" },
      { [`${bad}/${bad}`]: `${bad} 2\n${"x\n".repeat(50)}`, [`${bad}.png`]: new Uint8Array([0]) },
    );
    const queries = [
      "",
      "?style=split",
      `?files=${encodeURIComponent(`${bad}/${bad}`)}&expand=1-9`,
    ];
    for (const query of [...queries, `?style=${encodeURIComponent(bad)}&expand=${bad}`]) {
      const page = await read(path + query);
      expect(page, query).not.toContain("<img src=x");
      expect(page, query).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;");
    }
  });
});
