import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  attachments,
  codeComments,
  issues,
  repositories,
  reviews,
} from "../../../src/db/schema/index.ts";
import { formatHex } from "../../../src/lib/hex.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

let owner: TestUser;
let reader: TestUser;
let ownerBrowser: Browser;
let readerBrowser: Browser;
beforeAll(async () => {
  [owner, reader] = [await make.userWithPassword(), await make.userWithPassword()];
  [ownerBrowser, readerBrowser] = [await Browser.signedIn(owner), await Browser.signedIn(reader)];
});

const HOSTILE = `"><script>alert(1)</script>`;

/** An open pull request that changes the second of three lines of a file, and adds another file. */
async function makePull(account: Parameters<typeof make.repo>[0] = owner, isOpened = true) {
  const repo = await make.repo(account);
  const history = new History();
  const base = history.commit({ files: { "src/f.txt": "one\ntwo\nthree\n" } });
  const files = { "src/f.txt": "one\nTWO\nthree\n", "new.txt": "new\n" };
  const head = history.commit({ files, parents: [base] });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const path = `/${repo.owner}/${repo.name}`;
  const json = { head: "topic", base: "main", title: "A title" };
  const { body } = isOpened
    ? await call("POST", `/repos${path}/pulls`, { as: owner, json })
    : { body: { number: 0, id: 0 } };
  const at = `${path}/pulls/${body.number}`;
  return { repo, path, at, files: `${at}/files`, api: `/repos${at}`, base, head, id: body.id };
}

type Pull = Awaited<ReturnType<typeof makePull>>;

const read = async (at: string, browser = readerBrowser): Promise<string> => {
  const { status, body } = await browser.get(at);
  expect(status, at).toBe(200);
  return String(body);
};

async function send(
  at: string,
  action: string,
  fields: Record<string, string> = {},
  browser = readerBrowser,
) {
  const page = String((await browser.get("/notifications")).body);
  const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
  return browser.post(at, { _csrf: token, action, ...fields });
}

/** Sends the form for a comment on the changed line, as the page has it. */
const comment = (
  { files, head }: Pull,
  fields: Record<string, string> = {},
  browser = readerBrowser,
) =>
  send(
    files,
    "code-comment",
    {
      opened_at: String(Date.now() - 1000),
      head,
      replied: "0",
      path: "src/f.txt",
      side: "R",
      line: "2",
      start_line: "2",
      body: "A comment",
      when: "now",
      ...fields,
    },
    browser,
  );

const commentsOf = async ({ api }: Pull, as = reader) =>
  (await call("GET", `${api}/comments`, { as })).body as Record<string, unknown>[];

const reviewsOf = async ({ api }: Pull, as = reader) =>
  (await call("GET", `${api}/reviews`, { as })).body as Record<string, unknown>[];

/** The parameter by which an address names a file. */
const placeOf = async (path: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(path));
  return formatHex(new Uint8Array(digest)).slice(0, 12);
};

const idOf = (each: Record<string, unknown> | undefined): string => String(each?.["id"]);

describe("a comment on code", () => {
  it("begins at the number of a line, without scripts", async () => {
    const pull = await makePull();
    const page = await read(pull.files);
    const [, href = ""] =
      /id="diff-[0-9a-f]{40}R2"[^>]*><a href="(\?comment=[0-9a-f]+R2)"/.exec(page) ?? [];
    expect(href).not.toBe("");
    const opened = await read(pull.files + href);
    expect(opened).toMatch(/id="diff-[^"]*R2"[^]*<tr class="below"[^]*name="line" value="2"/);
    const range = await read(`${pull.files}${href}-3`);
    expect(range).toMatch(/name="line" value="3"[^]*name="start_line"[^>]*value="2"/);
    const onFile = await read(pull.files + href.slice(0, -2));
    expect(onFile).toMatch(/class="above"[^]*name="line" value="0"/);
    const anonymous = String((await visit("GET", pull.files + href)).body);
    expect(anonymous).not.toContain("code-comment");
    expect(anonymous).toMatch(/<a href="#diff-[0-9a-f]{40}R2">/);
    expect(await read(`${pull.files}?comment=none`)).toContain("TWO");
  });

  it("is said at once, and shown at its line and with its review", async () => {
    const pull = await makePull();
    const sent = await comment(pull, { body: `**Bold** ${HOSTILE}` });
    expect([sent.status, sent.headers.get("location")]).toEqual([
      303,
      expect.stringMatching(/\/files#diff-[0-9a-f]{40}R2$/),
    ]);
    const [only] = await commentsOf(pull);
    expect(only).toMatchObject({ path: "src/f.txt", position: 2, start_line: 2 });
    for (const style of ["unified", "split"]) {
      const page = await read(`${pull.files}?style=${style}`, ownerBrowser);
      expect(page, style).toMatch(
        new RegExp(`R2"[^]*<tr class="below">[^]*id="issuecomment-${idOf(only)}"[^]*<strong>Bold`),
      );
      expect(page).not.toContain("<script>alert");
    }
    const conversation = await read(pull.at, ownerBrowser);
    expect(conversation).toMatch(/class="hunk-text"[^]*class="added">\+TWO[^]*<strong>Bold/);
    expect(conversation).toMatch(/files\?skip-to=src%2Ff.txt#diff-[0-9a-f]{40}R2"/);
    expect(conversation).not.toContain("<script>alert");
  });

  it("may be on the old side, on a range, and on a file as a whole", async () => {
    const pull = await makePull();
    await comment(pull, { side: "L", body: "of old" });
    await comment(pull, { line: "3", start_line: "1", body: "of range" });
    await comment(pull, { line: "0", start_line: "0", path: "new.txt", body: "of file" });
    expect(await commentsOf(pull)).toMatchObject([
      { original_position: 2, position: 0 },
      { position: 3, start_line: 1 },
      { path: "new.txt", position: 0, original_position: 0 },
    ]);
    const page = await read(pull.files);
    expect(page).toMatch(/L2"[^]*Line 2 of the old file[^]*of old/);
    expect(page).toMatch(/Lines 1 to 3[^]*of range/);
    expect(page).toMatch(/class="above"[^]*of file/);
    expect(page).toMatch(/new\.txt<\/a>[^]*?class="label">1</);
  });

  it("is written once, also when its form is sent twice", async () => {
    const pull = await makePull();
    for (const when of ["now", "now", "review", "review"]) {
      const body = when === "now" ? "at once" : "later";
      expect((await comment(pull, { when, body })).status).toBe(303);
    }
    expect((await commentsOf(pull)).map(({ body }) => body)).toEqual(["at once", "later"]);
    expect(await reviewsOf(pull)).toMatchObject([{ state: "COMMENT" }, { state: "PENDING" }]);
  });

  it("is written in three round trips, and read in two", async () => {
    const pull = await makePull();
    await comment(pull, { body: "the first" });
    const [first] = await commentsOf(pull);
    for (const fields of [{ body: "another" }, { replied: idOf(first), body: "an answer" }]) {
      const page = String((await readerBrowser.get("/notifications")).body);
      const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
      const { answer, line } = await logged(() =>
        readerBrowser.post(pull.files, {
          _csrf: token,
          action: "code-comment",
          opened_at: "0",
          head: pull.head,
          replied: "0",
          path: "src/f.txt",
          side: "R",
          line: "2",
          start_line: "2",
          when: "now",
          ...fields,
        }),
      );
      expect(answer.status).toBe(303);
      expect(line.d1Rounds).toBeLessThanOrEqual(3);
    }
    await read(pull.files);
    const { line } = await logged(() => readerBrowser.get(pull.files));
    expect([line.d1Rounds, line.objectCalls]).toEqual([2, 1]);
  });

  it("is one of 500 at most on a page, which are read in two round trips", async () => {
    const pull = await makePull();
    for (let turn = 0; turn < 6; turn++) {
      const comments = Array.from({ length: 100 }, (_, at) => ({
        path: "src/f.txt",
        body: `Comment ${turn} ${at}`,
        new_position: 2,
      }));
      const json = { event: "COMMENT", body: "", comments };
      expect((await call("POST", `${pull.api}/reviews`, { as: reader, json })).status).toBe(200);
    }
    for (const at of [pull.files, pull.at]) {
      const page = await read(at);
      expect(page.match(/class="thread-comment"/g)).toHaveLength(500);
      expect(page.match(/<textarea/g)?.length).toBeLessThanOrEqual(2);
      const { line } = await logged(() => readerBrowser.get(at));
      expect(line.d1Rounds).toBe(2);
    }
    expect(await read(pull.files)).toContain("There are more comments than this page shows");
  });

  it.each([
    ["without a text", { body: " " }, 422],
    ["without a file", { path: "" }, 422],
    ["on no side", { side: "M" }, 422],
    ["on no line", { line: "x" }, 422],
    ["on too many lines", { line: "5000", start_line: "1" }, 422],
    ["with a text that is too long", { body: "x".repeat(262_145) }, 422],
    ["as an answer to no comment", { replied: "999999999" }, 404],
    ["on lines of a former head", { head: "1".repeat(40) }, 409],
  ])("is refused %s, and kept", async (_, fields, status) => {
    const pull = await makePull();
    const answer = await comment(pull, { body: "typed with care", ...fields });
    expect(answer.status).toBe(status);
    const kept = "body" in fields ? fields.body : "typed with care";
    expect(String(answer.body)).toContain(`${kept}</textarea>`);
    expect(await commentsOf(pull)).toEqual([]);
    expect(await reviewsOf(pull)).toEqual([]);
  });

  it("is refused where the conversation is locked or archived, for blocked users, and without a session", async () => {
    const pull = await makePull();
    const refused = async (status: number, browser = readerBrowser) => {
      const answer = await comment(pull, { body: "typed with care" }, browser);
      expect(answer.status).toBe(status);
      expect(String(answer.body)).toContain("typed with care</textarea>");
      expect(await commentsOf(pull, owner)).toEqual([]);
    };
    await refused(403, new Browser());
    const ofPull = eq(issues.repoId, pull.repo.id);
    await db.update(issues).set({ isLocked: true }).where(ofPull);
    await refused(403);
    expect(await read(pull.files)).not.toContain("code-template");
    await db.update(issues).set({ isLocked: false }).where(ofPull);
    const ofRepo = eq(repositories.id, pull.repo.id);
    await db.update(repositories).set({ archivedAt: 1 }).where(ofRepo);
    await refused(423);
    await db.update(repositories).set({ archivedAt: null }).where(ofRepo);
    await call("PUT", `/user/blocks/${reader.name}`, { as: owner });
    await refused(403);
    await call("DELETE", `/user/blocks/${reader.name}`, { as: owner });
  });

  it("is listed with its review where its line is gone", async () => {
    const pull = await makePull();
    await comment(pull, { body: "about a line" });
    await db.update(codeComments).set({ isOutdated: true });
    expect(await read(pull.files)).not.toContain("about a line");
    expect(await read(pull.at)).toMatch(/Outdated<[^]*\+TWO[^]*about a line/);
  });
});

describe("a conversation about code", () => {
  it("is answered at its line and in the conversation", async () => {
    const pull = await makePull();
    await comment(pull, { body: "a question" });
    const [first] = await commentsOf(pull);
    const id = idOf(first);
    for (const [browser, at] of [
      [ownerBrowser, pull.files],
      [readerBrowser, pull.at],
    ] as const) {
      const page = await read(at, browser);
      const [, href = ""] = new RegExp(`href="([^"]*reply=${id}[^"]*)"`).exec(page) ?? [];
      const opened = await read(
        new URL(href.replaceAll("&amp;", "&"), `https://x${at}`).href.slice(9),
        browser,
      );
      expect(opened).toContain(`name="replied" value="${id}"`);
      const answer = await send(
        at,
        "code-comment",
        { opened_at: "0", replied: id, line: "0", when: "now", body: `answer at ${at}` },
        browser,
      );
      expect(answer.headers.get("location")).toMatch(new RegExp(`#issuecomment-${id}$`));
    }
    expect(await commentsOf(pull)).toMatchObject([
      {},
      { in_reply_to: first?.["id"], position: 2 },
      { in_reply_to: first?.["id"], position: 2 },
    ]);
    const page = await read(pull.files);
    expect(page.match(/data-thread/g)).toHaveLength(1);
    const refused = await send(
      pull.at,
      "code-comment",
      { opened_at: "0", replied: id, line: "0", when: "now", body: "" },
      ownerBrowser,
    );
    expect(String(refused.body)).toMatch(/name="replied" value="\d+"[^]*Must not be empty/);
  });

  it("takes the same answer as another one on the line", async () => {
    const pull = await makePull();
    await comment(pull, { body: "first" });
    await comment(pull, { body: "second" });
    await comment(pull, { body: "first", start_line: "1" });
    const said = await commentsOf(pull);
    expect(said).toHaveLength(3);
    // The form of the second one is sent twice.
    for (const each of [said[0], said[1], said[1]]) {
      const fields = { opened_at: "0", replied: idOf(each), line: "0", when: "now", body: "Done" };
      expect((await send(pull.files, "code-comment", fields, ownerBrowser)).status).toBe(303);
    }
    expect((await commentsOf(pull)).slice(3)).toMatchObject([
      { in_reply_to: said[0]?.["id"], body: "Done" },
      { in_reply_to: said[1]?.["id"], body: "Done" },
    ]);
  });

  it("is resolved and reopened by those who may", async () => {
    const pull = await makePull();
    const other = await Browser.signedIn(await make.userWithPassword());
    await comment(pull, { body: "to resolve" });
    const id = idOf((await commentsOf(pull))[0]);
    expect(await read(pull.files, other)).not.toContain('name="resolve"');
    expect((await send(pull.files, "code", { resolve: id }, other)).status).toBe(403);
    expect((await commentsOf(pull))[0]).toMatchObject({ resolver: null });
    await send(pull.files, "code", { resolve: id }, ownerBrowser);
    expect(await read(pull.files)).toContain(
      `Resolved by ${owner.name}: 1 comment by ${reader.name}`,
    );
    await send(pull.at, "code", { reopen: id });
    expect((await commentsOf(pull))[0]).toMatchObject({ resolver: null });
    for (const fields of [{ resolve: "0" }, { resolve: "999999999" }, {}]) {
      expect((await send(pull.files, "code", fields)).status).toBe(404);
    }
  });

  it("is changed and deleted by its authors and by writers alone", async () => {
    const pull = await makePull();
    const other = await Browser.signedIn(await make.userWithPassword());
    await comment(pull, { body: "as it was" });
    const id = idOf((await commentsOf(pull))[0]);
    expect(await read(`${pull.files}?edit=${id}`)).toMatch(/as it was<\/textarea>/);
    expect(await read(`${pull.files}?edit=${id}`, other)).not.toMatch(/as it was<\/textarea>/);
    const edit = { comment: id, content_version: "0" };
    expect((await send(pull.files, "edit-comment", { ...edit, body: "no" }, other)).status).toBe(
      403,
    );
    await send(pull.files, "edit-comment", { ...edit, body: "as it is" });
    const late = await send(
      pull.files,
      "edit-comment",
      { ...edit, body: "too late" },
      ownerBrowser,
    );
    expect(late.status).toBe(409);
    expect(String(late.body)).toMatch(
      /too late<\/textarea>[^]*changed meanwhile[^]*as it is now[^]*<p class="message">as it is</,
    );
    expect(await commentsOf(pull)).toMatchObject([{ body: "as it is" }]);
    expect((await send(pull.files, "code", { delete: id }, other)).status).toBe(403);
    await send(pull.files, "code", { delete: id });
    expect(await commentsOf(pull)).toEqual([]);
  });
});

describe("a pending review", () => {
  it("is its author's alone until it is finished", async () => {
    const pull = await makePull();
    await comment(pull, { when: "review", body: "first thought" });
    await comment(pull, { when: "review", body: "second thought" });
    const own = await read(pull.files);
    expect(own).toMatch(/Pending<[^]*first thought/);
    expect(own).toContain("Finish your review with 2 pending comments");
    expect(own).toContain("Add to review");
    expect(own).not.toContain("Comment now");
    for (const at of [pull.files, pull.at]) {
      expect(await read(at, ownerBrowser)).not.toContain("first thought");
    }
    // A comment at once would send the others along.
    const single = await comment(pull, { body: "typed with care" });
    expect(single.status).toBe(409);
    expect(String(single.body)).toContain("typed with care</textarea>");
    const finish = { state: "approved", body: "Fine.", head: pull.head, opened_at: "0" };
    for (let turn = 0; turn < 2; turn++) {
      expect((await send(pull.files, "review", finish)).status).toBe(303);
    }
    expect(await reviewsOf(pull, owner)).toMatchObject([
      { state: "APPROVED", body: "Fine.", comments_count: 2 },
    ]);
    expect(await read(pull.files, ownerBrowser)).toContain("second thought");
  });

  it("keeps its text where a comment is added", async () => {
    const pull = await makePull();
    const json = { event: "PENDING", body: "As a whole", comments: [] };
    await call("POST", `${pull.api}/reviews`, { as: reader, json });
    await comment(pull, { when: "review", body: "a thought" });
    expect(await reviewsOf(pull)).toMatchObject([{ body: "As a whole", comments_count: 1 }]);
    expect(await read(pull.files)).toContain("As a whole</textarea>");
    const other = { ...json, body: "Another text" };
    await call("POST", `${pull.api}/reviews`, { as: reader, json: other });
    expect(await reviewsOf(pull)).toMatchObject([{ body: "Another text", comments_count: 1 }]);
    const fields = { state: "comment", body: "", head: pull.head, opened_at: "0" };
    await send(pull.files, "review", fields);
    expect(await reviewsOf(pull)).toMatchObject([{ state: "COMMENT", body: "" }]);
  });

  it("is finished once, and a form that is sent again leads to it", async () => {
    for (const isTogether of [false, true]) {
      const pull = await makePull();
      await comment(pull, { when: "review", body: "a thought" });
      const fields = { state: "comment", body: "", head: pull.head, opened_at: "0" };
      const finish = () => send(pull.files, "review", fields);
      const sent = isTogether
        ? await Promise.all([finish(), finish()])
        : [await finish(), await finish()];
      const [first, again] = sent.map(({ headers }) => headers.get("location"));
      expect(sent.map(({ status }) => status)).toEqual([303, 303]);
      expect(first).toMatch(/#issuecomment-\d+$/);
      expect(again).toBe(first);
      expect(await reviewsOf(pull)).toMatchObject([{ state: "COMMENT", comments_count: 1 }]);
      // That of a page that was opened later is another one.
      expect(
        (await send(pull.files, "review", { ...fields, opened_at: String(2 ** 50) })).status,
      ).toBe(422);
    }
  });

  it("is discarded with its comments", async () => {
    const pull = await makePull();
    await comment(pull, { when: "review", body: "a thought" });
    for (let turn = 0; turn < 2; turn++) {
      expect((await send(pull.files, "discard-review")).status).toBe(303);
    }
    expect(await reviewsOf(pull)).toEqual([]);
    expect(await db.select().from(reviews).where(eq(reviews.repoId, pull.repo.id))).toEqual([]);
  });

  it.each(["main", HOSTILE, "1".repeat(39), "1".repeat(41)])(
    "is not finished for a head that is no object id: %j",
    async (head) => {
      const pull = await makePull();
      const fields = { state: "approved", body: "typed with care", opened_at: "0" };
      const answer = await send(pull.files, "review", { ...fields, head });
      expect(answer.status).toBe(422);
      expect(String(answer.body)).toContain("typed with care</textarea>");
      expect(String(answer.body)).not.toContain("<script>alert");
      expect(await reviewsOf(pull)).toEqual([]);
    },
  );

  it("is finished by a text that says why changes are requested", async () => {
    const pull = await makePull();
    await comment(pull, { when: "review", body: "a thought" });
    const fields = { state: "request_changes", body: "", head: pull.head, opened_at: "0" };
    expect((await send(pull.files, "review", fields)).status).toBe(422);
    expect(await reviewsOf(pull)).toMatchObject([{ state: "PENDING" }]);
    await send(pull.files, "review", { ...fields, state: "comment" });
    expect(await reviewsOf(pull)).toMatchObject([{ state: "COMMENT", comments_count: 1 }]);
  });
});

describe("a suggestion", () => {
  const suggest = (text: string) => `Better:\n\`\`\`suggestion\n${text}\n\`\`\``;
  const contentOf = async ({ path }: Pull, file = "src/f.txt") => {
    const { body } = await call("GET", `/repos${path}/contents/${file}?ref=topic`, { as: owner });
    return atob(body.content);
  };

  it("begins with the lines of the form, and is shown as a diff", async () => {
    const pull = await makePull();
    const page = await read(pull.files);
    const [, href = ""] = /href="(\?comment=[0-9a-f]+)R2"/.exec(page) ?? [];
    const opened = await read(`${pull.files}${href}R1-2`);
    const [, suggestion = ""] = /href="([^"]*suggest=1)"/.exec(opened) ?? [];
    expect(await read(pull.files + suggestion.replaceAll("&amp;", "&"))).toContain(
      "```suggestion\none\nTWO\n```</textarea>",
    );
    await comment(pull, { body: suggest(HOSTILE) });
    for (const at of [pull.files, pull.at]) {
      const shown = await read(at, ownerBrowser);
      expect(shown).toMatch(
        /class="removed">-TWO\n<\/span><span class="added">\+(?:"|&quot;)&gt;&lt;script&gt;/,
      );
      expect(shown).not.toContain("<script>alert");
    }
  });

  it.each([
    ["an HTML comment", `<!--\n${suggest("HIDDEN")}\n-->\ntext`],
    ["a block of tildes", `~~~\n${suggest("HIDDEN")}\n~~~`],
    ["a quote", suggest("HIDDEN").replaceAll(/^/gm, "> ")],
    ["folded HTML", `<details>\n\n${suggest("HIDDEN")}\n\n</details>`],
  ])("is none in %s", async (_, body) => {
    const pull = await makePull();
    await comment(pull, { body });
    const id = idOf((await commentsOf(pull))[0]);
    for (const at of [pull.files, pull.at]) {
      const page = await read(at, ownerBrowser);
      expect(page).not.toMatch(/name="apply"|apply-suggestions|class="added">\+HIDDEN/);
    }
    for (const [action, fields] of [
      ["code", { apply: id }],
      ["apply-suggestions", { [`suggestion-${id}`]: "on" }],
    ] as const) {
      expect((await send(pull.files, action, fields, ownerBrowser)).status).toBe(422);
    }
    expect(await contentOf(pull)).toBe("one\nTWO\nthree\n");
  });

  it("is that of the page where another block looks like it", async () => {
    const pull = await makePull();
    await comment(pull, {
      body: `${suggest("quoted").replaceAll(/^/gm, "> ")}\n\n${suggest("2")}`,
    });
    expect(await read(pull.files, ownerBrowser)).toMatch(
      /<blockquote>[^]*quoted[^]*<\/blockquote>[^]*class="added">\+2\n/,
    );
    const apply = { apply: idOf((await commentsOf(pull))[0]) };
    expect((await send(pull.files, "code", apply, ownerBrowser)).status).toBe(303);
    expect(await contentOf(pull)).toBe("one\n2\nthree\n");
  });

  it("is applied by those who may write to the head, alone", async () => {
    const pull = await makePull();
    await comment(pull, { body: suggest("2") });
    const apply = { apply: idOf((await commentsOf(pull))[0]) };
    expect(await read(pull.files)).not.toContain('name="apply"');
    expect((await send(pull.files, "code", apply)).status).toBe(403);
    expect(await contentOf(pull)).toBe("one\nTWO\nthree\n");
    expect(await read(pull.at, ownerBrowser)).toContain('name="apply"');
    expect((await send(pull.at, "code", apply, ownerBrowser)).status).toBe(303);
    expect(await contentOf(pull)).toBe("one\n2\nthree\n");
    const again = await send(pull.files, "code", apply, ownerBrowser);
    expect(again.status).toBe(409);
  });

  it("is applied with others as one commit", async () => {
    const pull = await makePull();
    await comment(pull, { body: suggest("two\nand a half") });
    await comment(pull, { body: suggest("3"), line: "3", start_line: "3" });
    await comment(pull, { body: suggest("NEW"), path: "new.txt", line: "1", start_line: "1" });
    const chosen = Object.fromEntries(
      (await commentsOf(pull)).map((each) => [`suggestion-${idOf(each)}`, "on"]),
    );
    expect((await send(pull.files, "apply-suggestions", chosen)).status).toBe(403);
    const sent = await send(pull.files, "apply-suggestions", chosen, ownerBrowser);
    expect(sent.status).toBe(303);
    expect(await contentOf(pull)).toBe("one\ntwo\nand a half\n3\n");
    expect(await contentOf(pull, "new.txt")).toBe("NEW\n");
    const { body } = await call("GET", `/repos${pull.path}/commits?sha=topic`, { as: owner });
    expect(body).toMatchObject([
      {
        commit: {
          message: `Apply 3 suggestions\n\nCo-authored-by: ${reader.name} <${reader.email}>\n`,
        },
        parents: [{ sha: pull.head }],
      },
      { sha: pull.head },
      {},
    ]);
  });

  it("is applied after another, before the comments followed the head", async () => {
    const pull = await makePull();
    await comment(pull, { body: suggest("1\n1.5"), line: "1", start_line: "1" });
    await comment(pull, { body: suggest("2") });
    await comment(pull, { body: suggest("3"), line: "3", start_line: "3" });
    await comment(pull, { body: suggest("late"), line: "3", start_line: "2" });
    const [first, second, third, late] = (await commentsOf(pull)).map(idOf);
    for (const apply of [first, second, third]) {
      expect(await read(pull.files, ownerBrowser)).toContain(`name="apply" value="${apply}"`);
      const sent = await send(pull.files, "code", { apply: String(apply) }, ownerBrowser);
      expect(sent.status, apply).toBe(303);
    }
    // Its lines were changed by the others.
    for (const apply of [first, late]) {
      const sent = await send(pull.files, "code", { apply: String(apply) }, ownerBrowser);
      expect(sent.status, apply).toBe(409);
    }
    expect(await contentOf(pull)).toBe("1\n1.5\n2\n3\n");
  });

  it("shows two hundred lines, and says for which ones it is", async () => {
    const pull = await makePull();
    const more = { start_line: "1", line: "2" };
    await comment(pull, { ...more, body: suggest("y\n".repeat(999)) });
    const page = await read(pull.files);
    expect(page).toContain("Suggests for lines 1 to 2");
    expect(page.match(/class="added">\+y\n/g)?.length).toBe(200);
    expect(page).toContain("+… 800 more");
  });

  it("is not applied with one for the same line, nor with one that is no suggestion", async () => {
    const pull = await makePull();
    await comment(pull, { body: suggest("3"), line: "3", start_line: "2" });
    await comment(pull, { body: suggest("2") });
    await comment(pull, { body: "no suggestion" });
    const [range, one, none] = (await commentsOf(pull)).map((each) => `suggestion-${idOf(each)}`);
    const applyAll = async (names: (string | undefined)[], status: number, words: string) => {
      const chosen = Object.fromEntries(names.map((name) => [name, "on"]));
      const sent = await send(pull.files, "apply-suggestions", chosen, ownerBrowser);
      expect(sent.status, words).toBe(status);
      expect(String(sent.body)).toContain(words);
      expect(await contentOf(pull)).toBe("one\nTWO\nthree\n");
    };
    await applyAll([one, range], 409, "Two suggestions are for line 2 of src/f.txt");
    await applyAll([one, none], 422, "The comment suggests nothing");
    await applyAll([], 422, "No suggestion is chosen");
    await applyAll([one, "suggestion-999999999"], 404, "");
    const many = Array.from({ length: 101 }, (_, at) => `suggestion-${at + 1}`);
    await applyAll(many, 422, "At most 100 suggestions");
    const outdated = eq(codeComments.entryId, Number(one?.slice("suggestion-".length)));
    await db.update(codeComments).set({ isOutdated: true }).where(outdated);
    await applyAll([one], 409, "another version of the file");
  });
});

describe("viewed files", () => {
  it("are a reader's own, counted and folded, until they change", async () => {
    const pull = await makePull();
    const page = await read(pull.files);
    expect(page).toContain("0 of 2 viewed");
    const [, value = ""] = /name="view" value="([0-9a-f]{40} src\/f\.txt)"/.exec(page) ?? [];
    const marked = await send(pull.files, "view-file", { view: value });
    expect(marked.headers.get("location")).toMatch(/#diff-[0-9a-f]{40}$/);
    const after = await read(pull.files);
    expect(after).toContain("1 of 2 viewed");
    expect(after).toMatch(/aria-label="src\/f\.txt"[^>]*><details><summary/);
    expect(after).toContain(`name="unview" value="${value}"`);
    expect(await read(pull.files, ownerBrowser)).toContain("0 of 2 viewed");
    expect(String((await visit("GET", pull.files)).body)).not.toContain("viewed");
    await call("PUT", `/repos${pull.path}/contents/src/f.txt`, {
      as: owner,
      json: {
        branch: "topic",
        content: btoa("one\nOTHER\nthree\n"),
        message: "Change it",
        sha: value.slice(0, 40),
      },
    });
    await drawConsequences();
    const { body } = await call("GET", pull.api, { as: owner });
    expect(body.head.sha).not.toBe(pull.head);
    expect(await read(pull.files)).toContain("0 of 2 viewed");
    await send(pull.files, "view-file", { unview: value });
  });

  it("are files of this pull request's form", async () => {
    const pull = await makePull();
    for (const fields of [{ view: "x src/f.txt" }, { view: `${"1".repeat(40)} ` }, {}]) {
      const answer = await send(pull.files, "view-file", fields);
      expect(answer.status).toBe(422);
    }
    expect(await read(pull.files)).toContain("0 of 2 viewed");
  });
});

/** Uploads a file for a text, and returns the link that it gets. */
async function upload({ path }: Pull, browser = readerBrowser): Promise<string> {
  const page = String((await browser.get("/notifications")).body);
  const form = new FormData();
  form.append("_csrf", /name="_csrf" value="([^"]*)"/.exec(page)?.[1] ?? "");
  form.append("file", new File(["bytes"], "a.png"));
  const headers = { ...SAME_ORIGIN, Accept: "application/json" };
  const { body } = await browser.postForm(`${path}/issues/attachments`, form, headers);
  return (body as { markdown: string }).markdown;
}

const uuidIn = (markdown: string): string =>
  /\/attachments\/([-0-9a-f]{36})\)/.exec(markdown)?.[1] ?? "";

describe("a comment on what is not in the diff", () => {
  it("is refused, and nothing is said", async () => {
    const pull = await makePull();
    for (const fields of [
      { path: "none.txt" },
      { path: "none.txt", line: "0", start_line: "0" },
      { path: "new.txt", line: "3", start_line: "3" },
      { line: "4", start_line: "4" },
      { line: "9", start_line: "9", side: "L" },
    ]) {
      const refused = await comment(pull, { body: "kept text", ...fields });
      expect(refused.status, JSON.stringify(fields)).toBe(422);
      expect(String(refused.body)).toContain("kept text</textarea>");
    }
    expect(await commentsOf(pull)).toEqual([]);
    for (const fields of [
      { line: "3", start_line: "3" },
      { line: "2", start_line: "2", side: "L" },
      { path: "new.txt", line: "0", start_line: "0" },
    ]) {
      const sent = await comment(pull, fields);
      expect(sent.status, JSON.stringify(fields)).toBe(303);
    }
  });
});

describe("files of comments on code", () => {
  it("belong to the comment that links them, which shows them, once", async () => {
    const pull = await makePull();
    expect(await read(`${pull.files}?comment=${await placeOf("src/f.txt")}R2`)).toMatch(
      /id="code-body-file"/,
    );
    const markdown = await upload(pull);
    const since = String(Date.now() - 1000);
    for (let turn = 0; turn < 2; turn++) {
      await comment(pull, { body: `See ${markdown}`, opened_at: since });
    }
    const [said, ...others] = await commentsOf(pull);
    expect(others).toEqual([]);
    const [row] = await db
      .select()
      .from(attachments)
      .where(eq(attachments.uuid, uuidIn(markdown)));
    expect(row).toMatchObject({ issueId: pull.id, entryId: said?.["id"] });
    for (const at of [pull.files, pull.at]) {
      expect(await read(at)).toContain(`<a href="/attachments/${uuidIn(markdown)}">a.png</a>`);
    }
    const edit = `${pull.at}?entry=${idOf(said)}&edit=${idOf(said)}`;
    expect(await read(edit)).toContain('value="delete-file"');
    const named = { file: String(row?.id), comment: idOf(said) };
    expect((await send(pull.at, "delete-file", named)).status).toBe(303);
    expect(await read(pull.at)).not.toContain(">a.png</a>");
  });

  it("are their author's alone as long as the review is pending", async () => {
    const pull = await makePull();
    const markdown = await upload(pull);
    await comment(pull, { body: markdown, when: "review" });
    const file = `/attachments/${uuidIn(markdown)}`;
    expect((await readerBrowser.get(file)).status).toBe(200);
    expect((await ownerBrowser.get(file)).status).toBe(404);
    await send(pull.files, "review", { state: "comment", head: pull.head, opened_at: "0" });
    expect((await ownerBrowser.get(file)).status).toBe(200);
  });
});

describe("reactions to comments on code", () => {
  it("are added and taken back where the comment stands", async () => {
    const pull = await makePull();
    await comment(pull);
    const [said] = await commentsOf(pull);
    const id = idOf(said);
    const reactions = async () =>
      (await call("GET", `/repos${pull.path}/issues/comments/${id}/reactions`, { as: owner })).body;
    for (const at of [pull.files, pull.at]) {
      expect(await read(at, ownerBrowser)).toMatch(/name="add" value="heart"/);
      const added = await send(at, "react", { comment: id, add: "heart" }, ownerBrowser);
      expect(added.status).toBe(303);
      expect(added.headers.get("location")).toContain(`#issuecomment-${id}`);
      expect(await reactions()).toMatchObject([{ content: "heart", user: { login: owner.name } }]);
      expect(await read(at, ownerBrowser)).toMatch(/name="remove" value="heart"/);
      await send(at, "react", { comment: id, remove: "heart" }, ownerBrowser);
      expect(await reactions()).toEqual([]);
    }
  });

  it("are not offered to whom they are refused", async () => {
    const pull = await makePull();
    await comment(pull, { when: "review" });
    expect(await read(pull.files)).toContain("A comment");
    // Neither to one that is pending.
    expect(await read(pull.files)).not.toContain('value="react"');
    await send(pull.files, "review", { state: "comment", head: pull.head, opened_at: "0" });
    expect(await read(pull.files)).toContain('value="react"');
    expect(String((await visit("GET", pull.files)).body)).not.toContain('value="react"');
    await db.update(issues).set({ isLocked: true }).where(eq(issues.id, pull.id));
    expect(await read(pull.files)).not.toContain('value="react"');
    const [said] = await commentsOf(pull);
    const named = { comment: idOf(said), add: "heart" };
    expect((await send(pull.files, "react", named)).status).toBe(403);
    const path = `/repos${pull.path}/issues/comments/${idOf(said)}/reactions`;
    expect((await call("GET", path, { as: owner })).body).toEqual([]);
  });
});

describe("the reviewers of a pull request", () => {
  it("are asked, asked again and no more, and stand with what they say", async () => {
    const pull = await makePull();
    const named = { [`user-${reader.name}`]: "on" };
    expect(await read(pull.at, ownerBrowser)).toContain('value="request-reviews"');
    expect(await read(pull.at)).not.toContain('value="request-reviews"');
    expect((await send(pull.at, "request-reviews", named)).status).toBe(422);
    expect(await reviewsOf(pull)).toEqual([]);
    for (let turn = 0; turn < 2; turn++) {
      expect((await send(pull.at, "request-reviews", named, ownerBrowser)).status).toBe(303);
    }
    expect(await reviewsOf(pull)).toMatchObject([{ state: "REQUEST_REVIEW" }]);
    expect(await read(pull.at)).toMatch(/Reviewers[^]*is asked[^]*Withdraw/);
    await send(pull.at, "withdraw-requests", named);
    expect(await reviewsOf(pull)).toEqual([]);
    await send(pull.files, "review", { state: "approved", head: pull.head, opened_at: "0" });
    const after = await read(pull.at, ownerBrowser);
    expect(after).toMatch(/Reviewers[^]*>approved<[^]*Ask again/);
    expect((await send(pull.at, "request-reviews", named, ownerBrowser)).status).toBe(303);
    expect(await read(pull.at)).toMatch(/Reviewers[^]*is asked/);
  });

  it("are people whom a form names", async () => {
    const pull = await makePull();
    for (const [fields, status] of [
      [{}, 422],
      [{ other: owner.name }, 422],
      [{ other: HOSTILE }, 422],
      [{ "team-nobody": "on" }, 422],
    ] as const) {
      const sent = await send(pull.at, "request-reviews", fields, ownerBrowser);
      expect(sent.status, JSON.stringify(fields)).toBe(status);
      expect(String(sent.body)).not.toContain("<script>alert");
    }
    expect(await reviewsOf(pull)).toEqual([]);
  });

  it("are teams that reach the repository, chosen from a list", async () => {
    const org = await make.org([owner]);
    const [team, other] = [await make.team(org), await make.team(org, { all: false })];
    const pull = await makePull(org);
    const page = await read(pull.at, ownerBrowser);
    expect(page).toContain(`name="team-${team.name}"`);
    expect(page).not.toContain(`name="team-${other.name}"`);
    expect(await read(pull.at)).not.toContain(team.name);
    const fields = { [`team-${team.name}`]: "on" };
    expect((await send(pull.at, "request-reviews", fields)).status).toBe(422);
    expect(await reviewsOf(pull, owner)).toEqual([]);
    expect((await send(pull.at, "request-reviews", fields, ownerBrowser)).status).toBe(303);
    expect(await reviewsOf(pull, owner)).toMatchObject([
      { state: "REQUEST_REVIEW", team: { name: team.name } },
    ]);
    const asked = await read(pull.at, ownerBrowser);
    expect(asked).toMatch(/Reviewers[^]*is asked[^]*Withdraw/);
    expect(asked).not.toContain(`type="checkbox" name="team-${team.name}"`);
    await send(pull.at, "withdraw-requests", fields, ownerBrowser);
    expect(await reviewsOf(pull, owner)).toEqual([]);
  });

  it("are teams from the beginning where their form asks them", async () => {
    const org = await make.org([owner]);
    const team = await make.team(org);
    const { path } = await makePull(org, false);
    const compared = `${path}/compare/main...topic`;
    expect(await read(compared, ownerBrowser)).toContain(`name="team-${team.name}"`);
    expect(await read(compared)).not.toContain(team.name);
    const sent = await ownerBrowser.submit(compared, {
      title: "With a team",
      [`team-${team.name}`]: "on",
    });
    const at = `/repos${sent.headers.get("location")}/reviews`;
    const { body } = await call("GET", at, { as: owner });
    expect(body).toMatchObject([{ state: "REQUEST_REVIEW", team: { name: team.name } }]);
  });

  it("have reviews that administrators dismiss with a reason", async () => {
    const pull = await makePull();
    await send(pull.files, "review", { state: "approved", head: pull.head, opened_at: "0" });
    const [review] = await reviewsOf(pull);
    const fields = { review: idOf(review), message: `Too early ${HOSTILE}` };
    expect((await send(pull.at, "dismiss-review", fields)).status).toBe(403);
    expect(await reviewsOf(pull)).toMatchObject([{ dismissed: false }]);
    expect((await send(pull.at, "dismiss-review", fields, ownerBrowser)).status).toBe(303);
    expect(await reviewsOf(pull)).toMatchObject([{ dismissed: true }]);
    const page = await read(pull.at);
    expect(page).toMatch(/Reviewers[^]*Dismissed/);
    expect(page).toContain("Too early");
    expect(page).not.toContain("<script>alert");
  });
});
