import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import {
  attachLabel,
  makeComment,
  makeIssue,
  makeLabel,
  makeMilestone,
} from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull, makeReview } from "../../support/pulls.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let writer: TestUser;
let reader: TestUser;
let repo: TestRepo;
let path: string;
const browsers = new Map<TestUser, Browser>();
beforeAll(async () => {
  owner = await make.userWithPassword();
  writer = await make.userWithPassword();
  reader = await make.userWithPassword();
  repo = await make.repo(owner, { isEmpty: false });
  await make.collaborator(repo, writer, 2);
  path = `/${owner.name}/${repo.name}`;
  for (const user of [owner, writer, reader]) browsers.set(user, await Browser.signedIn(user));
});

const browserOf = (user: TestUser): Browser => browsers.get(user) as Browser;

/** Sends a form of an issue's page with a user's own token. */
async function send(
  user: TestUser,
  at: string,
  action: string,
  fields: Record<string, string> = {},
) {
  const page = String((await browserOf(user).get("/notifications")).body);
  const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
  return browserOf(user).post(at, { _csrf: token, action, ...fields });
}

const issueAt = async (number: number) =>
  (await call("GET", `/repos${path}/issues/${number}`, { as: owner })).body;
const commentsAt = async (number: number) =>
  (await call("GET", `/repos${path}/issues/${number}/comments`, { as: owner })).body;

async function read(at: string, by?: TestUser): Promise<string> {
  const { status, body } = by ? await browserOf(by).get(at) : await visit("GET", at, PEOPLE);
  expect(status, at).toBe(200);
  return String(body);
}

describe("the page of an issue", () => {
  it("shows its text, its comments and what happened, in their order", async () => {
    const label = await makeLabel({ repo }, { name: "bug" });
    const milestone = await makeMilestone(repo, { title: "1.0" });
    const issue = await makeIssue(repo, {
      title: "It <breaks>",
      body: "**Bold** words",
      milestoneId: milestone.id,
    });
    await attachLabel(issue, label);
    await makeComment(issue, { body: "first `code`" });
    const at = `/repos${path}/issues/${issue.number}`;
    await call("PATCH", at, { as: owner, json: { title: "It works" } });
    await call("PATCH", at, { as: owner, json: { state: "closed" } });
    await makeComment(issue, { body: "last" });
    const page = await read(`${path}/issues/${issue.number}`);
    expect(page).toMatch(
      /<strong>Bold<\/strong> words[^]*first <code>code<\/code>[^]*changed the title[^]*It &lt;breaks&gt;[^]*It works[^]*closed this[^]*last/,
    );
    expect(page).toContain(`<title>#${issue.number} - It works - `);
    expect(page).toContain(`id="issue-${issue.id}"`);
    expect(page).toContain(`href="${path}/milestone/${milestone.id}"`);
    expect(page).toContain(`href="${path}/issues?label=bug"`);
    // Forms are for readers who are signed in.
    expect(page).not.toContain("<form method");
    expect(page).toContain("Sign in</a> to comment");
  });

  it("is at the address of its kind, and is not there for those who may not read it", async () => {
    const issue = await makeIssue(repo);
    const pull = await makePull(repo, { headBranch: "kinds" });
    const to = async (at: string) => {
      const { status, headers } = await visit("GET", at, PEOPLE);
      return [status, headers.get("location")];
    };
    expect(await to(`${path}/pulls/${issue.number}`)).toEqual([
      303,
      `${path}/issues/${issue.number}`,
    ]);
    expect(await to(`${path}/issues/${pull.number}?page=2`)).toEqual([
      303,
      `${path}/pulls/${pull.number}`,
    ]);
    for (const wrong of ["0", "99999", "a", "1e1"]) {
      expect((await to(`${path}/issues/${wrong}`))[0], wrong).toBe(404);
    }
    const hidden = await make.repo(owner, { isPrivate: true });
    const secret = await makeIssue(hidden);
    const at = `/${owner.name}/${hidden.name}/issues/${secret.number}`;
    expect((await to(at))[0]).toBe(404);
    expect((await browserOf(reader).get(at)).status).toBe(404);
    expect((await send(reader, at, "comment", { body: "seen" })).status).toBe(404);
    const [[comments]] = [[await call("GET", `/repos${at}/comments`, { as: owner })]];
    expect(comments?.body).toEqual([]);
  });

  it("has pages, and finds that of an entry", async () => {
    const issue = await makeIssue(repo);
    const ids: number[] = [];
    for (let at = 0; at < 101; at++) {
      ids.push((await makeComment(issue, { body: `comment-${at}.` })).id);
    }
    const at = `${path}/issues/${issue.number}`;
    const first = await read(at);
    expect(first).toContain("comment-99.");
    expect(first).not.toContain("comment-100.");
    const found = await read(`${at}?entry=${ids[100]}`);
    expect(found).toContain("comment-100.");
    expect(found).toContain("Page 2 of 2");
    expect(found).not.toContain("comment-99.");
    expect(await read(`${at}?entry=${ids[99]}`)).toContain("Page 1 of 2");
    // A page begins where the others end, wherever the entry stands on it.
    expect(await read(`${at}?entry=${ids[50]}`)).toContain("comment-0.");
    expect(await read(`${at}?entry=${(ids.at(-1) ?? 0) + 1}`)).toContain("comment-100.");
    expect(await read(`${at}?page=2`)).toContain("comment-100.");
    // The links of the page itself, to its other pages and to the form of a comment.
    const later = await read(`${at}?entry=${ids[100]}`, owner);
    const links = [...later.matchAll(/href="([^"]*)"/g)].map(([, link = ""]) =>
      link.replaceAll("&amp;", "&"),
    );
    const previous = links.find((link) => link.endsWith("page=1"));
    expect(await read(`${at}${previous}`, owner)).toContain("comment-99.");
    const edit = links.find((link) => link.includes(`edit=${ids[100]}`)) ?? "";
    expect(await read(edit.split("#")[0] ?? "", owner)).toContain("comment-100.</textarea>");
    const refused = await send(owner, at, "edit-comment", {
      comment: String(ids[100]),
      content_version: "7",
      body: "mine, on the second page",
    });
    expect(refused.status).toBe(409);
    expect(String(refused.body)).toContain("mine, on the second page</textarea>");
  });

  it("escapes what people wrote", async () => {
    const hostile = `"><script>alert(1)</script>`;
    const label = await makeLabel({ repo }, { name: hostile, description: hostile });
    const issue = await makeIssue(repo, { title: hostile, body: hostile, originalAuthor: hostile });
    await attachLabel(issue, label);
    await makeComment(issue, { body: hostile, originalAuthor: hostile });
    for (const [kind, values] of [
      ["change_title", { oldValue: hostile, newValue: hostile }],
      ["lock", { body: hostile }],
      ["change_issue_ref", { newValue: hostile }],
      ["change_target_branch", { oldValue: hostile, newValue: hostile }],
      ["delete_branch", { oldValue: hostile }],
      ["dismiss_review", { body: hostile }],
      ["added_deadline", { body: hostile }],
      ["pull_push", { body: hostile }],
      ["pull_dequeued", { body: hostile }],
    ] as const) {
      await makeComment(issue, { kind, body: "", ...values });
    }
    const page = await read(`${path}/issues/${issue.number}?edit=title&body=${hostile}`, owner);
    expect(page).not.toContain("<script>alert");
    expect(page).toContain("changed the title");
  });
});

describe("the versions of a text", () => {
  it("are listed, those of a comment below its own issue alone", async () => {
    const issue = await makeIssue(repo, { body: "first text" });
    const comment = await makeComment(issue, { body: "first comment" });
    const other = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    expect(await read(`${at}/history`)).toContain("It was never changed.");
    await send(owner, at, "edit-body", { body: "second <text>", content_version: "0" });
    await send(owner, at, "edit-comment", {
      comment: String(comment.id),
      body: "second comment",
      content_version: "0",
    });
    expect(await read(`${at}/history`)).toMatch(/first text[^]*second &lt;text&gt;/);
    expect(await read(`${at}/history?comment=${comment.id}`)).toMatch(
      /first comment[^]*second comment/,
    );
    for (const wrong of [
      `${path}/issues/${other.number}/history?comment=${comment.id}`,
      `${at}/history?comment=x`,
      `${path}/issues/99999/history`,
    ]) {
      expect((await visit("GET", wrong, PEOPLE)).status, wrong).toBe(404);
    }
  });
});

describe("a comment by the page", () => {
  const body = "a *new* comment";

  it("is shown where it leads", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const { status, headers } = await send(reader, at, "comment", { body });
    expect(status).toBe(303);
    const [comment] = await commentsAt(issue.number);
    expect(headers.get("location")).toBe(`${at}?entry=${comment.id}#issuecomment-${comment.id}`);
    expect(comment.body).toBe(body);
    expect(await read(`${at}?entry=${comment.id}`, reader)).toContain("a <em>new</em> comment");
  });

  it("is written once, however often its form is sent", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const form = { body, opened_at: String(Date.now() - 1000) };
    const answers = await Promise.all([
      send(reader, at, "comment", form),
      send(reader, at, "comment", form),
    ]);
    const again = await send(reader, at, "comment", form);
    const places = [...answers, again].map(({ headers }) => headers.get("location"));
    expect(new Set(places).size).toBe(1);
    expect(await commentsAt(issue.number)).toHaveLength(1);
    // SECURITY: a path that begins with two slashes leads nowhere else.
    const twice = await send(reader, `/${at}`, "comment", form);
    expect(twice.headers.get("location")).toMatch(/^\/[^/]/);
    // By another page, and by another user, it is another one.
    await send(reader, at, "comment", { body, opened_at: String(Date.now() + 1000) });
    await send(owner, at, "comment", form);
    expect(await commentsAt(issue.number)).toHaveLength(3);
  });

  it("may close the issue, and open it again", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    await send(writer, at, "comment", { body, state: "close" });
    expect((await issueAt(issue.number)).state).toBe("closed");
    expect(await commentsAt(issue.number)).toHaveLength(1);
    await send(writer, at, "comment", { body: "", state: "reopen" });
    expect((await issueAt(issue.number)).state).toBe("open");
    expect(await commentsAt(issue.number)).toHaveLength(1);
  });

  it("is not written where the issue can't be closed with it", async () => {
    const issue = await makeIssue(repo);
    const blocker = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const other = `${owner.name}/${repo.name}#${blocker.number}`;
    await send(writer, at, "add-dependency", { issue: other });
    for (const [user, status] of [
      [writer, 412],
      [reader, 403],
    ] as const) {
      const answer = await send(user, at, "comment", { body: "done", state: "close" });
      expect(answer.status).toBe(status);
      expect(String(answer.body)).toContain("done</textarea>");
    }
    expect(await commentsAt(issue.number)).toEqual([]);
    expect((await issueAt(issue.number)).state).toBe("open");
  });

  it("begins with a text that the address names, as a quote", async () => {
    const issue = await makeIssue(repo, { body: "first\r\nsecond" });
    const hostile = "</textarea><script>alert(1)</script>";
    const comment = await makeComment(issue, { body: `> old\n\n${hostile}` });
    const other = await makeComment(await makeIssue(repo), { body: "of another issue" });
    const at = `${path}/issues/${issue.number}`;
    const page = await read(at, reader);
    const links = [...page.matchAll(/href="([^"]*)" data-quote/g)].map(([, link = ""]) =>
      link.replaceAll("&amp;", "&"),
    );
    expect(links).toEqual([
      `${at}?quote=issue-${issue.id}#new-comment`,
      `${at}?entry=${comment.id}&quote=issuecomment-${comment.id}#new-comment`,
    ]);
    expect(await read(links[0] ?? "", reader)).toContain(
      "\n&gt; first\n&gt; second\n\n</textarea>",
    );
    const quoted = await read(links[1] ?? "", reader);
    expect(quoted).toContain("\n&gt; &gt; old\n&gt; \n&gt; &lt;/textarea&gt;&lt;script&gt;");
    const foreign = await read(`${at}?quote=issuecomment-${other.id}`, reader);
    expect(foreign).not.toContain("of another issue");
    expect(await read(at)).not.toContain("data-quote");
  });

  it("is refused with what was typed", async () => {
    const issue = await makeIssue(repo);
    const locked = await makeIssue(repo, { isLocked: true });
    const at = `${path}/issues/${issue.number}`;
    const kept = "x".repeat(262_144);
    for (const [user, to, fields, status, reason] of [
      [reader, at, { body: " " }, 422, "Must not be empty."],
      [reader, at, { body: `${kept}y` }, 422, "Must have at most 262144 characters."],
      [reader, `${path}/issues/${locked.number}`, { body }, 403, "locked"],
      [reader, at, { body, state: "close" }, 403, "Only the poster"],
    ] as const) {
      const answer = await send(user, to, "comment", fields);
      expect(answer.status, reason).toBe(status);
      expect(String(answer.body)).toContain(reason);
    }
    expect(await commentsAt(locked.number)).toEqual([]);
    expect((await issueAt(issue.number)).state).toBe("open");
    const large = await send(reader, at, "comment", { body: kept });
    expect(large.status).toBe(303);
  });

  it("is refused by a repository that is archived, and for those whom its owner blocks", async () => {
    const own = await make.repo(owner);
    const issue = await makeIssue(own);
    const at = `/${owner.name}/${own.name}/issues/${issue.number}`;
    await call("PUT", `/user/blocks/${reader.name}`, { as: owner });
    const blocked = await send(reader, at, "comment", { body: "unwelcome" });
    expect(blocked.status).toBe(403);
    expect(String(blocked.body)).toContain("unwelcome</textarea>");
    await call("DELETE", `/user/blocks/${reader.name}`, { as: owner });
    await call("PATCH", `/repos/${owner.name}/${own.name}`, {
      as: owner,
      json: { archived: true },
    });
    const archived = await send(reader, at, "comment", { body });
    expect(archived.status).toBe(423);
    const { body: comments } = await call("GET", `/repos${at}/comments`, { as: owner });
    expect(comments).toEqual([]);
  });

  it("needs a session and the page's token", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    // Nothing that was typed is lost, also where the repository is hidden from who has no session.
    const hidden = await make.repo(owner, { isPrivate: true });
    const secret = await makeIssue(hidden);
    const hiddenAt = `/${owner.name}/${hidden.name}/issues/${secret.number}`;
    for (const to of [at, hiddenAt]) {
      for (const [browser, token] of [
        [new Browser(), "x"],
        [browserOf(owner), "of another session"],
      ] as const) {
        const answer = await browser.post(to, { _csrf: token, action: "comment", body });
        expect(answer.status).toBe(to === hiddenAt && browser !== browserOf(owner) ? 404 : 403);
        expect(String(answer.body)).toContain(`${body}</textarea>`);
      }
    }
    expect(await commentsAt(issue.number)).toEqual([]);
  });
});

describe("an edit by the page", () => {
  it("changes the title, the text and a comment, and shows a form in their place", async () => {
    const issue = await makeIssue(repo, { body: "\nold", title: "old title" });
    const comment = await makeComment(issue, { body: "old comment" });
    const at = `${path}/issues/${issue.number}`;
    expect(await read(`${at}?edit=title`, owner)).toContain('value="old title"');
    // The line break at the beginning stays: a browser leaves out the first one.
    expect(await read(`${at}?edit=body`, owner)).toContain("\n\nold</textarea>");
    expect(await read(`${at}?edit=${comment.id}`, owner)).toContain("old comment</textarea>");
    await send(owner, at, "title", { title: "new title" });
    await send(owner, at, "edit-body", { body: "new", content_version: "0" });
    const edit = { comment: String(comment.id), body: "new comment", content_version: "0" };
    const { headers } = await send(owner, at, "edit-comment", edit);
    expect(headers.get("location")).toContain(`#issuecomment-${comment.id}`);
    expect(await issueAt(issue.number)).toMatchObject({ title: "new title", body: "new" });
    expect(await commentsAt(issue.number)).toMatchObject([{ body: "new comment" }]);
    await send(owner, at, "delete-comment", { comment: String(comment.id) });
    expect(await commentsAt(issue.number)).toEqual([]);
  });

  it("loses no text that somebody else wrote meanwhile, nor its own", async () => {
    const issue = await makeIssue(repo, { body: "old" });
    const comment = await makeComment(issue, { body: "old" });
    const at = `${path}/issues/${issue.number}`;
    const mine = { content_version: "0", body: "mine" };
    const theirs = { ...mine, body: "theirs" };
    const id = { comment: String(comment.id) };
    for (const [action, more] of [
      ["edit-body", {}],
      ["edit-comment", id],
    ] as const) {
      await send(writer, at, action, { ...theirs, ...more });
      const refused = await send(owner, at, action, { ...mine, ...more });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(String(refused.body)).toMatch(/mine<\/textarea>[^]*as it is now[^]*>theirs</);
    }
    const long = { ...mine, content_version: "1", body: "x".repeat(262_145) };
    expect(String((await send(owner, at, "edit-body", long)).body)).not.toContain("as it is now");
    expect((await issueAt(issue.number)).body).toBe("theirs");
    expect(await commentsAt(issue.number)).toMatchObject([{ body: "theirs" }]);
  });

  it("loses no title that somebody else wrote meanwhile, nor its own", async () => {
    const issue = await makeIssue(repo, { title: "old" });
    const at = `${path}/issues/${issue.number}`;
    expect(await read(`${at}?edit=title`, owner)).toContain('name="former_title" value="old"');
    await send(writer, at, "title", { title: "theirs <i>", former_title: "old" });
    const entries = () =>
      call("GET", `/repos${path}/issues/${issue.number}/timeline`, { as: owner });
    const before = (await entries()).body;
    const mine = { title: "mine", former_title: "old" };
    const refused = await send(owner, at, "title", mine);
    expect(refused.status).toBe(409);
    expect(String(refused.body)).toMatch(/value="mine"[^]*as it is now[^]*theirs &lt;i&gt;</);
    expect(String(refused.body)).toContain('name="former_title" value="theirs &lt;i&gt;"');
    expect((await issueAt(issue.number)).title).toBe("theirs <i>");
    expect((await entries()).body).toEqual(before);
    const empty = await send(owner, at, "title", { title: "", former_title: "theirs <i>" });
    expect(String(empty.body)).not.toContain("as it is now");
    // The same title by both is no conflict.
    const same = { title: "theirs <i>", former_title: "old" };
    expect((await send(owner, at, "title", same)).status).toBe(303);
    const again = { title: "mine", former_title: "theirs <i>" };
    expect((await send(owner, at, "title", again)).status).toBe(303);
    expect((await issueAt(issue.number)).title).toBe("mine");
  });

  it("is for its author and writers", async () => {
    const issue = await makeIssue(repo, { title: "kept", body: "kept" });
    const comment = await makeComment(issue, { body: "kept" });
    const other = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const id = { comment: String(comment.id) };
    for (const [action, fields] of [
      ["title", { title: "changed" }],
      ["edit-body", { body: "changed", content_version: "0" }],
      ["edit-comment", { ...id, body: "changed", content_version: "0" }],
      ["delete-comment", id],
    ] as const) {
      expect((await send(reader, at, action, fields)).status, action).toBe(403);
    }
    // A comment of another issue.
    const elsewhere = `${path}/issues/${other.number}`;
    expect((await send(owner, elsewhere, "delete-comment", id)).status).toBe(404);
    // Nothing that was typed for a comment that is gone is lost.
    const gone = await send(owner, at, "edit-comment", {
      comment: "999999",
      content_version: "0",
      body: "typed for nothing",
    });
    expect(gone.status).toBe(404);
    expect(String(gone.body)).toContain("typed for nothing</textarea>");
    expect(await read(`${at}?edit=title`, reader)).not.toContain('name="title"');
    expect(await issueAt(issue.number)).toMatchObject({ title: "kept", body: "kept" });
    expect(await commentsAt(issue.number)).toMatchObject([{ body: "kept" }]);
  });
});

describe("the properties beside a conversation", () => {
  it("are changed by writers", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const [one, two] = [await makeLabel({ repo }), await makeLabel({ repo })];
    const scoped = { isExclusive: true };
    const low = await makeLabel({ repo }, { ...scoped, name: "rank/low" });
    const high = await makeLabel({ repo }, { ...scoped, name: "rank/high" });
    const milestone = await makeMilestone(repo);
    await attachLabel(issue, two, low);
    const page = await read(at, writer);
    expect(page).toContain(`name="label-${one.id}"`);
    expect(page).toMatch(new RegExp(`name="scope-rank/" value="${low.id}" checked`));
    const labels = { [`label-${one.id}`]: "on", "scope-rank/": String(high.id) };
    await send(writer, at, "labels", labels);
    await send(writer, at, "milestone", { id: String(milestone.id) });
    await send(writer, at, "assignees", { [`user-${writer.name}`]: "on", other: owner.name });
    await send(writer, at, "deadline", { date: "2030-02-03" });
    await send(writer, at, "estimate", { duration: "1h 30m" });
    const changed = await issueAt(issue.number);
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    expect(names(changed.labels)).toEqual([one.name, high.name].toSorted());
    expect(changed.milestone.id).toBe(milestone.id);
    expect(changed.assignees.map(({ login }: { login: string }) => login)).toEqual([
      writer.name,
      owner.name,
    ]);
    expect(changed).toMatchObject({ due_date: "2030-02-03T23:59:59Z", time_estimate: 5400 });
    await send(writer, at, "labels");
    await send(writer, at, "milestone", { id: "0" });
    await send(writer, at, "assignees");
    await send(writer, at, "deadline", { date: "" });
    expect(await issueAt(issue.number)).toMatchObject({
      labels: [],
      milestone: null,
      assignees: [],
      due_date: null,
    });
  });

  it("are refused in words, and leave everything as it was", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const before = await issueAt(issue.number);
    for (const [action, fields, status] of [
      ["assignees", { other: "nobody-of-this-name" }, 422],
      ["milestone", { id: "999999" }, 422],
      ["milestone", { id: "x" }, 404],
      ["deadline", { date: "tomorrow" }, 422],
      ["estimate", { duration: "long" }, 422],
      ["add-time", { duration: "" }, 422],
      ["labels", { "label-x": "on" }, 404],
      ["labels", { "label-99999999": "on" }, 422],
      ["add-dependency", { issue: "a/b" }, 422],
      ["add-dependency", { issue: String(issue.number) }, 422],
      ["add-dependency", { issue: "99999" }, 404],
      ["react", { add: "no-reaction" }, 403],
      ["no-action", {}, 404],
      ["toString", {}, 404],
    ] as const) {
      const answer = await send(owner, at, action, fields);
      expect(answer.status, `${action} ${JSON.stringify(fields)}`).toBe(status);
    }
    expect(await issueAt(issue.number)).toEqual(before);
  });

  it("are not for readers, or for writers what only administrators do", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const before = await issueAt(issue.number);
    const forWriters = ["labels", "lock", "pin", "delete", "unlock", "unpin"];
    for (const action of forWriters) {
      expect((await send(reader, at, action)).status, action).toBeGreaterThanOrEqual(403);
    }
    // As by the API, these properties of others' issues are left as they are.
    expect((await send(reader, at, "milestone", { id: "0" })).status).toBe(403);
    for (const action of ["lock", "pin", "delete"]) {
      expect((await send(writer, at, action)).status, action).toBe(403);
    }
    expect(await issueAt(issue.number)).toEqual(before);
    const page = await read(at, reader);
    expect(page).not.toMatch(/value="(?:labels|milestone|lock|pin|delete)"/);
  });

  it("say what it waits for, and what waits for it", async () => {
    const issue = await makeIssue(repo);
    const blocker = await makeIssue(repo, { title: "the blocker" });
    const at = `${path}/issues/${issue.number}`;
    const named = { issue: `${owner.name}/${repo.name}#${blocker.number}` };
    expect((await send(owner, at, "add-dependency", named)).status).toBe(303);
    expect(await read(at, owner)).toContain(`#${blocker.number} the blocker`);
    const waiting = await read(`${path}/issues/${blocker.number}`, owner);
    expect(waiting).toMatch(new RegExp(`Blocks[^]*#${issue.number} `));
    const closed = await send(owner, at, "comment", { body: "", state: "close" });
    expect(closed.status).toBe(412);
    await send(owner, at, "remove-dependency", named);
    expect((await send(owner, at, "comment", { body: "", state: "close" })).status).toBe(303);
  });

  it("are locked, pinned and deleted by administrators", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    await send(owner, at, "lock", { reason: "Too <heated>" });
    await send(owner, at, "pin");
    expect(await issueAt(issue.number)).toMatchObject({ is_locked: true, pin_order: 1 });
    const page = await read(at, reader);
    expect(page).toContain("locked the conversation: Too &lt;heated&gt;");
    expect(page).not.toContain("<textarea");
    await send(owner, at, "unlock");
    await send(owner, at, "unpin");
    expect(await issueAt(issue.number)).toMatchObject({ is_locked: false, pin_order: 0 });
    const { headers } = await send(owner, at, "delete");
    expect(headers.get("location")).toBe(`${path}/issues`);
    expect((await visit("GET", at, PEOPLE)).status).toBe(404);
  });

  it("book time, by hand and by a stopwatch", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    await send(writer, at, "add-time", { duration: "1h30m" });
    expect(await read(at, writer)).toContain("1 hour 30 minutes spent");
    // What the form of an estimate shows, it takes.
    for (const seconds of [5430, 59, 31_536_000]) {
      const json = { time_estimate: seconds };
      await call("PATCH", `/repos${at}`, { as: owner, json });
      const page = await read(at, writer);
      const [, shown = ""] = /id="estimate"[^>]* value="([^"]*)"/.exec(page) ?? [];
      expect((await send(writer, at, "estimate", { duration: shown })).status, shown).toBe(303);
      expect((await issueAt(issue.number)).time_estimate).toBe(seconds);
    }
    await send(writer, at, "start-stopwatch");
    expect(await read(at, writer)).toContain("Stop and book");
    await send(writer, at, "cancel-stopwatch");
    expect(await read(at, writer)).toContain("Start the stopwatch");
    // Readers see their own time.
    expect(await read(at, reader)).toContain("None spent");
  });

  it("subscribe and unsubscribe their reader", async () => {
    const issue = await makeIssue(repo);
    const at = `${path}/issues/${issue.number}`;
    const check = async () =>
      (await call("GET", `/repos${at}/subscriptions/check`, { as: reader })).body.subscribed;
    await send(reader, at, "subscribe");
    expect(await check()).toBe(true);
    expect(await read(at, reader)).toContain("Unsubscribe");
    await send(reader, at, "unsubscribe");
    expect(await check()).toBe(false);
  });
});

describe("reactions", () => {
  it("are added and taken back by a click", async () => {
    const issue = await makeIssue(repo);
    const comment = await makeComment(issue);
    const at = `${path}/issues/${issue.number}`;
    await send(reader, at, "react", { add: "heart" });
    await send(owner, at, "react", { add: "heart" });
    await send(reader, at, "react", { add: "+1", comment: String(comment.id) });
    const page = await read(at, reader);
    expect(page).toMatch(/name="remove" value="heart"[^>]*aria-pressed="true"[^]*? 2<\/button>/);
    expect(page).toMatch(/name="remove" value="\+1"/);
    expect(await read(at, writer)).toMatch(/name="add" value="\+1"[^>]*aria-pressed="false"/);
    await send(reader, at, "react", { remove: "heart" });
    const { body } = await call("GET", `/repos${at}/reactions`, { as: owner });
    expect(body.map((each: { user: { login: string } }) => each.user.login)).toEqual([owner.name]);
  });
});

describe("the page of a pull request", () => {
  it("shows its branches, its state and its reviews", async () => {
    const pull = await makePull(repo, { headBranch: "shown", baseBranch: "main" });
    await makeReview(pull, { state: "approved", body: "Well <done>" });
    const page = await read(`${path}/pulls/${pull.number}`);
    expect(page).toMatch(/wants to merge <code>shown<\/code> into <code>main<\/code>/);
    expect(page).toContain("approved these changes");
  });
});
