import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, type IssueSettings } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const ROOT = "https://forge.example";

interface Asker {
  as?: TestUser;
  token?: string;
}

const ask = (repo: TestRepo, Text: string, asker: Asker, Mode = "comment") =>
  call("POST", "/markdown", {
    ...(asker.as && { as: asker.as }),
    ...(asker.token !== undefined && { token: asker.token }),
    json: { Text, Mode, Context: `${repo.owner}/${repo.name}` },
  });

/** Renders as a comment in the repository. */
const render = async (repo: TestRepo, text: string, asker: Asker): Promise<string> => {
  const { status, body } = await ask(repo, text, asker);
  expect(status).toBe(200);
  return body as string;
};

const urlOf = ({ owner, name }: TestRepo) => `${ROOT}/${owner}/${name}`;

async function makeScene(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, stranger] = [await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  await makeIssue(repo, { title: "a secret title" });
  await makeIssue(repo, { isPull: true });
  return { owner, stranger, repo };
}

describe("issues in rendered text", () => {
  it("become links to issues and pull requests, also with a name and in repository files", async () => {
    const { owner, repo } = await makeScene();
    const other = await make.repo(owner);
    const html = await render(repo, "#1 !1 #2 !2 #3 #0", { as: owner });
    const link = (path: string, text: string) =>
      `<a href="${urlOf(repo)}/${path}" class="ref-issue" rel="nofollow">${text}</a>`;
    expect(html).toBe(
      `<p>${link("issues/1", "#1")} ${link("issues/1", "!1")} ${link("pulls/2", "#2")} ` +
        `${link("pulls/2", "!2")} #3 #0</p>\n`,
    );
    const name = `${owner.name}/${repo.name}`;
    const named = `${name.toUpperCase()}#1`;
    expect(await render(other, `${name}#1 ${named} #1`, { as: owner })).toMatch(
      new RegExp(`/issues/1" class="ref-issue" rel="nofollow">${name}#1</a> <a .*</a> #1</p>`),
    );
    for (const mode of ["gfm", "wiki"]) {
      expect((await ask(repo, "#1", { as: owner }, mode)).body).toContain(link("issues/1", "#1"));
    }
    expect((await ask(repo, "#1", { as: owner }, "markdown")).body).toBe("<p>#1</p>\n");
  });

  // SECURITY: a link would show that the issue exists; a title never appears.
  it("stay text where the reader may not see them", async () => {
    const { owner, stranger, repo } = await makeScene({ isPrivate: true });
    const open = await make.repo(stranger);
    const text = `${owner.name}/${repo.name}#1 ${owner.name}/${repo.name}#9`;
    expect(await render(open, text, { as: stranger })).toBe(`<p>${text}</p>\n`);
    expect(await render(repo, "#1 #2", { as: stranger })).toBe("<p>#1 #2</p>\n");
    const seen = await render(open, text, { as: owner });
    expect(seen).toContain("/issues/1");
    expect(seen).not.toContain("secret title");
    expect(seen).not.toContain("/issues/9");
  });

  it.each([
    ["issues", { hasIssues: false }, "#1", "#2"],
    ["pull requests", { hasPullRequests: false }, "#2", "#1"],
  ])("stay text while %s are off", async (_, fields, hidden, shown) => {
    const { stranger, repo } = await makeScene();
    await db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
    const html = await render(repo, `${hidden} ${shown}`, { as: stranger });
    expect(html).toMatch(new RegExp(`^<p>${hidden} <a [^>]*>${shown}</a></p>`));
  });

  it("stay text for a token that reaches less than its user", async () => {
    const { owner, repo } = await makeScene({ isPrivate: true });
    const open = await makeScene();
    const scoped = await make.token(owner, { scopes: "write:misc" });
    const publicOnly = await make.token(owner, { scopes: "public-only,all" });
    const enough = await make.token(owner, { scopes: "write:misc,read:issue" });
    for (const token of [scoped, publicOnly]) {
      expect(await render(repo, "#1", { token })).toBe("<p>#1</p>\n");
      expect(await render(open.repo, "#1", { token })).toContain("/issues/1");
    }
    expect(await render(repo, "#1", { token: enough })).toContain("/issues/1");
  });

  it("are looked up in one round, however many there are", async () => {
    const { owner, repo } = await makeScene();
    const text = Array.from({ length: 300 }, (_, at) => `#${at} o${at}/r#${at} @u${at}`).join(" ");
    const { answer, line } = await logged(() => ask(repo, text, { as: owner }));
    expect(answer.body).toContain("/issues/1");
    expect(line.d1Rounds).toBe(2);
    expect([line.objectCalls, line.r2Calls]).toEqual([0, 0]);
  });
});

describe("commits in rendered text", () => {
  async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
    const owner = await make.user();
    const repo = await make.repo(owner, fields);
    const history = new History();
    const oid = history.commit({ files: { file: repo.name } });
    await push(owner, repo, oid, history.build());
    return { owner, repo, oid };
  }

  it("become links by full and abbreviated ids, also of other repositories", async () => {
    const { owner, repo, oid } = await makePushed();
    const other = await makePushed();
    const link = `<a href="${urlOf(repo)}/commit/${oid}" class="commit" rel="nofollow"><code>${oid.slice(0, 10)}</code></a>`;
    const text = `${oid} ${oid.slice(0, 7)} ${"f".repeat(7)} ${other.oid}`;
    expect(await render(repo, text, { as: owner })).toBe(
      `<p>${link} ${link} fffffff ${other.oid}</p>\n`,
    );
    const named = `${repo.owner}/${repo.name}@${oid.slice(0, 8)}`;
    const html = await render(other.repo, named, { as: owner });
    expect(html).toContain(`href="${urlOf(repo)}/commit/${oid}"`);
  });

  it("stay text where the reader may not read the code", async () => {
    const { owner, repo, oid } = await makePushed({ isPrivate: true });
    const stranger = await make.user();
    const open = await makePushed();
    const named = `${repo.owner}/${repo.name}@${oid}`;
    expect(await render(open.repo, named, { as: stranger })).toBe(`<p>${named}</p>\n`);
    expect(await render(repo, oid, { as: stranger })).toBe(`<p>${oid}</p>\n`);
    const token = await make.token(owner, { scopes: "write:misc" });
    expect(await render(repo, oid, { token })).toBe(`<p>${oid}</p>\n`);
    expect(await render(open.repo, named, { as: owner })).toContain("/commit/");
    await db
      .update(repositories)
      .set({ hasCode: false, isPrivate: false })
      .where(eq(repositories.id, repo.id));
    expect(await render(repo, oid, { as: stranger })).toBe(`<p>${oid}</p>\n`);
  });

  // SECURITY: commits that were removed by force stay stored for a while.
  it("stay text if no ref reaches them", async () => {
    const { owner, repo, oid } = await makePushed();
    const history = new History();
    const next = history.commit({ files: { file: "other" } });
    const commands = [{ ref: "refs/heads/main", old: oid, new: next }];
    const { status } = await pushCommands(owner, repo, commands, { pack: history.build() });
    expect(status).toBe(200);
    const html = await render(repo, `${oid} ${next}`, { as: owner });
    expect(html).toContain(`<p>${oid} <a `);
  });

  it("are looked up in three other repositories at most", async () => {
    const pushed = await Promise.all(Array.from({ length: 6 }, () => makePushed()));
    const [home, ...others] = pushed as [(typeof pushed)[0], ...typeof pushed];
    const text = others
      .map(({ repo, oid }) => `${repo.owner}/${repo.name}@${oid}`)
      .concat(home.oid)
      .join(" ");
    const { answer, line } = await logged(() => ask(home.repo, text, { as: home.owner }));
    expect((answer.body as string).split('class="commit"')).toHaveLength(1 + 4);
    expect(line.d1Rounds).toBe(2);
    expect(line.objectCalls).toBe(4);
  });

  it("cost nothing in a text without possible ids", async () => {
    const { owner, repo } = await makePushed();
    const { line } = await logged(() => ask(repo, "plain text", { as: owner }));
    expect([line.d1Rounds, line.objectCalls]).toEqual([2, 0]);
  });
});

describe("an external tracker", () => {
  const settings = (style: string, regexpPattern = ""): IssueSettings => ({
    enableTimeTracker: true,
    allowOnlyContributorsToTrackTime: true,
    enableIssueDependencies: true,
    external: {
      url: "https://tracker.example",
      format: "https://tracker.example/{user}/{repo}/{index}",
      style,
      regexpPattern,
    },
  });

  it.each([
    ["numeric", "", "#1", "1"],
    ["", "", "#1", "1"],
    ["alphanumeric", "", "ABC-12", "ABC-12"],
    ["regexp", "bug (\\w+)", "bug x1", "x1"],
  ])("of style %j is linked: %j %s", async (style, pattern, text, index) => {
    const { owner, stranger, repo } = await makeScene({ issueSettings: settings(style, pattern) });
    const href = `https://tracker.example/${owner.name}/${repo.name}/${index}`;
    for (const as of [owner, stranger]) {
      const { answer, line } = await logged(() => ask(repo, text, { as }));
      expect(answer.body).toBe(
        `<p><a href="${href}" class="ref-issue ref-external-issue" rel="nofollow">${text}</a></p>\n`,
      );
      expect(line.d1Rounds).toBeLessThanOrEqual(3);
    }
  });

  // SECURITY: the address of a private repository's tracker is part of the repository.
  it("is not linked for those who may not see the repository, or while it is off", async () => {
    const { stranger, repo } = await makeScene({
      isPrivate: true,
      issueSettings: settings("numeric"),
    });
    expect(await render(repo, "#7", { as: stranger })).toBe("<p>#7</p>\n");
    const off = await makeScene({ hasIssues: false, issueSettings: settings("numeric") });
    expect(await render(off.repo, "#7", { as: off.owner })).toBe("<p>#7</p>\n");
  });

  it("has no issues here, and the repository says where they are", async () => {
    const { stranger, repo } = await makeScene({ issueSettings: settings("numeric") });
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await call("GET", `${path}/issues/1`, { as: stranger })).status).toBe(404);
    const { body } = await call("GET", path, { as: stranger });
    expect(body).toMatchObject({
      has_issues: true,
      external_tracker: { external_tracker_url: "https://tracker.example" },
    });
    expect(body).not.toHaveProperty("internal_tracker");
  });
});
