import { describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { attachLabel, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

async function read(path: string, as?: Awaited<ReturnType<typeof make.user>>): Promise<string> {
  const { status, body } = await visit("GET", path, { ...PEOPLE, ...(as && { as }) });
  expect(status, path).toBe(200);
  return String(body);
}

/** The numbers of the issues that a page lists, in its order. */
const numbersOf = (page: string): number[] =>
  [...page.matchAll(/<a class="title" href="[^"]*\/(\d+)"/g)].map(([, number]) => Number(number));

async function makeList() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const [bug, other] = [await makeLabel({ repo }, { name: "bug" }), await makeLabel({ repo })];
  const milestone = await makeMilestone(repo, { title: "1.0" });
  const first = await makeIssue(repo, { title: "first crash", milestoneId: milestone.id });
  const second = await makeIssue(repo, { title: "second" });
  const closed = await makeIssue(repo, { title: "third", isClosed: true, closedAt: 1 });
  await attachLabel(first, bug);
  await attachLabel(second, other);
  return { owner, repo, bug, other, milestone, first, second, closed, path: pathOf(repo) };
}

describe("the list of issues", () => {
  it("shows the open ones, the closed ones or all, newest first or in another order", async () => {
    const { path, first, second, closed } = await makeList();
    const page = await read(`${path}/issues`);
    expect(numbersOf(page)).toEqual([second.number, first.number]);
    expect(page).toMatch(/aria-current="page">Open 2<[^]*>Closed 1</);
    expect(numbersOf(await read(`${path}/issues?state=closed`))).toEqual([closed.number]);
    expect(numbersOf(await read(`${path}/issues?state=all&sort=oldest`))).toEqual([
      first.number,
      second.number,
      closed.number,
    ]);
  });

  it("is narrowed by words and terms, labels, milestones and people", async () => {
    const { path, repo, owner, first, second, bug, milestone } = await makeList();
    const list = async (query: string) => numbersOf(await read(`${path}/issues?${query}`));
    expect(await list("q=crash")).toEqual([first.number]);
    expect(await list("q=-label%3Abug")).toEqual([second.number]);
    expect(await list("label=bug&milestone=1.0")).toEqual([first.number]);
    expect(await list(`label=bug&label=none`)).toEqual([]);
    expect(await list(`author=${owner.name}`)).toHaveLength(2);
    expect(await list(`poster=nobody-of-this-name`)).toEqual([]);
    expect(await list(`assignee=${owner.name}`)).toEqual([]);
    expect(await list("q=is%3Apr")).toEqual([]);
    const page = await read(`${path}/issues?label=bug`);
    expect(page).toContain('<option selected="">bug</option>');
    expect(page).toMatch(/aria-current="page">Open</);
    // As addresses of Gitea name them.
    const found = await visit(
      "GET",
      `${path}/issues?labels=${bug.id},0&milestone=${milestone.id}&state=all`,
      PEOPLE,
    );
    expect(found.status).toBe(303);
    const to = new URL(found.headers.get("location") ?? "", "https://forge.example");
    expect(Object.fromEntries(to.searchParams)).toEqual({
      label: "bug",
      milestone: "1.0",
      q: "no:label",
      state: "all",
    });
    const foreign = await makeLabel({ repo: await make.repo(owner) }, { name: "hidden" });
    const without = await visit("GET", `${path}/issues?labels=-${foreign.id}`, PEOPLE);
    expect(without.headers.get("location")).toBe("?");
    expect(repo.id).toBeGreaterThan(0);
  });

  it("has pages, which keep what narrows them", async () => {
    const { repo, path } = await makeList();
    for (let at = 0; at < 20; at++) await makeIssue(repo);
    const page = await read(`${path}/issues?q=author%3A${repo.owner}`);
    expect(numbersOf(page)).toHaveLength(20);
    expect(page).toContain(`rel="next" href="?q=author%3A${repo.owner}&amp;page=2"`);
    expect(numbersOf(await read(`${path}/issues?page=2`))).toHaveLength(2);
    expect(numbersOf(await read(`${path}/issues?page=9`))).toEqual([]);
  });

  it("escapes what people wrote", async () => {
    const { repo, path } = await makeList();
    const hostile = `"><script>alert(1)</script>`;
    const label = await makeLabel({ repo }, { name: hostile, description: hostile });
    await attachLabel(await makeIssue(repo, { title: hostile }), label);
    await makeMilestone(repo, { title: hostile });
    const page = await read(`${path}/issues?q=${encodeURIComponent(hostile)}&state=all`);
    expect(page).not.toContain("<script>alert");
    expect(await read(`${path}/issues`)).toContain("&lt;script&gt;alert(1)");
    expect(await read(`${path}/issues`)).not.toContain("<script>alert");
  });

  it("is not there where the unit is off, or for those who may not read it", async () => {
    const { owner, path } = await makeList();
    const hide = { as: owner, json: { has_issues: false } };
    await call("PATCH", `/repos${path}`, hide);
    for (const as of [owner, await make.user()]) {
      expect((await visit("GET", `${path}/issues`, { ...PEOPLE, as })).status).toBe(404);
    }
    expect(await read(path)).not.toContain(`href="${path}/issues"`);
  });

  it("leads to the tracker elsewhere", async () => {
    const { owner, path } = await makeList();
    const external_tracker = { external_tracker_url: "https://tracker.example/list" };
    await call("PATCH", `/repos${path}`, {
      as: owner,
      json: { has_issues: true, external_tracker },
    });
    const { status, headers } = await visit("GET", `${path}/issues`, PEOPLE);
    expect([status, headers.get("location")]).toEqual([303, "https://tracker.example/list"]);
    expect(await read(path)).toContain(`href="${path}/issues"`);
  });
});

describe("the list of pull requests", () => {
  it("shows their states", async () => {
    const { repo, path } = await makeList();
    const open = await makePull(repo, { headBranch: "a" });
    const draft = await makePull(repo, { headBranch: "b" }, { title: "WIP: later" });
    const closed = { isClosed: true, closedAt: 1 };
    const merged = await makePull(repo, { headBranch: "c", mergedAt: 1 }, closed);
    const refused = await makePull(repo, { headBranch: "d" }, closed);
    const page = await read(`${path}/pulls`);
    expect(numbersOf(page)).toEqual([draft.number, open.number]);
    expect(page).toMatch(/title="Draft"[^]*title="Open"/);
    const others = await read(`${path}/pulls?state=closed`);
    expect(numbersOf(others)).toEqual([refused.number, merged.number]);
    expect(others).toMatch(/title="Closed"[^]*title="Merged"/);
    expect(numbersOf(await read(`${path}/pulls?q=is%3Amerged`))).toEqual([merged.number]);
    expect(numbersOf(await read(`${path}/issues?state=all`))).not.toContain(open.number);
  });
});

describe("the lists of somebody's issues and pull requests", () => {
  it("show what has to do with them, in repositories that they see", async () => {
    const user = await make.userWithPassword();
    const other = await make.user();
    const [own, elsewhere] = [await make.repo(user), await make.repo(other)];
    const hidden = await make.repo(other, { isPrivate: true });
    const mine = await makeIssue(own, { title: "mine" });
    const opened = await makeIssue(elsewhere, { title: "opened", posterId: user.id });
    await makeIssue(hidden, { title: "hidden", posterId: user.id });
    await makeIssue(own, { title: "closed", isClosed: true, closedAt: 1 });
    const pull = await makePull(own, { headBranch: "a" });
    const browser = await Browser.signedIn(user);
    const list = async (path: string) => {
      const { status, body } = await browser.get(path);
      expect(status, path).toBe(200);
      return [...String(body).matchAll(/<a class="title" href="([^"]*)"/g)].map(([, to]) => to);
    };
    const linkTo = (repo: TestRepo, kind: string, { number }: { number: number }) =>
      `${pathOf(repo)}/${kind}/${number}`;
    expect(await list("/issues")).toEqual([linkTo(own, "issues", mine)]);
    expect(await list("/issues?type=created_by&q=opened")).toEqual([
      linkTo(elsewhere, "issues", opened),
    ]);
    expect(await list("/issues?type=created_by&state=all")).toHaveLength(3);
    expect(await list("/issues?type=assigned")).toEqual([]);
    expect(await list("/pulls")).toEqual([linkTo(own, "pulls", pull)]);
    expect(await list("/pulls?type=review_requested")).toEqual([]);
    const { status, headers } = await visit("GET", "/issues?type=assigned", PEOPLE);
    expect([status, headers.get("location")]).toEqual([
      303,
      "/user/login?redirect_to=%2Fissues%3Ftype%3Dassigned",
    ]);
  });
});
