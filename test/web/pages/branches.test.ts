import { describe, expect, it } from "vitest";

import { collectObjects } from "../../../src/domain/code/git/collect-objects.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { makeRule } from "../../support/protections.ts";
import { makePull } from "../../support/pulls.ts";
import { makeEmptyPack, pushCommands, refsOf, storePush, storeRefs } from "../../support/push.ts";
import { systemCtx } from "../../support/system.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

/** The number of times that a text has another one. */
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("the archives of a branch", () => {
  it("are served where the pages link to them", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    const oid = history.commit({ files: { a: "1" } });
    const name = `a"<b>&#`;
    const refs = ["main", name].map((each) => ({ ref: `refs/heads/${each}`, oid }));
    await storeRefs(repo, refs, history.build());
    const path = pathOf(repo);
    const links = [path, `${path}/branches`].map(async (page) =>
      Array.from(
        (await read(page)).matchAll(/href="([^"]*\/archive\/[^"]*)"/g),
        ([, link = ""]) => link,
      ),
    );
    const found = [...new Set((await Promise.all(links)).flat())];
    expect(found.toSorted()).toEqual(
      [
        ...["bundle", "tar.gz", "zip"].map((format) => `${path}/archive/main.${format}`),
        ...["tar.gz", "zip"].map((format) => `${path}/archive/a%22%3Cb%3E%26%23.${format}`),
      ].toSorted(),
    );
    for (const link of found) {
      const { status } = await visit("GET", link);
      expect(status, link).toBe(200);
    }
  });
});

describe("the pull request of a branch", () => {
  it("is the open one, else the latest, for those who may read it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const names = ["main", "topic", "done", "none"];
    const refs = names.map((name) => ({ ref: `refs/heads/${name}`, oid }));
    await storeRefs(repo, refs, history.build());
    const open = await makePull(repo, { headBranch: "topic" });
    await makePull(repo, { headBranch: "topic", isClosed: true }, { isClosed: true });
    await makePull(repo, { headBranch: "done", isClosed: true }, { isClosed: true });
    const merged = { headBranch: "done", isClosed: true, mergedAt: 1 };
    const latest = await makePull(repo, merged, { isClosed: true });
    const path = `${pathOf(repo)}/branches`;
    const page = await read(path);
    expect(page).toMatch(new RegExp(`>topic</a>[^]*label open[^]*#${open.number} Open</a>`));
    expect(page).toMatch(new RegExp(`>done</a>[^]*label merged[^]*#${latest.number} Merged</a>`));
    expect(count(page, "/pulls/")).toBe(2);
    const off = await call("PATCH", `/repos${pathOf(repo)}`, {
      as: owner,
      json: { has_pull_requests: false },
    });
    expect(off.status).toBe(200);
    expect(await read(path)).not.toContain("/pulls/");
  });

  it("may be one of the repository that it was forked from", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const parent = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    await storePush(parent, "refs/heads/main", oid, history.build());
    const forked = await call("POST", `/repos${pathOf(parent)}/forks`, { as: forker, json: {} });
    expect(forked.status).toBe(202);
    const { number } = await makePull(parent, {
      headRepoId: Number(forked.body.id),
      headBranch: "main",
    });
    const path = `/${forker.name}/${parent.name}/branches`;
    expect(await read(path)).toContain(`href="${pathOf(parent)}/pulls/${number}"`);
    await call("PATCH", `/repos${pathOf(parent)}`, { as: owner, json: { private: true } });
    const answer = await visit("GET", path, { ...PEOPLE, as: forker });
    expect(String(answer.body)).not.toContain("/pulls/");
  });
});

describe("a deleted branch", () => {
  async function makeDeleted() {
    const owner = await make.userWithPassword();
    const repo = await make.repo(owner);
    const history = new History();
    const main = history.commit({ message: "main\n" });
    const oid = history.commit({ message: "only <here>\n", parents: [main] });
    const refs = { "refs/heads/main": main, "refs/heads/a/b": oid };
    await storeRefs(
      repo,
      Object.entries(refs).map(([ref, to]) => ({ ref, oid: to })),
      history.build(),
    );
    await pushCommands(owner, repo, [{ ref: "refs/heads/a/b", old: oid, new: "0".repeat(40) }]);
    const path = `${pathOf(repo)}/branches`;
    const browser = await Browser.signedIn(owner);
    const restore = (by: Browser, name = "a/b") =>
      by.submit(`${path}/deleted`, { name }, `${path}/restore`);
    const branches = async () =>
      (await refsOf(repo)).map(({ name, oid: to }) => [name.slice("refs/heads/".length), to]);
    return { owner, repo, path, main, oid, browser, restore, branches };
  }

  it("is listed with its commit for writers, who restore it", async () => {
    const { path, main, oid, browser, restore, branches } = await makeDeleted();
    expect(String((await browser.get(path)).body)).toContain(`href="${path}/deleted"`);
    const page = String((await browser.get(`${path}/deleted`)).body);
    expect(page).toContain("1 deleted branch<");
    expect(page).toMatch(/a\/b<div[^]*only &lt;here&gt;/);
    expect(page).toContain(oid.slice(0, 10));
    expect((await restore(browser)).status).toBe(303);
    expect(await branches()).toEqual([
      ["a/b", oid],
      ["main", main],
    ]);
    expect(String((await browser.get(`${path}/deleted`)).body)).toContain("0 deleted branches");
  });

  it("is not for readers", async () => {
    const { path, branches, main } = await makeDeleted();
    const reader = await Browser.signedIn(await make.userWithPassword());
    expect((await reader.get(`${path}/deleted`)).status).toBe(404);
    const body = String((await reader.get(path)).body);
    expect(body).not.toContain("/deleted");
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(body) ?? [];
    const { status } = await reader.post(`${path}/restore`, { _csrf: token, name: "a/b" });
    expect(status).toBe(404);
    expect(await branches()).toEqual([["main", main]]);
  });

  it("is restored by its own name alone, and only if that is free", async () => {
    const { path, owner, repo, main, browser, restore, branches } = await makeDeleted();
    expect((await restore(browser, "none")).status).toBe(404);
    const created = [{ ref: "refs/heads/a", new: main }];
    await pushCommands(owner, repo, created, { pack: makeEmptyPack() });
    const clash = await browser.submit(`${path}/deleted`, { name: "a/b" }, `${path}/restore`);
    expect(clash.status).toBe(409);
    expect(String(clash.body)).toContain("The branch with the same name already exists.");
    expect(await branches()).toEqual([
      ["a", main],
      ["main", main],
    ]);
  });

  it("stays deleted where a rule keeps the writer from creating it", async () => {
    const { repo, browser, restore, branches, main } = await makeDeleted();
    await makeRule(repo, { name: "a/*" });
    const refused = await restore(browser);
    expect(refused.status).toBe(403);
    expect(await branches()).toEqual([["main", main]]);
  });

  it("is no renamed one", async () => {
    const { path, owner, repo, browser, restore } = await makeDeleted();
    await restore(browser);
    const renamed = await call("PATCH", `/repos${pathOf(repo)}/branches/a%2Fb`, {
      as: owner,
      json: { name: "c" },
    });
    expect(renamed.status).toBe(204);
    expect(String((await browser.get(`${path}/deleted`)).body)).toContain("0 deleted branches");
  });

  it("says so where its commits have been removed", async () => {
    const { repo, path, oid, browser, branches, main } = await makeDeleted();
    const form = await browser.get(`${path}/deleted`);
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(String(form.body)) ?? [];
    const { objectName, networkName } = repo;
    const place = { objectName, networkName };
    await collectObjects(systemCtx({}, Date.now()), { kind: "collect", ...place, askedGraceMs: 0 });
    const page = String((await browser.get(`${path}/deleted`)).body);
    expect(page).toContain(oid.slice(0, 10));
    expect(page).toContain("Its commits have been removed");
    expect(page).not.toContain("/branches/restore");
    const refused = await browser.post(`${path}/restore`, { _csrf: token, name: "a/b" });
    expect(refused.status).toBe(409);
    expect(String(refused.body)).toContain("The commits of a/b have been removed.");
    expect(await branches()).toEqual([["main", main]]);
  });
});
